import { AuditLogError, type AuditEvent, type EventStore, type JsonObject } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { suffixSource } from '../../../src/event/event-id.js'
import { defaultJsonLimits, type JsonLimits, toJsonText } from '../../../src/event/json.js'
import { createLiveEvents, type LiveEvent, type LiveEvents } from '../../../src/live/live-events.js'
import type { LiveChange } from '../../../src/store/store.js'
import { fakeTimersOf, type FolderTimers } from '../../support/fake-timers.js'
import { plainDraft } from '../../support/plain-events.js'

const nextSuffix = suffixSource()

interface Rig {
  readonly lives: LiveEvents
  /** The written changes, including those of `close`. */
  readonly writes: LiveChange[]
  readonly touched: (readonly string[])[]
  open(attributes?: JsonObject): Promise<LiveEvent>
  read(live: LiveEvent): Promise<JsonObject>
}

function rig(
  given: EventStore = memoryStore(),
  { maxBytes = defaultJsonLimits.maxBytes, deadlineMs = 1000 } = {},
): Rig {
  const writes: LiveChange[] = []
  const touched: (readonly string[])[] = []
  const store: EventStore = {
    ...given,
    changeLive(id, change, options) {
      writes.push(change)
      return given.changeLive(id, change, options)
    },
    closeLive(id, change, options) {
      writes.push(change)
      return given.closeLive(id, change, options)
    },
    touchLive(ids, options) {
      touched.push(ids)
      return given.touchLive(ids, options)
    },
  }
  const limits: JsonLimits = { maxDepth: 64, maxBytes }
  const lives = createLiveEvents(store, limits, { deadlineMs })
  return {
    lives,
    writes,
    touched,
    async open(attributes = {}) {
      const draft = plainDraft({ ...toJsonText(attributes, limits), suffix: nextSuffix() })
      const [event] = await given.append([{ ...draft, live: true }])
      return lives.open(event)
    },
    async read(live) {
      return (await given.get(live.event!.id))!.attributes
    },
  }
}

const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms))

/** The outcome, after all timers that it needs. */
async function settled<Value>(promise: Promise<Value>): Promise<Value | string> {
  let isOver = false
  const outcome = promise
    .catch((error: unknown) => {
      if (error instanceof AuditLogError) return error.code
      throw error
    })
    .finally(() => (isOver = true))
  for (let i = 0; i < 400 && !isOver; i++) await pass(50)
  return isOver ? outcome : 'waiting'
}

const flushed = async (live: LiveEvent): Promise<void> =>
  expect(await settled(live.flush())).toBeUndefined()

const finalOf = async (closing: Promise<AuditEvent | undefined>): Promise<JsonObject> =>
  ((await settled(closing)) as AuditEvent).attributes

const bytesOf = (attributes: JsonObject): number => Buffer.byteLength(JSON.stringify(attributes))

let timers: FolderTimers

beforeEach(() => {
  timers = fakeTimersOf('live')
})

afterEach(() => {
  const left = timers.pending()
  vi.unstubAllGlobals()
  vi.useRealTimers()
  expect(left).toEqual([])
})

describe('a live event', () => {
  it('replaces given keys, removes undefined ones, and keeps the others', async () => {
    const { open, read } = rig()
    const live = await open({ stage: 1, a: 'x', b: { c: 1 } })
    await live.update({ stage: 2, a: undefined, b: { d: 2 }, e: [1] })
    await flushed(live)
    expect(await read(live)).toEqual({ stage: 2, b: { d: 2 }, e: [1] })
    const closed = await live.close()
    expect(closed).toEqual({ ...live.event, attributes: { stage: 2, b: { d: 2 }, e: [1] } })
    expect(live.event!.attributes).toEqual({ stage: 1, a: 'x', b: { c: 1 } })
  })

  it('takes all attributes from a function, which gets a copy of them', async () => {
    const { open } = rig()
    const live = await open({ n: 1, list: ['a'], gone: true })
    await live.append('text', 'one ')
    await live.update((attributes) => {
      const { gone, list, ...others } = attributes
      ;(list as string[]).push('b')
      expect([gone, others]).toEqual([true, { n: 1, text: 'one ' }])
      return { ...others, n: 2 }
    })
    await live.append('text', 'two')
    expect(await finalOf(live.close())).toEqual({ n: 2, text: 'one two' })
  })

  it('appends to existing and new texts', async () => {
    const { open, read } = rig()
    const live = await open({ progress: '', log: 'start\n', n: 1 })
    await live.append('progress', 'a')
    await live.append('log', 'b\n')
    await live.append('new', 'c')
    await live.append('progress', 'd')
    await flushed(live)
    const whole = { progress: 'ad', log: 'start\nb\n', n: 1, new: 'c' }
    expect(await read(live)).toEqual(whole)
    await live.append('progress', 'e')
    expect(await finalOf(live.close())).toEqual({ ...whole, progress: 'ade' })
  })

  it('appends to a text after an update has replaced, removed or changed it', async () => {
    const { open } = rig()
    const live = await open({ a: '', b: '', c: '', d: '' })
    for (const key of ['a', 'b', 'c', 'd']) await live.append(key, 'old')
    await flushed(live)
    await live.update({ a: 'new', b: undefined, c: 5, d: undefined })
    await flushed(live)
    await live.update({ c: 'text', d: 'text' })
    for (const key of ['a', 'b', 'c', 'd']) await live.append(key, '+')
    expect(await finalOf(live.close())).toEqual({ a: 'new+', b: '+', c: 'text+', d: 'text+' })
  })

  it('rejects changes of a wrong type, and functions that throw, and stays unchanged', async () => {
    const { open } = rig()
    const live = await open({ n: 1 })
    const wrong = { name: 'AuditLogError', code: 'INVALID_DATA' }
    await expect(live.append('n', 'x')).rejects.toMatchObject({ ...wrong, pointer: '/n' })
    await expect(live.append('x', 1 as unknown as string)).rejects.toMatchObject(wrong)
    await expect(live.update([])).rejects.toMatchObject(wrong)
    await expect(live.update(null as unknown as object)).rejects.toMatchObject(wrong)
    await expect(live.update(() => null as unknown as object)).rejects.toMatchObject(wrong)
    await expect(live.update(async () => ({}))).rejects.toMatchObject(wrong)
    const cause = new Error('oh')
    const throws = (): object => {
      throw cause
    }
    await expect(live.update(throws)).rejects.toMatchObject({ ...wrong, cause })
    expect(await finalOf(live.close())).toEqual({ n: 1 })
  })

  it('makes data storable as record does, and lists the replaced values', async () => {
    const { open } = rig()
    const live = await open({ bad: Number.NaN as unknown as string })
    await live.update({ when: new Date(0), type: 'x', big: Infinity })
    await live.append('id', 'a\0b')
    await live.update({ bad: null })
    expect(await finalOf(live.close())).toEqual({
      bad: null,
      when: '1970-01-01T00:00:00.000Z',
      attributes_type: 'x',
      big: 'Infinity',
      attributes_id: 'a\uFFFDb',
      recording: {
        replaced: ['/bad', '/big', '/attributes_type', '/attributes_id'],
        cut_bytes: 0,
      },
    })
  })

  it('renames an attribute recording of the host once it needs the name', async () => {
    const { open } = rig()
    const live = await open({ recording: 'tape 7' })
    await live.append('recording', 'x')
    expect(await finalOf(live.close())).toEqual({
      attributes_recording: 'x',
      attributes_attributes_recording: 'tape 7',
      recording: { replaced: ['/attributes_recording'], cut_bytes: 0 },
    })
  })

  it('joins the halves of a character, and replaces a lone half', async () => {
    const { open, read } = rig()
    const live = await open({ joined: '', alone: '' })
    await live.append('joined', 'a\uD83D')
    await live.append('alone', 'b\uD83D')
    await flushed(live)
    expect(await read(live)).toEqual({ joined: 'a', alone: 'b' })
    await live.append('joined', '\uDE00c')
    expect(await finalOf(live.close())).toEqual({
      joined: 'a😀c',
      alone: 'b\uFFFD',
      recording: { replaced: ['/alone'], cut_bytes: 0 },
    })
  })

  it('that was not opened ignores all calls', async () => {
    const { lives, writes } = rig()
    const live = lives.open(undefined)
    await live.update({ a: 1 })
    await live.append('a', 'b')
    await flushed(live)
    expect(await live.close()).toBeUndefined()
    await live[Symbol.asyncDispose]()
    expect([live.event, writes, timers.pending()]).toEqual([undefined, [], []])
  })
})

describe('writing', () => {
  it('starts at once after a pause, and continues at most ten times a second', async () => {
    const { open, writes, read } = rig()
    const live = await open({ progress: '' })
    await live.append('progress', '0 ')
    await pass(0)
    expect(await read(live)).toEqual({ progress: '0 ' })
    for (let i = 1; i <= 1000; i++) {
      await live.append('progress', `${i} `)
      await pass(1)
    }
    expect(writes.length).toBe(11)
    await pass(200)
    const whole = Array.from({ length: 1001 }, (_, i) => `${i} `).join('')
    expect(await read(live)).toEqual({ progress: whole })
    expect(writes.map(({ revision }) => revision)).toEqual(writes.map((_, i) => i + 1))
    await live.close()
  })

  it('merges the changes of one turn', async () => {
    const { open, writes } = rig()
    const live = await open({ log: '' })
    await Promise.all([live.update({ a: 1 }), live.append('log', 'x'), live.append('log', 'y')])
    await live.close()
    expect(writes).toEqual([
      {
        revision: 1,
        json: '{"log":"","a":1}',
        texts: [{ key: 'log', text: 'xy', replaces: false }],
      },
      { revision: 2, json: undefined, texts: [] },
    ])
  })

  it('writes a long text once, even if other attributes change', async () => {
    const { open, writes } = rig()
    const live = await open({ log: '' })
    const line = `${'x'.repeat(99)}\n`
    for (let i = 0; i < 5000; i++) {
      await live.append('log', line)
      if (i % 10 === 0) await live.update({ stage: i })
      if (i % 20 === 0) await live.update((attributes) => ({ ...attributes, even: i }))
      if (i % 50 === 0) await pass(30)
    }
    expect(await finalOf(live.close())).toMatchObject({ log: line.repeat(5000), stage: 4990 })
    const written = writes
      .flatMap(({ texts }) => texts ?? [])
      .reduce((n, { text }) => n + text.length, 0)
    expect(written).toBe(500_000)
    expect(writes.length).toBeGreaterThan(20)
    expect(Math.max(...writes.map(({ json }) => json?.length ?? 0))).toBeLessThan(100)
  })

  it('delays only calls with more than 64 KiB of unwritten changes', async () => {
    const { open } = rig()
    const live = await open({ log: '' })
    await live.append('log', 'first')
    await pass(1)
    await live.append('log', 'x'.repeat(65_536))
    let isOver = false
    const ahead = live.append('log', 'y').then(() => (isOver = true))
    await pass(90)
    expect(isOver).toBe(false)
    await pass(10)
    expect(isOver).toBe(true)
    await ahead
    await live.close()
  })

  it('is not awaited by calls that are aborted', async () => {
    const store = faultyStore(memoryStore())
    const { open, read } = rig(store)
    const live = await open({})
    const aborted = { code: 'ABORTED' }
    await expect(live.update({ a: 1 }, { signal: AbortSignal.abort() })).rejects.toMatchObject(
      aborted,
    )
    store.hang('changeLive')
    await live.update({ b: 1 })
    const controller = new AbortController()
    const flushing = live.flush({ signal: controller.signal })
    controller.abort()
    await expect(flushing).rejects.toMatchObject(aborted)
    store.heal()
    await flushed(live)
    expect(await read(live)).toEqual({ b: 1 })
    await live.close()
  })
})

describe('the limit', () => {
  it('keeps the newest part of an appended text, and lists the cut', async () => {
    const { open, writes } = rig(memoryStore(), { maxBytes: 10_000 })
    const live = await open({ name: 'n', log: '' })
    const lines = Array.from({ length: 3000 }, (_, i) => `line ${i} 😀\n`)
    for (const line of lines) {
      await live.append('log', line)
      await pass(10)
    }
    const attributes = await finalOf(live.close())
    const { log, recording } = attributes as { log: string; recording: JsonObject }
    const whole = lines.join('')
    expect(whole.endsWith(log)).toBe(true)
    expect(log.isWellFormed()).toBe(true)
    expect(bytesOf(attributes)).toBeLessThanOrEqual(10_000)
    expect(bytesOf(attributes)).toBeGreaterThan(4000)
    expect(attributes['name']).toBe('n')
    const cut = bytesOf({ whole }) - bytesOf({ whole: log })
    expect(recording).toEqual({ replaced: ['/log'], cut_bytes: cut })
    const rewritten = writes.flatMap(({ texts }) => texts ?? []).filter(({ replaces }) => replaces)
    expect(rewritten.length).toBeLessThan(40)
  })

  it('also cuts the beginning if a function returns all attributes', async () => {
    const { open } = rig(memoryStore(), { maxBytes: 10_000 })
    const live = await open({ log: '' })
    await live.append('log', `${'a'.repeat(8000)}end`)
    await live.update((attributes) => ({ ...attributes, other: 'o'.repeat(4000) }))
    const { log, other } = await finalOf(live.close())
    expect(log).toMatch(/^a{1000,}end$/)
    expect(other).toBe('o'.repeat(4000))
  })

  it('cuts the longest text first, and other attributes only if this is not enough', async () => {
    const { open } = rig(memoryStore(), { maxBytes: 10_000 })
    const live = await open({ long: '', short: '' })
    await live.append('short', 's'.repeat(1000))
    await live.append('long', 'l'.repeat(9500))
    await flushed(live)
    await live.update({ other: 'o'.repeat(5000) })
    const attributes = await finalOf(live.close())
    expect(attributes).toMatchObject({ short: 's'.repeat(1000), other: 'o'.repeat(5000) })
    expect((attributes['long'] as string).length).toBeGreaterThan(500)
    expect(bytesOf(attributes)).toBeLessThanOrEqual(10_000)
    const huge = await open({ log: '' })
    await huge.append('log', 'x'.repeat(4000))
    await huge.update({ a: 'y'.repeat(5000), b: 'z'.repeat(4900), n: 1 })
    const cut = await finalOf(huge.close())
    expect(bytesOf(cut)).toBeLessThanOrEqual(10_000)
    expect(cut['n']).toBe(1)
    for (const key of ['a', 'b', 'log']) expect((cut[key] as string).length).toBeGreaterThan(1000)
    expect((cut['recording'] as JsonObject)['replaced']).toEqual(['/a', '/b'])
  })
})

describe('a store that fails', () => {
  it('gets the failed change again, then all later changes in one write', async () => {
    const store = faultyStore(memoryStore())
    const { open, writes } = rig(store, { deadlineMs: 5000 })
    const live = await open({ log: '' })
    store.fail('changeLive', 2)
    store.loseAcknowledgement('changeLive', 2)
    await live.append('log', 'a')
    for (const text of ['b', 'c', 'd']) {
      await pass(20)
      await live.append('log', text)
    }
    await flushed(live)
    const first = {
      revision: 1,
      json: undefined,
      texts: [{ key: 'log', text: 'a', replaces: false }],
    }
    const second = { ...first, revision: 2, texts: [{ key: 'log', text: 'bcd', replaces: false }] }
    expect(writes).toEqual([first, first, first, first, first, second])
    store.loseAcknowledgement('closeLive', 1)
    expect(await finalOf(live.close())).toEqual({ log: 'abcd' })
  })

  it('does not block calls forever, and loses nothing once it is back', async () => {
    const store = faultyStore(memoryStore())
    const { open } = rig(store, { maxBytes: 300_000 })
    const live = await open({ log: '' })
    store.hang('changeLive')
    for (let i = 0; i < 10; i++)
      expect(await settled(live.append('log', `${i}`.repeat(50_000)))).toBeUndefined()
    expect(await settled(live.flush())).toBe('DEADLINE_EXCEEDED')
    store.heal()
    const log = (await finalOf(live.close()))['log'] as string
    const whole = Array.from({ length: 10 }, (_, i) => `${i}`.repeat(50_000)).join('')
    expect([whole.endsWith(log), log.length > 150_000]).toEqual([true, true])
  })

  it('does not block close forever', async () => {
    const store = faultyStore(memoryStore())
    const { open, read, touched } = rig(store)
    const live = await open({ log: '' })
    await live.append('log', 'a')
    await flushed(live)
    store.fail('closeLive')
    await live.append('log', 'b')
    expect(await settled(live.close())).toBe('DEADLINE_EXCEEDED')
    expect(await settled(live.close())).toBe('DEADLINE_EXCEEDED')
    await expect(live.append('log', 'c')).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(await read(live)).toEqual({ log: 'a' })
    await live[Symbol.asyncDispose]()
    await pass(10_000)
    expect(touched).toEqual([])
  })

  it('does not block close if it never answers', async () => {
    const memory = memoryStore()
    const { open } = rig({ ...memory, changeLive: () => new Promise(() => {}) })
    const live = await open({})
    await live.update({ a: 1 })
    await pass(0)
    expect(await settled(live.close())).toBe('DEADLINE_EXCEEDED')
  })
})

describe('the end of a live event', () => {
  it('is final, and close may be called again', async () => {
    const { open, writes } = rig()
    const live = await open({ a: 1 })
    const closing = live.close()
    await expect(live.update({ a: 2 })).rejects.toMatchObject({ code: 'LIVE_CLOSED' })
    const closed = await closing
    expect(await live.close()).toBe(closed)
    await live.flush()
    await live[Symbol.asyncDispose]()
    await expect(live.append('b', '')).rejects.toMatchObject({ code: 'LIVE_CLOSED' })
    expect(writes).toEqual([{ revision: 1, json: undefined, texts: [] }])
    expect(closed!.attributes).toEqual({ a: 1 })
  })

  it('settles pending calls of flush', async () => {
    const { open } = rig()
    const live = await open({})
    await live.update({ a: 1 })
    await pass(0)
    await live.update({ a: 2 })
    const flushing = live.flush()
    await live.close()
    await flushing
  })

  it('without close marks the event as unfinished', async () => {
    const { open, read, lives } = rig()
    const disposed: LiveEvent[] = []
    {
      await using live = await open({ a: 1 })
      await live.append('log', 'x')
      disposed.push(live)
    }
    expect(await read(disposed[0]!)).toEqual({ a: 1, log: 'x', unfinished: true })
    const [left, closed] = [await open({ b: 1 }), await open({ c: 1 })]
    const closing = closed.close()
    await lives.close()
    expect(await read(left)).toEqual({ b: 1, unfinished: true })
    expect((await closing)!.attributes).toEqual({ c: 1 })
    await expect(left.update({})).rejects.toMatchObject({ code: 'LIVE_CLOSED' })
  })

  it('by another process rejects further calls with LIVE_CLOSED', async () => {
    const memory = memoryStore()
    const { open } = rig(memory)
    const closeAsUnfinished = ({ event }: LiveEvent): Promise<unknown> =>
      memory.closeLive(event!.id, { revision: 1, json: '{"unfinished":true}' })
    const [changed, closed, left] = [await open({}), await open({}), await open({})]
    for (const live of [changed, closed, left]) await closeAsUnfinished(live)
    await changed.update({ a: 1 })
    const code = 'LIVE_CLOSED'
    await expect(changed.flush()).rejects.toMatchObject({ code })
    await expect(changed.update({ a: 2 })).rejects.toMatchObject({ code })
    await expect(changed.close()).rejects.toMatchObject({ code })
    await expect(closed.close()).rejects.toMatchObject({ code })
    await left[Symbol.asyncDispose]()
  })
})

describe('heartbeats', () => {
  it('are sent for all open events, until they are closed', async () => {
    const { open, touched } = rig()
    const first = await open()
    await pass(4000)
    const second = await open()
    await pass(2000)
    await first.close()
    await pass(5000)
    await second.close()
    await pass(20_000)
    const [a, b] = [first.event!.id, second.event!.id]
    expect(touched).toEqual([[a, b], [b]])
  })

  it('continue while the store fails', async () => {
    const store = faultyStore(memoryStore())
    const { open, touched } = rig(store)
    const live = await open()
    store.fail('touchLive', 1)
    store.hang('touchLive', 1)
    await pass(15_000)
    expect(touched.length).toBe(3)
    await live.close()
  })
})

describe('random changes', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '"', '\n', 'é', '😀', '\uD83D', '\uDE00'),
    maxLength: 20,
  })
  const key = fc.constantFrom('a', 'b', 'c', '__proto__', '0')
  const wellFormed = text.map((given) => given.toWellFormed())
  const value = fc.oneof(wellFormed, fc.integer(), fc.constant(undefined))
  const change = fc.oneof(
    fc.record({ kind: fc.constant('append' as const), key, text }),
    fc.record({ kind: fc.constant('update' as const), key, value }),
    fc.record({ kind: fc.constant('compute' as const), key, value }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 150 }) }),
  )
  const opened = fc.record({ a: fc.constant(''), b: fc.constant('was') }, { requiredKeys: [] })
  it('produce the expected attributes', async () => {
    await fc.assert(
      fc.asyncProperty(opened, fc.array(change, { maxLength: 30 }), async (start, changes) => {
        const { open } = rig()
        const live = await open(start)
        const model = new Map<string, unknown>(Object.entries(start))
        for (const [i, step] of changes.entries()) {
          if (step.kind === 'pass') await pass(step.ms)
          else if (step.kind === 'append') {
            const before = model.get(step.key) ?? ''
            if (typeof before === 'string') model.set(step.key, before + step.text)
            const isRefused = (await settled(live.append(step.key, step.text))) === 'INVALID_DATA'
            expect(isRefused).toBe(typeof before !== 'string')
          } else {
            const given = typeof step.value === 'string' ? `${step.value}${i}` : step.value
            if (given === undefined) model.delete(step.key)
            else model.set(step.key, given)
            const keys = Object.fromEntries([[step.key, given]])
            await live.update(
              step.kind === 'update' ? keys : (attributes) => ({ ...attributes, ...keys }),
            )
          }
        }
        const { recording: _actual, ...attributes } = await finalOf(live.close())
        const { recording: _expected, ...expected } = toJsonText(
          Object.fromEntries(model),
        ).attributes
        expect(sorted(attributes)).toEqual(sorted(expected))
      }),
      { numRuns: 150 },
    )
  })

  it('stay within the limit, with the newest part of the text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, fc.integer({ min: 1, max: 60 })), { maxLength: 40 }),
        async (additions) => {
          const { open } = rig(memoryStore(), { maxBytes: 1024 })
          const live = await open({ n: 1, log: '' })
          const texts = additions.map(([piece, times]) => piece.toWellFormed().repeat(times))
          for (const piece of texts) {
            await live.append('log', piece)
            await pass(60)
          }
          const attributes = await finalOf(live.close())
          const whole = texts.join('')
          const log = attributes['log'] as string
          expect(bytesOf(attributes)).toBeLessThanOrEqual(1024)
          expect(whole.endsWith(log)).toBe(true)
          if (bytesOf({ n: 1, log: whole }) <= 900) expect(attributes).toEqual({ n: 1, log: whole })
          else if (log !== whole) {
            const cut_bytes = bytesOf({ whole }) - bytesOf({ whole: log })
            expect(attributes['recording']).toEqual({ replaced: ['/log'], cut_bytes })
          }
        },
      ),
      { numRuns: 150 },
    )
  })
})

function sorted(attributes: object): [string, unknown][] {
  return Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
