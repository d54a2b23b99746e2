import { randomUUID } from 'node:crypto'
import type { AuditEvent, AuditLog, EventStore } from 'daybook'
import { memorySubjectKeys } from 'daybook/memory'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PERSONAL } from '../../../src/event/personal.js'
import type { SubjectKeys } from '../../../src/privacy/subject-keys.js'
import { formerTypes, kept, openPersonal, REQUEST, UPDATE } from '../../support/erasing.js'
import { eachStore, type EventPlace } from '../../support/event-stores.js'

const ERASED = 'filter[type_eq]=info:audit_log:erase&limit=1000'
const C17 = { customer: 'c17' }
/** On a busy machine, the values of removed events take longer to be overwritten. */
const SOON = { timeout: 60_000 }

const collect = async (events: AsyncIterable<AuditEvent>): Promise<AuditEvent[]> => {
  const all: AuditEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

describe.each(eachStore)('erasing on %s', (_name, createPlace) => {
  let place: EventPlace
  let store: EventStore
  let keys: SubjectKeys
  const logs: AuditLog[] = []

  /** A log of another process on the same store. */
  const open = (options: Parameters<typeof openPersonal>[2] = {}, own = keys): AuditLog => {
    const audit = openPersonal(kept(store), kept(own), options)
    logs.push(audit)
    return audit
  }
  beforeEach(async () => {
    place = await createPlace()
    store = place.open()
    keys = memorySubjectKeys()
  })
  afterEach(async () => {
    for (const audit of logs.splice(0)) await audit.close()
    await store.close()
    await keys.close()
    await place.remove()
  })

  const record = async (audit: AuditLog, customer: string, count = 1): Promise<AuditEvent[]> => {
    const calls = Array.from({ length: count }, (_, n) =>
      audit.recordSystem(UPDATE, { customer_id: customer, email: `${customer}.${n}@example.com` }),
    )
    return (await Promise.all(calls)).map((event) => event!)
  }
  const reportOf = (audit: AuditLog, customer: string): Promise<AuditEvent[]> =>
    collect(audit.subjectReport({ customer }))
  const erasuresIn = async (audit: AuditLog): Promise<readonly AuditEvent[]> =>
    (await audit.list(ERASED)).events

  it('destroys the key of a person, and records it', async () => {
    const audit = open()
    const events = await record(audit, 'c17', 3)
    await record(audit, 'c18')
    const opened = await reportOf(audit, 'c17')
    expect(opened.map(({ attributes }) => attributes['email'])).toEqual(
      [0, 1, 2].map((n) => `c17.${n}@example.com`),
    )
    const { ref, erased_at, ...erased } = await audit.erase(C17, REQUEST)
    expect(erased).toEqual({ events: 3, unsealed: 0 })
    const report = await reportOf(audit, 'c17')
    expect(report.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
    for (const { attributes } of report)
      expect(attributes).toEqual({
        customer_id: 'c17',
        [PERSONAL]: [{ subject: ref, erased: erased_at }],
      })
    const [other] = await reportOf(audit, 'c18')
    expect(other!.attributes['email']).toBe('c18.0@example.com')
    const [event, ...more] = await erasuresIn(audit)
    expect(more).toEqual([])
    expect(event).toMatchObject({ username: 'dpo', system: true, source: null })
    expect(event!.attributes).toEqual({ subject: ref, count: 3, reason: REQUEST.reason })
    expect(audit.stats().stored).toBe(4)
  })

  it('has nothing to erase for a person without a key', async () => {
    const audit = open()
    await record(audit, 'c17')
    const none = { ref: null, erased_at: null, events: 0, unsealed: 0 }
    expect(await audit.erase({ customer: 'c99' }, REQUEST)).toEqual(none)
    await audit.erase(C17, REQUEST)
    expect(await audit.erase(C17, REQUEST)).toEqual(none)
    expect(await erasuresIn(audit)).toHaveLength(1)
    expect(await audit.erasures()).toHaveLength(1)
  })

  it('gives later events of the person a new key', async () => {
    const audit = open()
    await record(audit, 'c17')
    const first = await audit.erase(C17, REQUEST)
    await record(audit, 'c17')
    const report = await reportOf(audit, 'c17')
    expect(report.map(({ attributes }) => attributes['email'])).toEqual([
      undefined,
      'c17.0@example.com',
    ])
    const second = await audit.erase(C17, REQUEST)
    expect(second).toMatchObject({ events: 1, unsealed: 0 })
    expect(second.ref).not.toBe(first.ref)
    expect((await audit.erasures()).map(({ ref }) => ref)).toEqual([first.ref, second.ref])
  })

  it('counts events that have a personal attribute in clear', async () => {
    const former = open({ types: formerTypes, privacy: false })
    await record(former, 'c17', 2)
    await former.recordChange(
      UPDATE,
      { email: 'a@example.com' },
      { email: 'b@example.com' },
      {
        data: { customer_id: 'c17' },
      },
    )
    await former.recordSystem(UPDATE, { customer_id: 'c17' })
    await record(former, 'c18')
    const audit = open()
    await record(audit, 'c17')
    expect(await audit.erase(C17, REQUEST)).toMatchObject({ events: 1, unsealed: 3 })
    expect(await audit.erase(C17, REQUEST)).toMatchObject({ ref: null, unsealed: 3 })
    expect(await reportOf(audit, 'c17')).toHaveLength(5)
  })

  it('finds the events of a person who is named by the username', async () => {
    const audit = open()
    const data = { customer_id: 'c17', email: 'a@example.com', remote_address: '192.0.2.1' }
    await audit.recordSystem(UPDATE, data, { username: 'ann' })
    expect(await audit.erase({ user: 'ann' }, REQUEST)).toMatchObject({ events: 1 })
    const [event] = await reportOf(audit, 'c17')
    expect(event!.attributes).toMatchObject({ customer_id: 'c17', email: 'a@example.com' })
    expect(event!.attributes).not.toHaveProperty('remote_address')
  })

  it.each([
    ['a list', [{ name: 'case 12', filter: 'filter[customer_id_eq]=c17' }]],
    ['a function', async () => [{ filter: 'filter[type_start]=api:' }]],
  ])('refuses to erase a person whose events a hold keeps: %s', async (_kind, holds) => {
    const audit = open({ cleaning: { rules: [], holds } })
    const [event] = await record(audit, 'c17')
    await expect(audit.erase(C17, REQUEST)).rejects.toMatchObject({
      code: 'HELD',
      message: expect.stringContaining(event!.id) as string,
    })
    expect((await reportOf(audit, 'c17'))[0]!.attributes['email']).toBe('c17.0@example.com')
    expect(await audit.erasures()).toEqual([])
  })

  it('erases nothing if the holds cannot be read', async () => {
    const fail = (): never => {
      throw new Error('no holds today')
    }
    const audit = open({ cleaning: { rules: [], holds: fail } })
    const [event] = await record(audit, 'c17')
    await expect(audit.erase(C17, REQUEST)).rejects.toThrow('no holds today')
    await expect(audit.erase({ ids: [event!.id] }, REQUEST)).rejects.toThrow('no holds today')
    expect((await reportOf(audit, 'c17'))[0]!.attributes['email']).toBe('c17.0@example.com')
    expect(await audit.erasures()).toEqual([])
  })

  it('erases a person whom no hold names', async () => {
    const holds = [{ filter: 'filter[customer_id_eq]=c18' }]
    const audit = open({ cleaning: { rules: [], holds } })
    await record(audit, 'c17')
    await record(audit, 'c18')
    expect(await audit.erase(C17, REQUEST)).toMatchObject({ events: 1 })
  })

  it('is done once by calls at the same time, in several processes', async () => {
    const [one, other] = [open(), open()]
    await record(one, 'c17', 2)
    const results = await Promise.all(
      [one, other, one, other].map((audit) => audit.erase(C17, REQUEST)),
    )
    const refs = new Set(results.map(({ ref }) => ref).filter((ref) => ref !== null))
    expect(refs.size).toBe(1)
    expect(await erasuresIn(one)).toHaveLength(1)
    expect(await one.erasures()).toMatchObject([{ events: 2 }])
  })

  describe.each([
    ['before its event', { recordsFirst: false }],
    ['after its event', { recordsFirst: true }],
  ])('that was interrupted %s', (_when, { recordsFirst }) => {
    /** Keys of a process that ends once the key is destroyed, before or after the event. */
    const ending = (): SubjectKeys => {
      const end = async (): Promise<never> => {
        throw new Error('the process ends')
      }
      const read = recordsFirst
        ? {}
        : {
            beginErasure: async (...call: unknown[]) => {
              await keys.beginErasure(...(call as Parameters<SubjectKeys['beginErasure']>))
              return end()
            },
          }
      return { ...keys, ...read, endErasure: end }
    }

    it('is ended by the next call, with the first reason', async () => {
      const first = open({}, ending())
      await record(first, 'c17', 2)
      await expect(first.erase(C17, REQUEST)).rejects.toThrow('the process ends')
      const [pending] = await first.erasures()
      expect(pending).toMatchObject({ events: null, reason: REQUEST.reason })
      expect(pending!.incomplete[0]).toContain('the log has no event of the erasure yet')
      const again = { ...REQUEST, reason: 'another' }
      const holds = [{ filter: 'filter[customer_id_eq]=c17' }]
      // A key that is destroyed cannot be kept.
      const next = open({ cleaning: { rules: [], holds } })
      expect(await next.erase(C17, again)).toMatchObject({ ref: pending!.ref, events: 2 })
      expect((await next.erasures())[0]).toMatchObject({ events: 2, reason: REQUEST.reason })
      const events = await erasuresIn(next)
      expect(events.map(({ attributes }) => attributes)).toEqual([
        { subject: pending!.ref, count: 2, reason: REQUEST.reason },
      ])
    })

    it('is ended by the start of the next log', async () => {
      const first = open({}, ending())
      await record(first, 'c17', 2)
      await expect(first.erase(C17, REQUEST)).rejects.toThrow('the process ends')
      const next = open()
      await vi.waitFor(
        async () => expect(await next.erasures()).toMatchObject([{ events: 2, ...REQUEST }]),
        SOON,
      )
      expect(await erasuresIn(next)).toHaveLength(1)
    })
  })

  describe('of events', () => {
    it('removes them, and records it', async () => {
      const audit = open()
      const [first, second, third] = await record(audit, 'c17', 3)
      const unknown = randomUUID()
      const ids = [first!.id, unknown, second!.id.toUpperCase(), first!.id]
      const erased = await audit.erase({ ids }, REQUEST)
      const removed = [first!.id, second!.id]
      expect(erased).toMatchObject({ ids: removed, missing: [unknown], events: 2 })
      expect((await reportOf(audit, 'c17')).map(({ id }) => id)).toEqual([third!.id])
      const [event, ...more] = await erasuresIn(audit)
      expect(more).toEqual([])
      expect(event).toMatchObject({
        username: 'dpo',
        attributes: { ids: removed, count: 2, reason: REQUEST.reason },
      })
      expect(await audit.erasures()).toMatchObject([
        { ref: null, ids: removed, events: 2, incomplete: erased.remaining, ...REQUEST },
      ])
    })

    it('works without keys', async () => {
      const audit = open({ types: formerTypes, privacy: undefined })
      const [event] = await record(audit, 'c17')
      expect(await audit.erase({ ids: [event!.id] }, REQUEST)).toMatchObject({ events: 1 })
      expect(await audit.get(event!.id)).toBeUndefined()
    })

    it('records nothing if there is no such event', async () => {
      const audit = open()
      const unknown = randomUUID()
      const none = { ids: [], missing: [unknown], events: 0, remaining: [] }
      expect(await audit.erase({ ids: [unknown] }, REQUEST)).toEqual(none)
      expect(await erasuresIn(audit)).toEqual([])
    })

    it('refuses an event that a hold keeps, and a live event that is open', async () => {
      const holds = [{ filter: 'filter[customer_id_eq]=c18' }]
      const audit = open({ cleaning: { rules: [], holds } })
      const [free] = await record(audit, 'c17')
      const [held] = await record(audit, 'c18')
      await expect(audit.erase({ ids: [free!.id, held!.id] }, REQUEST)).rejects.toMatchObject({
        code: 'HELD',
        message: expect.stringContaining(held!.id) as string,
      })
      const live = await audit.recordLive('api:customers:read', { customer_id: 'c17' })
      await expect(audit.erase({ ids: [free!.id, live.event!.id] }, REQUEST)).rejects.toMatchObject(
        {
          code: 'INVALID_VALUE',
          message: expect.stringContaining('close it first') as string,
        },
      )
      expect(await audit.get(free!.id)).toBeDefined()
      await live.close()
      expect(await audit.erase({ ids: [free!.id, live.event!.id] }, REQUEST)).toMatchObject({
        events: 2,
      })
    })

    it.each(['remove', 'updateState'] as const)(
      'is ended by the next log if the process ends at %s',
      async (method) => {
        let calls = 0
        const end: EventStore['remove'] & EventStore['updateState'] = async (...call: never[]) => {
          calls += 1
          // The first update is the beginning of the erasure.
          if (method === 'updateState' && calls === 1)
            return (store.updateState as (...given: never[]) => Promise<never>)(...call)
          throw new Error('the process ends')
        }
        const ending = { ...kept(store), [method]: end }
        const first = openPersonal(ending, kept(keys), { types: formerTypes })
        logs.push(first)
        const [event, other] = await record(first, 'c17', 2)
        const ids = [event!.id]
        await expect(first.erase({ ids }, REQUEST)).rejects.toThrow('the process ends')
        expect(await first.erasures()).toMatchObject(
          expect.arrayContaining([expect.objectContaining({ ids, events: null })]) as never,
        )
        const next = open()
        await vi.waitFor(
          async () => expect(await next.erasures()).toMatchObject([{ ids, events: 1 }]),
          SOON,
        )
        expect(await next.get(event!.id)).toBeUndefined()
        expect(await next.get(other!.id)).toBeDefined()
        expect(await erasuresIn(next)).toHaveLength(1)
      },
    )

    it('is ended by the next call for one of them', async () => {
      const fail = async (): Promise<never> => {
        throw new Error('the process ends')
      }
      const options = { types: formerTypes, privacy: false } as const
      const first = openPersonal({ ...kept(store), remove: fail }, keys, options)
      logs.push(first)
      const ids = (await record(first, 'c17', 2)).map(({ id }) => id)
      await expect(first.erase({ ids }, REQUEST)).rejects.toThrow('the process ends')
      const next = open(options)
      expect(await next.erase({ ids: [ids[1]!] }, REQUEST)).toMatchObject({ ids: [ids[1]] })
      expect((await erasuresIn(next)).map(({ attributes }) => attributes['ids'])).toEqual([ids])
    })
  })
})
