import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type AuditEvent, AuditLog, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { CleaningOptions, CleaningRule, LegalHold } from '../../../src/cleaning/rule.js'
import { suffixSource } from '../../../src/event/event-id.js'
import { tempDir } from '../../support/temp.js'
import { type ManualClock, type Stores, STORES } from './cleaning-stores.js'
import { openWorld, type World } from './cleaning-world.js'

const START = '2026-06-01T00:00:00Z'
const HOUR = 3_600_000_000

interface EventToRecord {
  readonly type: 'a' | 'b'
  readonly text: string
  readonly isLive: boolean
  /** Hours since the previous event. */
  readonly hours: number
}

const given: fc.Arbitrary<EventToRecord> = fc.record({
  type: fc.constantFrom('a', 'b'),
  text: fc.string({ unit: fc.constantFrom('x', 'é', '😀', '"'), maxLength: 8 }),
  isLive: fc.nat({ max: 9 }).map((n) => n === 0),
  hours: fc.integer({ min: 1, max: 5 }),
})

/** Filters, each with a function that implements it. */
const FILTERS = [
  { filter: undefined, matches: () => true },
  { filter: 'filter[type_eq]=a', matches: (event: AuditEvent) => event.type === 'a' },
  {
    filter: { filter: { text_cont: 'x' } },
    matches: ({ attributes }: AuditEvent) => textOf(attributes).includes('x'),
  },
  { filter: 'filter[type_eq]=none', matches: () => false },
] as const

const HOLDS = [
  { holds: undefined, isHeld: () => false },
  { holds: [{ filter: 'filter[type_eq]=none' }], isHeld: () => false },
  { holds: [{ filter: 'filter[type_eq]=b' }], isHeld: (event: AuditEvent) => event.type === 'b' },
  {
    holds: [{ filter: 'filter[n_eq]=0' }, { filter: 'filter[n_eq]=3' }],
    isHeld: ({ attributes }: AuditEvent) => [0, 3].includes(Number(attributes['n'])),
  },
] satisfies { holds: readonly LegalHold[] | undefined; isHeld: (event: AuditEvent) => boolean }[]

const textOf = (attributes: AuditEvent['attributes']): string => JSON.stringify(attributes['text'])

interface Bounds {
  readonly hours?: number | undefined
  readonly rows?: number | undefined
  readonly bytes?: number | undefined
}

const bounds: fc.Arbitrary<Bounds> = fc
  .record(
    {
      hours: fc.integer({ min: 1, max: 60 }),
      rows: fc.nat({ max: 20 }),
      bytes: fc.nat({ max: 500 }),
    },
    { requiredKeys: [] },
  )
  .filter((bounds) => Object.keys(bounds).length > 0)

const nextSuffix = suffixSource()

/** Records the events. Returns the ids of the live events, which stay open. */
async function record(
  { audit }: World,
  store: EventStore,
  clock: ManualClock,
  events: readonly EventToRecord[],
): Promise<ReadonlySet<string>> {
  const live = new Set<string>()
  for (const [n, { type, text, isLive, hours }] of events.entries()) {
    clock.advance(hours * HOUR)
    const attributes = { n, text }
    if (!isLive) {
      await audit.recordCustom(type, attributes)
      continue
    }
    const json = JSON.stringify(attributes)
    const draft = { suffix: nextSuffix(), username: null, system: false, type, source: null }
    const [event] = await store.append([{ ...draft, attributes, json, live: true }])
    live.add(event!.id)
  }
  return live
}

/** The due events by the definition of the bounds, without the code under test. */
function naivelyDue(
  matching: readonly AuditEvent[],
  { hours, rows, bytes }: Bounds,
  now: string,
): AuditEvent[] {
  const newestFirst = matching.toReversed()
  const oldest =
    hours === undefined ? undefined : new Date(Date.parse(now) - hours * 3_600_000).toISOString()
  return newestFirst
    .filter((event, index) => {
      const size = newestFirst
        .slice(0, index + 1)
        .reduce((sum, { attributes }) => sum + Buffer.byteLength(JSON.stringify(attributes)), 0)
      const isOld = oldest !== undefined && event.created_at.slice(0, 23) < oldest.slice(0, 23)
      return isOld || (rows !== undefined && index >= rows) || (bytes !== undefined && size > bytes)
    })
    .toReversed()
}

const ids = (events: readonly AuditEvent[]): string[] => events.map(({ id }) => id)

describe.each(Object.keys(STORES))('cleaning on the %s store', (kind) => {
  let stores: Stores

  beforeAll(async () => {
    stores = await STORES[kind]!()
  })
  afterAll(() => stores.remove())

  const withWorld = async (
    options: CleaningOptions,
    use: (world: World, store: EventStore, clock: ManualClock) => Promise<void>,
  ): Promise<void> => {
    const clock = manualClock(START)
    const store = await stores.open(clock)
    const world = openWorld(store, options)
    try {
      await use(world, store, clock)
    } finally {
      await world.close()
    }
  }

  it(
    'removes exactly the due events, and previews and archives them',
    { timeout: 180_000 },
    async () => {
      let telling = 0
      const numRuns = kind === 'memory' ? 100 : 12
      await fc.assert(
        fc.asyncProperty(
          fc.array(given, { minLength: 5, maxLength: 25, size: 'max' }),
          fc.constantFrom(...FILTERS),
          fc.constantFrom(...HOLDS),
          bounds,
          fc.boolean(),
          async (events, { filter, matches }, { holds, isHeld }, bounds, isArchived) => {
            const archived: AuditEvent[] = []
            const { hours, rows, bytes } = bounds
            const rule: CleaningRule = {
              target: 'events',
              ...(filter && { filter }),
              ...(hours !== undefined && { maxAge: { hours } }),
              ...(rows !== undefined && { maxRows: rows }),
              ...(bytes !== undefined && { maxBytes: bytes }),
              ...(isArchived && { archive: async (page) => void archived.push(...page) }),
            }
            const options = { rules: [rule], ...(holds && { holds }) }
            await withWorld(options, async ({ audit, cleaning, all, ...world }, store, clock) => {
              const live = await record({ audit, cleaning, all, ...world }, store, clock, events)
              const stored = await all()
              const now = new Date(clock() / 1000).toISOString()
              const matching = stored.filter((event) => !live.has(event.id) && matches(event))
              const due = naivelyDue(matching, bounds, now).filter((event) => !isHeld(event))
              const [preview] = await cleaning.preview()
              expect(preview).toMatchObject({
                due_count: due.length,
                oldest_due: due[0]?.created_at ?? null,
                newest_due: due.at(-1)?.created_at ?? null,
              })
              const [result] = await cleaning.run()
              expect(result).not.toHaveProperty('error')
              expect(result!.removed_count).toBe(due.length)
              const left = (await all()).filter(({ system }) => !system)
              const gone = new Set(ids(due))
              expect(ids(left)).toEqual(ids(stored).filter((id) => !gone.has(id)))
              expect(archived).toEqual(isArchived ? due : [])
              if (due.length > 0 && due.length < stored.length) telling++
            })
          },
        ),
        { numRuns, endOnFailure: true },
      )
      // Rules and events of the other stores are similar. They have too few runs for a share.
      if (kind === 'memory') expect(telling).toBeGreaterThan(numRuns / 5)
    },
  )

  it('processes any number of pages', async () => {
    const rules: CleaningRule[] = [
      { name: 'filtered', target: 'events', filter: 'filter[type_eq]=a', maxRows: 600 },
      { name: 'all', target: 'events', maxRows: 100 },
    ]
    await withWorld({ rules }, async ({ audit, cleaning, all }) => {
      for (let n = 0; n < 2500; n++) void audit.recordCustom(n % 2 === 0 ? 'a' : 'b', { n })
      await audit.flush()
      const removed: number[] = []
      const [filtered] = await cleaning.run({
        rules: ['filtered'],
        onProgress: ({ removed_count }) => void removed.push(removed_count),
      })
      expect(filtered).toMatchObject({ removed_count: 650 })
      expect(removed).toEqual([200, 400, 600, 650])
      expect(await all()).toHaveLength(1851)
      expect(await cleaning.run({ rules: ['all'] })).toMatchObject([{ removed_count: 1751 }])
    })
  })

  it('archives to files that importEvents accepts', async () => {
    const temp = tempDir()
    const directory = temp.file('archive/of events')
    const rules: CleaningRule[] = [
      { name: 'to/file', target: 'events', maxAge: { hours: 10 }, archive: directory },
    ]
    try {
      await withWorld({ rules }, async ({ audit, cleaning, all }, _store, clock) => {
        for (let n = 0; n < 1200; n++) void audit.recordCustom('n', { n, text: 'é😀\n"' })
        await audit.flush()
        const stored = await all()
        clock.advance(11 * HOUR)
        await audit.recordCustom('young')
        const [result] = await cleaning.run()
        expect(result).toMatchObject({ removed_count: 1200, archived_count: 1200 })
        const [name, ...others] = fs.readdirSync(directory)
        expect(others).toEqual([])
        const first = stored[0]!.created_at.replaceAll(':', '_')
        expect(name!.startsWith(`to_file-${first}-`)).toBe(true)
        expect(name).toMatch(/-[0-9a-f]{8}\.ndjson\.gz$/)
        expect(result!.archive_file).toBe(path.join(directory, name!))
        const events = readArchive(path.join(directory, name!))
        expect(events).toEqual(stored)
        const again: AuditLog = new AuditLog({
          store: memoryStore({ clock: manualClock('2026-07-01T00:00:00Z') }),
          types: {},
        })
        expect(await again.importEvents(events)).toEqual({ imported: 1200, skipped: 0 })
        await again.close()
      })
    } finally {
      temp.remove()
    }
  })

  it('runs once per schedule time if several logs share the store', async () => {
    await withWorld({ rules: [] }, async (_world, _store, clock) => {
      let runs = 0
      const rules: CleaningRule[] = [
        { target: 'jobs', every: { hours: 1 }, run: () => Promise.resolve(++runs) },
      ]
      const worlds: World[] = []
      const looked = Array.from({ length: 3 }, async () => {
        const store = stores.another(clock)
        await new Promise<void>((resolve) => {
          const updateState: EventStore['updateState'] = async (key, change, options) => {
            const value = await store.updateState(key, change, options)
            if (key === 'cleaning:jobs') resolve()
            return value
          }
          worlds.push(openWorld({ ...store, updateState }, { rules }))
        })
      })
      await Promise.all(looked)
      await vi.waitFor(
        async () => {
          const { rules } = await worlds[0]!.cleaning.status()
          expect(rules).toMatchObject([{ running: false, lastRun: {} }])
        },
        { timeout: 60_000 },
      )
      for (const { close } of worlds) await close()
      expect(runs).toBe(1)
      const after = openWorld(stores.another(clock), { rules })
      expect((await after.cleaning.status()).rules).toMatchObject([
        {
          running: false,
          lastRun: { removed_count: 1 },
          nextRun: '2026-06-01T01:00:00.000000Z',
        },
      ])
      await after.close()
    })
  })
})

function readArchive(file: string): AuditEvent[] {
  const lines = gunzipSync(fs.readFileSync(file)).toString('utf8').split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => JSON.parse(line) as AuditEvent)
}
