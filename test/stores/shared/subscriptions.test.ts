import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  AuditLog,
  type AuditEvent,
  type ChannelKind,
  type Clock,
  DeliveryError,
  type EventStore,
  type SubscriptionsOptions,
} from 'daybook'
import { manualClock } from 'daybook/testing'
import { describe, expect, it, vi } from 'vitest'
import { changeStates, type CursorState, keyOf } from '../../../src/subscriptions/states.js'
import { saveCursors } from '../../../src/subscriptions/checkpoints.js'
import { type CreatePlace, eachStore, type EventPlace } from '../../support/event-stores.js'

const DAY = 24 * 3_600_000_000
const FILTER = 'filter[type_eq]=test:number'

const numbersOf = (events: readonly AuditEvent[]): unknown[] =>
  events.map(({ attributes }) => attributes['n'])

/** A kind of channels with a path and a secret token. */
const hookKind = (
  deliver: (path: string, events: readonly AuditEvent[]) => unknown,
): ChannelKind => ({
  read(given, present) {
    const { path, token } = { ...present?.config, ...present?.secrets, ...given }
    return { config: { path: path! }, secrets: { token: token! } }
  },
  open: ({ config }) => ({ deliver: (events) => deliver(config['path'] as string, events) }),
  rotate: ({ config, secrets }) => ({ config, secrets: { token: [secrets['token']!, 'rotated'] } }),
})

const openHooks = (
  store: EventStore,
  kinds: Record<string, ChannelKind>,
  options: SubscriptionsOptions = {},
): AuditLog => {
  const secretsKey = Buffer.alloc(32, 7).toString('base64')
  return new AuditLog({ store, types: {}, subscriptions: { kinds, secretsKey, ...options } })
}

/** Places of a store of this kind, one for each run. */
function usePlaces(kind: string, createPlace: CreatePlace) {
  let place: EventPlace

  /** Opens the store once for memory, else once for each log, as processes do. */
  async function withStores(
    run: (open: (clock?: Clock) => EventStore) => Promise<void>,
  ): Promise<void> {
    place = await createPlace()
    let only: EventStore | undefined
    const open = (clock?: Clock): EventStore => {
      if (kind !== 'memory') return place.open(clock)
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
  return { withStores, place: () => place }
}

describe.each(eachStore)('on %s', (kind, createPlace) => {
  const { withStores } = usePlaces(kind, createPlace)

  it(
    'delivers everything once and in order across two logs, and parks refused events',
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
                    if (numbersOf(events).includes(12))
                      throw new DeliveryError('status', 'no', { status: 422 })
                    delivered.push(...numbersOf(events))
                  },
                },
              },
              subscriptions: { numbers: { channel: 'search', filter: FILTER } },
            },
          })
        const first = openLog()
        for (let n = 0; n < 25; n++) await first.recordCustom('test:number', { n })
        await vi.waitUntil(() => delivered.includes(24), { timeout: 60_000 })
        const { id } = (await first.subscriptions.list())[0]!
        await expect.poll(() => first.subscriptions.parked(id)).toMatchObject([{ attempts: 3 }])
        const second = openLog()
        await first.close()
        for (let n = 25; n < 50; n++) await second.recordCustom('test:number', { n })
        await vi.waitUntil(() => delivered.includes(49), { timeout: 60_000 })
        // The count is stored after the delivery.
        await expect
          .poll(() => second.subscriptions.status())
          .toMatchObject([{ name: 'numbers', parked: 1, delivered: 49, state: 'live' }])
        expect(await second.subscriptions.redrive(id, 'all')).toMatchObject({ failed: 1 })
        expect(await second.subscriptions.discard(id, 'all')).toBe(1)
        expect(await second.subscriptions.status()).toMatchObject([{ parked: 0 }])
        await second.close()
        expect(delivered).toEqual(Array.from({ length: 50 }, (_, n) => n).filter((n) => n !== 12))
      }),
    180_000,
  )

  it('stores a cursor only under the lease of its epoch, and only if nothing else has moved it', () =>
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

  it(
    'with concurrent logs, gives each name only once, and removes no used channel',
    () =>
      withStores(async (open) => {
        const logs = Array.from({ length: 3 }, () =>
          openHooks(open(), { hook: hookKind(() => {}) }, { deliver: false }),
        )
        const settled = async (calls: readonly Promise<unknown>[]): Promise<unknown[]> =>
          (await Promise.allSettled(calls)).flatMap((one) =>
            one.status === 'rejected' ? [(one.reason as { code: unknown }).code] : [],
          )
        const config = { path: '/a', token: 'tok_1' }
        const creating = logs.map(({ subscriptions: { channels } }) =>
          channels.create({ name: 'hook', kind: 'hook', config }),
        )
        expect(await settled(creating)).toEqual(['NAME_TAKEN', 'NAME_TAKEN'])
        const [channel] = await logs[0]!.subscriptions.channels.list()
        for (let round = 0; round < 2; round++) {
          const name = `numbers-${round}`
          const made = await settled([
            ...logs.map(({ subscriptions }) => subscriptions.create({ name, channel: 'hook' })),
            logs[0]!.subscriptions.channels.remove(channel!.id),
          ])
          const used = (await logs[0]!.subscriptions.list()).filter((one) => one.name === name)
          const [left] = await logs[0]!.subscriptions.channels.list()
          expect(used).toHaveLength(left ? 1 : 0)
          expect(made).toContain(left ? 'IN_USE' : 'INVALID_SUBSCRIPTION')
          if (!left) break
          await logs[1]!.subscriptions.remove(used[0]!.id)
        }
        await Promise.all(logs.map((log) => log.close()))
      }),
    180_000,
  )
})

describe('on SQLite', () => {
  const { withStores, place } = usePlaces(...eachStore.find(([kind]) => kind === 'SQLite')!)

  it('stores no more subscriptions and channels of one user than the limits, in all processes together', () =>
    withStores(async (open) => {
      const kinds = { hook: hookKind(() => {}) }
      const both = [open(), open()].map((store) => openHooks(store, kinds, { deliver: false }))
      const [{ subscriptions }] = both as [AuditLog, AuditLog]
      const config = { path: '/', token: 'x' }
      const by = { username: 'ann' }
      const create = {
        channel: (audit: AuditLog, name: string) =>
          audit.subscriptions.channels.create({ name, kind: 'hook', config }, by),
        subscription: (audit: AuditLog, name: string) =>
          audit.subscriptions.create({ name, channel: 'c0', owner: 'ann' }, by),
      }
      for (const [what, limit] of [
        ['channel', 20],
        ['subscription', 100],
      ] as const) {
        for (let i = 0; i < limit - 2; i++) await create[what](both[0]!, `c${i}`)
        const more = Array.from({ length: 5 }, (_, i) => create[what](both[i % 2]!, `more${i}`))
        const results = await Promise.allSettled(more)
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
      }
      // The limit of other owners, and of subscriptions without an owner, is not affected. ann cannot take over a
      // subscription of another user.
      const others = []
      for (const owner of ['bob', null])
        others.push(
          await subscriptions.create({ name: `of-${owner ?? 'none'}`, channel: 'c0', owner }),
        )
      for (const { id } of others)
        await expect(subscriptions.update(id, { owner: 'ann' })).rejects.toMatchObject({
          code: 'INVALID_SUBSCRIPTION',
          message: 'a user has at most 100 subscriptions',
        })
      const own = (await subscriptions.list()).find(({ owner }) => owner === 'ann')!
      await subscriptions.update(own.id, { filter: FILTER })
      for (const audit of both) await audit.close()
    }))

  it(
    'cleaning spares events that paused and failing subscriptions still have to deliver, and records those that they miss after `retain`',
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
        await vi.waitUntil(() => attempts > 0, { timeout: 60_000 })
        const clean = async () => {
          await audit.cleaning.run()
          const { total } = await audit.count(FILTER)
          const { events } = await audit.list('filter[type_eq]=warn:subscription:gap')
          const gaps = events.map(({ attributes }) => {
            const { subscription, missed_count, exact } = attributes as Record<string, string>
            return `${subscription}: ${missed_count}${exact ? '' : ', at least'}`
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
    180_000,
  )

  it(
    'delivers to channels that another log has created, changed and disabled',
    () =>
      withStores(async (open) => {
        const delivered: unknown[] = []
        const kind = hookKind((path, events) =>
          delivered.push(...numbersOf(events).map((n) => `${path}${String(n)}`)),
        )
        const deliverer = openHooks(open(), { hook: kind })
        const manager = openHooks(open(), { hook: kind }, { deliver: false })
        const { channels } = manager.subscriptions
        const { channel } = await channels.create({
          name: 'hook',
          kind: 'hook',
          config: { path: '/a', token: 'tok_1' },
        })
        const made = { name: 'numbers', channel: 'hook', filter: FILTER }
        const { id } = await manager.subscriptions.create(made)
        const status = async () => (await manager.subscriptions.status())[0]!
        await manager.recordCustom('test:number', { n: 1 })
        await vi.waitUntil(() => delivered.length === 1, { timeout: 60_000 })
        await channels.update(channel.id, { config: { path: '/b' } })
        await vi.waitUntil(async () => (await status()).state === 'live', { timeout: 60_000 })
        await channels.disable(channel.id, { reason: 'too much' })
        await vi.waitUntil(async () => (await status()).state === 'disabled', { timeout: 60_000 })
        // The other process may not know the subscription yet.
        await vi.waitUntil(
          async () => {
            await manager.recordCustom('test:number', { n: 2 })
            return (await status()).skipped > 0
          },
          { timeout: 60_000, interval: 100 },
        )
        await channels.enable(channel.id)
        await manager.subscriptions.replay(id, { from: 'beginning' })
        await vi.waitUntil(() => delivered.filter((one) => one === '/b1').length === 1, {
          timeout: 60_000,
        })
        await expect(channels.remove(channel.id)).rejects.toMatchObject({ code: 'IN_USE' })
        await manager.subscriptions.remove(id)
        await channels.remove(channel.id)
        expect(await deliverer.subscriptions.channels.list()).toEqual([])
        await Promise.all([deliverer.close(), manager.close()])
      }),
    180_000,
  )

  it(
    'keeps secrets out of states and events, and out of the files',
    () =>
      withStores(async (open) => {
        const store = open()
        const token = 'tok_5cf1a0d2b7e94c63'
        const warnings: unknown[] = []
        const warn = (warning: unknown): unknown => warnings.push(warning)
        process.on('warning', warn)
        const audit = openHooks(store, {
          hook: hookKind(() => {
            throw new DeliveryError('status', 'refused', { status: 500 })
          }),
        })
        const { channels } = audit.subscriptions
        const config = { path: '/a', token }
        const { channel } = await channels.create({ name: 'hook', kind: 'hook', config })
        await channels.update(channel.id, { config: { path: '/b', token: `${token}-next` } })
        await channels.rotateSecret(channel.id)
        await audit.subscriptions.create({ name: 'numbers', channel: 'hook', filter: FILTER })
        await audit.recordCustom('test:number', { n: 1 })
        await vi.waitUntil(
          async () => (await audit.subscriptions.status())[0]!.state === 'failing',
          { timeout: 60_000 },
        )
        await channels.test(channel.id)
        await channels.disable(channel.id)
        const seen = [
          await store.readStates('', { limit: 1000 }),
          (await audit.list('limit=1000')).events,
          await channels.list(),
          await audit.subscriptions.status(),
          warnings,
        ]
        expect(JSON.stringify(seen)).toContain('"sealed"')
        expect(JSON.stringify(seen)).not.toContain(token)
        await audit.close()
        process.off('warning', warn)
        const { filename } = place().demo as { readonly filename: string }
        const files = readdirSync(dirname(filename))
        expect(files.length).toBeGreaterThan(0)
        for (const file of files)
          expect(readFileSync(join(dirname(filename), file)).includes(token)).toBe(false)
      }),
    180_000,
  )
})
