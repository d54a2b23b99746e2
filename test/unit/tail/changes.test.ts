import { setTimeout as delay } from 'node:timers/promises'
import {
  AuditLogError,
  type AuditEvent,
  type EventStore,
  type JsonObject,
  parseQuery,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import fc from 'fast-check'
import jsonPatch, { type Operation } from 'fast-json-patch'
import { describe, expect, it, vi } from 'vitest'
import { suffixSource } from '../../../src/event/event-id.js'
import type { SessionOptions } from '../../../src/tail/session.js'
import { createSharedTail } from '../../../src/tail/shared-tail.js'
import { createTails, type EventTail, type TailOptions } from '../../../src/tail/tails.js'
import type { EventChange } from '../../../src/tail/changes.js'
import { plainDraft } from '../../support/plain-events.js'
import { turns } from '../fake-store.js'

const nextSuffix = suffixSource()

type Item = AuditEvent | EventChange

/** Writers and tails on one memory store with some replaced methods. */
function rig(
  replace: (store: EventStore) => Partial<EventStore> = () => ({}),
  options: SessionOptions = {},
) {
  const memory = memoryStore()
  const store: EventStore = { ...memory, ...replace(memory) }
  const reads = { get: vi.spyOn(store, 'get'), openEvents: vi.spyOn(store, 'openEvents') }
  const tails = createTails(createSharedTail(store, options), [])
  return {
    memory,
    /** Number of calls of a method of the store. */
    readsBy: (method: keyof typeof reads): number => reads[method].mock.calls.length,
    tail: (query = '', options: TailOptions = {}): EventTail<Item> =>
      tails.tail(() => ({ query: parseQuery(query), show: (events) => events }), {
        changes: true,
        ...options,
      }),
    async open(attributes: JsonObject = {}, type = 'live'): Promise<string> {
      const draft = plainDraft({ suffix: nextSuffix(), type, attributes, live: true })
      const [event] = await memory.append([draft])
      return event!.id
    },
    change: (id: string, revision: number, attributes: JsonObject): Promise<boolean> =>
      memory.changeLive(id, { revision, json: JSON.stringify(attributes) }),
    close: (id: string, revision: number, attributes?: JsonObject): Promise<unknown> =>
      memory.closeLive(id, { revision, json: attributes && JSON.stringify(attributes) }),
  }
}

async function next(tail: EventTail<Item>): Promise<Item> {
  const { value, done } = await tail.next()
  if (done) throw new Error('the tail ended')
  return value
}

const nextChange = async (tail: EventTail<Item>): Promise<EventChange> => {
  const item = await next(tail)
  if ('patch' in item) return item
  throw new Error(`the event ${item.type} came instead of a change`)
}

const nextEvent = async (tail: EventTail<Item>): Promise<AuditEvent> => {
  const item = await next(tail)
  if ('patch' in item) throw new Error(`a change came instead of an event`)
  return item
}

const applied = (attributes: JsonObject, patch: readonly Operation[]): JsonObject =>
  jsonPatch.applyPatch(structuredClone(attributes), patch, true).newDocument

describe('a tail with changes', () => {
  it('delivers a live event once, then its changes, and its end', async () => {
    const { tail, open, change, close } = rig()
    await using items = tail()
    const id = await open({ a: 1, log: '' })
    const event = (await next(items)) as AuditEvent
    expect(event).toMatchObject({ id, type: 'live', attributes: { a: 1, log: '' } })
    const { created_at } = event
    await change(id, 1, { a: 2, log: 'x' })
    expect(await next(items)).toEqual({
      id,
      created_at,
      patch: [
        { op: 'replace', path: '/log', value: 'x' },
        { op: 'replace', path: '/a', value: 2 },
      ],
      closed: false,
    })
    await close(id, 2, { a: 2 })
    const patch = [{ op: 'remove', path: '/log' }]
    expect(await next(items)).toEqual({ id, created_at, patch, closed: true })
    const other = await open({}, 'other')
    expect(await next(items)).toMatchObject({ id: other })
    await close(other, 1)
    expect(await nextChange(items)).toMatchObject({ id: other, patch: [], closed: true })
  })

  it('delivers all attributes of matching events that are open when it starts', async () => {
    const { tail, open, change, close, memory } = rig()
    const [id, other, closed] = [
      await open({ a: 1 }),
      await open({}, 'other'),
      await open({ a: 2 }),
    ]
    await close(closed, 1)
    await using items = tail('filter[type_eq]=live')
    const { created_at } = (await memory.get(id))!
    const patch = [{ op: 'replace', path: '', value: { a: 1 } }]
    expect(await next(items)).toEqual({ id, created_at, patch, closed: false })
    await change(other, 1, { a: 5 })
    await change(id, 1, { a: 3 })
    expect(await nextChange(items)).toMatchObject({ id, patch: [{ path: '/a', value: 3 }] })
  })

  it('delivers the end of events that the reader knows as open and that were closed before the start', async () => {
    const { tail, open, close, memory } = rig()
    const [known, other, unmatched] = [
      await open({ n: 1 }),
      await open({ n: 1 }),
      await open({ n: 2 }),
    ]
    await close(other, 1)
    await using items = tail('filter[n_eq]=1', { open: [known, unmatched, 'no id'] })
    await close(known, 1, { n: 1, end: true })
    await close(unmatched, 1)
    const { created_at } = (await memory.get(known))!
    const patch = [{ op: 'replace', path: '', value: { n: 1, end: true } }]
    expect(await next(items)).toEqual({ id: known, created_at, patch, closed: true })
    await open({ n: 1 }, 'next')
    expect(await next(items)).toMatchObject({ type: 'next' })
  })

  it('selects at its start the events that it follows', async () => {
    const { tail, open, change } = rig()
    const [never, always] = [await open({ n: 0 }), await open({ n: 1 })]
    await using items = tail('filter[n_eq]=1')
    expect(await nextChange(items)).toMatchObject({ id: always })
    await change(never, 1, { n: 1 })
    await change(always, 1, { n: 2 })
    expect(await nextChange(items)).toMatchObject({ id: always, patch: [{ value: 2 }] })
  })

  it('resumes after a time, with all attributes of the events that were open then', async () => {
    const { tail, open, change, memory } = rig()
    const [before, after] = [await open({ a: 1 }), await open({ b: 1 })]
    const { created_at } = (await memory.get(before))!
    await using items = tail('', { after: created_at })
    expect(await next(items)).toMatchObject({ id: after, attributes: { b: 1 } })
    expect(await nextChange(items)).toMatchObject({ id: before, patch: [{ path: '' }] })
    await change(after, 1, { b: 2 })
    expect(await nextChange(items)).toMatchObject({ id: after, patch: [{ path: '/b' }] })
  })

  it('delivers the end of an event that has been removed', async () => {
    const { tail, open, close, memory } = rig()
    await using items = tail()
    const id = await open({ a: 1 })
    await next(items)
    await close(id, 1, { a: 2 })
    await memory.remove([id])
    expect(await nextChange(items)).toMatchObject({ id, patch: [], closed: true })
  })

  it('delivers other events unchanged, and changes only if they are requested', async () => {
    const { tail, open, change, close, readsBy } = rig()
    await using items = tail('', { changes: false })
    const id = await open({ a: 1 })
    expect(await next(items)).toMatchObject({ id, attributes: { a: 1 } })
    await change(id, 1, { a: 2 })
    await close(id, 2)
    const other = await open({ b: 1 })
    expect(await next(items)).toMatchObject({ id: other })
    expect(readsBy('openEvents')).toBe(0)
  })

  it('delivers the changes beside a tail with the same filter that has read the event before', async () => {
    const { tail, open, change } = rig()
    await using plain = tail('', { changes: false })
    await using items = tail()
    const started = [nextEvent(plain), nextEvent(items)]
    await open()
    await Promise.all(started)
    const id = await open({ a: 1 })
    expect(await nextEvent(plain)).toMatchObject({ id })
    expect(await nextEvent(items)).toMatchObject({ id })
    await change(id, 1, { a: 2 })
    expect(await nextChange(items)).toMatchObject({ id, patch: [{ path: '/a', value: 2 }] })
  })

  it('misses no change that happens during a poll', async () => {
    let act = async (_method: string): Promise<void> => {}
    const { tail, open, change, close } = rig((memory) => ({
      async openEvents(options) {
        await act('before openEvents')
        const found = await memory.openEvents(options)
        await act('after openEvents')
        return found
      },
      async list(query, options) {
        const found = await memory.list(query, options)
        if (query.where) await act('after list')
        return found
      },
    }))
    for (const moment of ['before openEvents', 'after openEvents', 'after list'])
      for (const isClosed of [false, true]) {
        await using items = tail()
        const id = await open({ n: 0 })
        act = async (method) => {
          if (method !== moment) return
          act = async () => {}
          await change(id, 1, { n: 1 })
          if (isClosed) await close(id, 2, { n: 2 })
        }
        const event = (await next(items)) as AuditEvent
        if (!isClosed) {
          await turns()
          await close(id, 2, { n: 2 })
        }
        let { attributes } = event
        // An event that was closed before it was read has no change.
        if (moment !== 'before openEvents' || !isClosed)
          for (let isOpen = true; isOpen;) {
            const { patch, closed } = await nextChange(items)
            attributes = applied(attributes, patch)
            isOpen = !closed
          }
        expect([event.id, attributes]).toEqual([id, { n: 2 }])
      }
  })

  it('continues after a failure of the store', async () => {
    let failing = new Set<string>()
    const fail = async (method: string): Promise<void> => {
      if (failing.delete(method)) throw new AuditLogError('STORE_FAILED', 'the fake store failed')
    }
    const { tail, open, change } = rig((memory) => ({
      async get(id, options) {
        await fail('get')
        return memory.get(id, options)
      },
      async openEvents(options) {
        await fail('openEvents')
        return memory.openEvents(options)
      },
    }))
    const before = await open({ n: 0 })
    await using items = tail()
    failing = new Set(['openEvents', 'get'])
    expect(await nextChange(items)).toMatchObject({ id: before, patch: [{ path: '' }] })
    const id = await open({ n: 0 })
    expect(await next(items)).toMatchObject({ id })
    failing = new Set(['get'])
    await change(id, 1, { n: 1 })
    expect(await nextChange(items)).toMatchObject({ id, patch: [{ path: '/n', value: 1 }] })
    expect(failing.size).toBe(0)
  })

  it('loads a changed event once for all tails, and nothing without changes', async () => {
    const { tail, open, change, readsBy } = rig()
    const tails = [tail(), tail(), tail()]
    const [id, other] = [await open({ n: 0 }), await open({ text: 'long' })]
    for (const items of tails)
      expect([(await next(items)).id, (await next(items)).id]).toEqual([id, other])
    for (let n = 1; n <= 3; n++) {
      const changes = tails.map(nextChange)
      await turns()
      await change(id, n, { n })
      for (const { patch } of await Promise.all(changes))
        expect(patch).toEqual([{ op: 'replace', path: '/n', value: n }])
    }
    expect(readsBy('get')).toBe(3)
    await Promise.all(tails.map((items) => items.return()))
  })

  it('reads the open events once for all tails', async () => {
    const { tail, open, change, readsBy } = rig()
    const tails = Array.from({ length: 50 }, () => tail())
    const opened = tails.map(nextEvent)
    await turns()
    const id = await open({ n: 0 })
    expect(new Set((await Promise.all(opened)).map((event) => event.id))).toEqual(new Set([id]))
    const before = readsBy('openEvents')
    const changes = tails.map(nextChange)
    await turns()
    await change(id, 1, { n: 1 })
    await Promise.all(changes)
    expect(readsBy('openEvents') - before).toBeLessThan(10)
    await Promise.all(tails.map((items) => items.return()))
  })

  it('delivers patches that other libraries can apply, and copies that readers may modify', async () => {
    const { tail, open, change, close } = rig()
    await using items = tail()
    const id = await open({ list: [1] })
    const event = (await next(items)) as AuditEvent
    await change(id, 1, JSON.parse('{"list":[1,{"a":1}],"__proto__":{"b":1}}'))
    const whole = await nextChange(items)
    expect(whole.patch.map(({ path }) => path)).toEqual([''])
    const attributes = applied(event.attributes, whole.patch)
    expect(JSON.stringify(attributes)).toBe('{"list":[1,{"a":1}],"__proto__":{"b":1}}')
    Object.assign((whole.patch[0] as { value: JsonObject }).value, { list: 'changed' })
    await close(id, 2, { list: [1] })
    const last = await nextChange(items)
    expect(applied(attributes, last.patch)).toEqual({ list: [1] })
  })
})

describe('random changes', () => {
  const key = fc.constantFrom('a', 'b', 'c/d', '')
  const value = fc.oneof(
    fc.integer(),
    fc.constantFrom('x', null),
    fc.array(fc.nat(3), { maxLength: 3 }),
  )
  const state: fc.Arbitrary<JsonObject> = fc.dictionary(
    key,
    fc.oneof(value, fc.dictionary(key, value)),
    { maxKeys: 3 },
  )
  const turnsEach = fc.infiniteStream(fc.nat(4))

  it.each([
    ['from the ring', {}],
    ['from the store, by readers that the ring has left behind', { maxEvents: 1 }],
  ])('produce the closed event when applied, %s', async (_, options) => {
    let changes = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(state, { minLength: 3, maxLength: 8 }),
        turnsEach,
        async (states, pauses) => {
          const late = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
            const found = await answer
            await delay(pauses.next().value)
            return found
          }
          const replace = (memory: EventStore): Partial<EventStore> => ({
            list: (query, options) => late(memory.list(query, options)),
            get: (id, options) => late(memory.get(id, options)),
            openEvents: (options) => late(memory.openEvents(options)),
          })
          const { tail, open, change, close } = rig(replace, options)
          const write = async (): Promise<void> => {
            const id = await open(states[0])
            const last = states.length - 1
            for (const [n, next] of states.slice(1, last).entries()) {
              await delay(5 * pauses.next().value!)
              await open({}, 'other')
              await change(id, n + 1, next)
            }
            await close(id, last, states[last])
          }
          const follow = async (pauseMs: number): Promise<JsonObject> => {
            await using items = tail('filter[type_eq]=live', { after: '2000-01-01' })
            let { attributes } = await nextEvent(items)
            // An event that was closed before it was read has no change.
            while (JSON.stringify(attributes) !== JSON.stringify(states.at(-1))) {
              await delay(pauseMs)
              const { patch, closed } = await nextChange(items)
              attributes = applied(attributes, patch)
              changes++
              if (closed) break
            }
            return attributes
          }
          const followed = await Promise.all([follow(0), follow(3), follow(20), write()])
          for (const attributes of followed.slice(0, 3)) expect(attributes).toEqual(states.at(-1))
        },
      ),
      { numRuns: 15 },
    )
    expect(changes).toBeGreaterThan(0)
  })
})
