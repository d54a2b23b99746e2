import { AuditLog, type AuditEvent, type Clock, DeliveryError, type EventStore } from 'daybook'
import { manualClock } from 'daybook/testing'
import { describe, expect, it, vi } from 'vitest'
import { changeStates, type CursorState, keyOf } from '../../../src/subscriptions/states.js'
import { saveCursors } from '../../../src/subscriptions/checkpoints.js'
import { eachStore } from '../../support/event-stores.js'

const DAY = 24 * 3_600_000_000
const FILTER = 'filter[type_eq]=test:number'

const numbersOf = (events: readonly AuditEvent[]): unknown[] =>
  events.map(({ attributes }) => attributes['n'])

describe.each(eachStore)('on %s', (name, createPlace) => {
  /** Opens the store once for memory, else once for each log, as processes do. */
  async function withStores(
    run: (open: (clock?: Clock) => EventStore) => Promise<void>,
  ): Promise<void> {
    const place = await createPlace()
    let only: EventStore | undefined
    const open = (clock?: Clock): EventStore => {
      if (name !== 'memory') return place.open(clock)
      only ??= place.open(clock)
      return { ...only, close: async () => {} }
    }
    try {
      await run(open)
    } finally {
      await only?.close()
      await place.remove()
    }
  }

  it(
    'delivers everything once and in order across two logs, and parks what is refused',
    () =>
      withStores(async (open) => {
        const delivered: unknown[] = []
        const openLog = (): AuditLog =>
          new AuditLog({
            store: open(),
            types: {},
            subscriptions: {
              channels: {
                search: {
                  deliver(events) {
                    if (numbersOf(events).includes(42))
                      throw new DeliveryError('status', 'no', { status: 422 })
                    delivered.push(...numbersOf(events))
                  },
                },
              },
              subscriptions: { numbers: { channel: 'search', filter: FILTER } },
            },
          })
        const first = openLog()
        for (let n = 0; n < 100; n++) await first.recordCustom('test:number', { n })
        await vi.waitUntil(() => delivered.includes(99), { timeout: 30_000 })
        const { id } = (await first.subscriptions.list())[0]!
        expect(await first.subscriptions.parked(id)).toMatchObject([{ attempts: 3 }])
        const second = openLog()
        await first.close()
        for (let n = 100; n < 200; n++) await second.recordCustom('test:number', { n })
        await vi.waitUntil(() => delivered.includes(199), { timeout: 30_000 })
        expect(await second.subscriptions.status()).toMatchObject([
          { name: 'numbers', parked: 1, delivered: 199, state: 'live' },
        ])
        expect(await second.subscriptions.redrive(id, 'all')).toMatchObject({ failed: 1 })
        expect(await second.subscriptions.discard(id, 'all')).toBe(1)
        await second.close()
        expect(delivered).toEqual(Array.from({ length: 200 }, (_, n) => n).filter((n) => n !== 42))
      }),
    90_000,
  )

  it(
    'cleaning spares what paused and failing subscriptions still have to deliver, and after `retain` records what they miss',
    () =>
      withStores(async (open) => {
        const clock = manualClock('2026-03-01T12:00:00Z')
        let attempts = 0
        const audit: AuditLog = new AuditLog({
          store: open(clock),
          types: {},
          cleaning: { rules: [{ target: 'events', filter: FILTER, maxAge: { hours: 1 } }] },
          subscriptions: {
            channels: {
              down: {
                deliver() {
                  attempts += 1
                  throw new DeliveryError('network', 'connection refused')
                },
              },
            },
            subscriptions: { failing: { channel: 'down', filter: FILTER } },
          },
        })
        const filter = `${FILTER}&filter[n_lt]=4`
        const definition = { channel: 'down', filter, paused: true }
        await audit.subscriptions.create({ ...definition, name: 'paused' })
        await audit.subscriptions.create({ ...definition, name: 'unprotected', retain: null })
        for (let n = 0; n < 10; n++) await audit.recordCustom('test:number', { n })
        await vi.waitUntil(() => attempts > 0, { timeout: 30_000 })
        const clean = async () => {
          await audit.cleaning.run()
          const { total } = await audit.count(FILTER)
          const { events } = await audit.list('filter[type_eq]=warn:subscription:gap')
          const gaps = events.map(({ attributes }) => {
            const { subscription, missed_count, sampled } = attributes as Record<string, string>
            return `${subscription}: ${missed_count}${sampled ? ', estimated' : ''}`
          })
          return { left: total, gaps: gaps.toSorted((a, b) => (a < b ? -1 : 1)) }
        }
        clock.advance(6 * DAY)
        expect(await clean()).toEqual({ left: 10, gaps: [] })
        clock.advance(2 * DAY)
        const gaps = ['failing: 10', 'paused: 4', 'unprotected: 4']
        expect(await clean()).toEqual({ left: 0, gaps })
        expect(await clean()).toEqual({ left: 0, gaps })
        await audit.close()
      }),
    90_000,
  )

  it('stores a cursor only under the lease of its epoch, and where nobody else has put it elsewhere', () =>
    withStores(async (open) => {
      const store = open()
      const signal = AbortSignal.timeout(30_000)
      const stored: CursorState = { generation: 2, position: 'b', delivered: 1 }
      await changeStates(store, [keyOf('lease', 'c'), keyOf('cursor', 's')], (states) => {
        states.set(keyOf('lease', 'c'), { holder: 'me', epoch: 5 })
        states.set(keyOf('cursor', 's'), stored)
      })
      const save = async (epoch: number, cursor: CursorState) =>
        (
          await saveCursors(store, [{ id: 's', channel: 'c', epoch, cursor, parked: [] }], signal)
        ).get('s')
      const read = async () => (await store.readStates('cursor:s', { limit: 1 }))[0]?.[1]
      expect(await save(4, { ...stored, position: 'a' })).toBe('lost')
      expect(await save(5, { ...stored, generation: 1, position: 'a' })).toBe('moved')
      expect(await read()).toEqual(stored)
      expect(await save(5, { ...stored, position: 'c' })).toBe('saved')
      expect(await read()).toEqual({ ...stored, position: 'c' })
      await changeStates(store, [keyOf('cursor', 's')], (states) =>
        states.set(keyOf('cursor', 's'), undefined),
      )
      expect(await save(5, { ...stored, position: 'd' })).toBe('moved')
      expect(await read()).toBeUndefined()
      await store.close()
    }))
})
