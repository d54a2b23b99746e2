import { randomUUID } from 'node:crypto'
import type { AuditLog, Damage, EventStore, QueryInput, RebuildProgress } from 'daybook'
import { AuditLog as Log } from 'daybook'
import { describe, expect, it } from 'vitest'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import type { Sealer } from '../../../src/store-kit/index-builder/sealer.js'

export const DAMAGE_TUNING = { segmentSize: 64, fanOut: 4 }

const SIZE = 200

/** A store on a copy of the log of {@link recordBase}. */
export interface CopiedLog<Harm> {
  readonly store: EventStore
  readonly sealer: Sealer
  /** The faults of the index of the copy. */
  damage(): Promise<readonly string[]>
  /** Does harm to the copy while its store is open. */
  harm(harm: Harm): void | Promise<unknown>
  /** Opens another store on the copy. */
  reopen(): EventStore
}

/** The damage that `verify` finds, by what was done. */
const VERIFIED = {
  'the ids of imported events are gone': { kind: 'event', reason: /its id is not listed/ },
  'the high-water mark is before the newest event': {
    kind: 'database',
    reason: /an event is newer than the high-water mark/,
  },
  'a chunk of each segment is gone': { kind: 'segment', reason: /rows are missing/ },
  'the last chunk of each segment is gone': {
    kind: 'segment',
    reason: /it has \d+ chunks instead of \d+/,
  },
  'no event is late': { kind: 'index', reason: /1 events are in no segment/ },
} as const

/** A change of a row that lists cannot do without. */
export interface RowHarm {
  readonly table: string
  readonly what: string
  readonly sql: string
  /** True if events cannot be recorded either. */
  readonly stopsRecording?: boolean
}

/** Functions with which tests damage a copy of the log of one store. */
export interface DamageHarness<Harm> {
  /** Opens a damaged copy. The log is closed after the test. */
  open(harm: Harm): Promise<CopiedLog<Harm>>
  /** Called with the log, to be closed after the test. */
  opened(audit: AuditLog): void
  readonly none: Harm
  /** The ids of the events of the base, in their order. */
  ids(): readonly string[]
  /** Harm to event 190, by its description. */
  readonly events: Readonly<Record<string, Harm>>
  /** Harm to the segments, by its description. */
  readonly segments: Readonly<Record<string, Harm>>
  /** Harm to rows of every segment. */
  readonly allSegments: Harm
  /** Removes a name of the index. */
  readonly loseName: Harm
  /** Removes event 20 behind the back of the store. */
  readonly loseEvent: Harm
  /** Takes a visible segment out of the list of segments. */
  readonly loseSegment: Harm
  /** Harm that only `verify` finds, by what it finds. */
  readonly verified: Readonly<Record<keyof typeof VERIFIED, Harm>>
  /** Runs SQL once the columns of a table can hold what a flipped bit may make of them. */
  withoutConstraints(table: string, sql: string): Harm
  /** The table of the open live events. */
  readonly liveTable: string
  /** Changes of the row of a live event, as SQL, after which `get` rejects with DAMAGED. */
  readonly live: readonly string[]
  /** Changes after which no row has the id. */
  readonly liveWithoutId: readonly string[]
  readonly rows: readonly RowHarm[]
  /** The message of calls that fail for them. */
  readonly rowsError: RegExp
  /** The steps of `verify` in a log this small. */
  readonly steps: readonly string[]
}

/** Records the basic events. Returns their ids. */
export async function recordBase(audit: AuditLog): Promise<readonly string[]> {
  const events = await Promise.all(
    Array.from({ length: SIZE }, (_, i) =>
      audit.recordCustom('order', { number: i, kind: i % 2 ? 'odd' : 'even', text: `text ${i}` }),
    ),
  )
  return events.map((event) => event!.id)
}

/** A log on a copy, and the damage that the log reports. */
export function watchDamage<Harm>(harness: DamageHarness<Harm>, copy: CopiedLog<Harm>) {
  const audit = new Log({ types: {}, store: copy.store })
  harness.opened(audit)
  const damages: Damage[] = []
  audit.on('damaged', (one) => damages.push(one))
  const numbers = async (query: QueryInput): Promise<unknown[]> =>
    (await audit.list(query)).events.map(({ attributes }) => attributes['number'])
  return { ...copy, audit, damages, numbers }
}

const openDamaged = async <Harm>(harness: DamageHarness<Harm>, harm: Harm) =>
  watchDamage(harness, await harness.open(harm))

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i)

/** Tests of events that differ from what was written. */
export function describeDamagedEvents<Harm>(harness: DamageHarness<Harm>): void {
  it.each(Object.entries(harness.events))(
    'an event %s is left out of lists and of the index, and reported with its id',
    async (_, harm) => {
      const log = await openDamaged(harness, harm)
      const [before, id] = harness.ids().slice(189)
      expect(await log.numbers({ limit: 15 })).toEqual([...range(184, 190), ...range(191, 200)])
      expect(await log.numbers('filter[number_gteq]=180&filter[number_lt]=195&limit=50')).toEqual([
        ...range(180, 190),
        ...range(191, 195),
      ])
      expect(await log.numbers('filter[kind_eq]=even&filter[sorts]=number desc&limit=7')).toEqual([
        198, 196, 194, 192, 188, 186, 184,
      ])
      expect((await log.audit.count()).total).toBeGreaterThanOrEqual(SIZE - 1)
      expect(log.damages).toMatchObject([{ kind: 'event', id }])
      await log.audit.flush()
      const [event] = (await log.audit.list('filter[type_eq]=warn:audit_log:damage')).events
      expect(event?.attributes).toMatchObject({ count: 1, places: [{ event_id: id }] })

      await expect(log.audit.get(id!)).rejects.toMatchObject({ code: 'DAMAGED' })
      expect((await log.audit.get(before!))?.attributes['number']).toBe(189)
      expect((await log.audit.verify()).damage).toMatchObject([{ kind: 'event', id }])

      await Promise.all(range(0, 64).map((number) => log.audit.recordCustom('order', { number })))
      await log.sealer.settled()
      expect(await log.numbers('filter[text_eq]=text 150')).toEqual([150])
      expect(await log.numbers('filter[kind_eq]=even&limit=200')).toHaveLength(SIZE / 2 - 1)
    },
  )
}

/** Tests of rows of open live events, and of the store itself, that differ from what was written. */
export function describeDamagedRows<Harm>(harness: DamageHarness<Harm>): void {
  it('open live events whose rows are damaged are left out and reported', async () => {
    const { live, liveWithoutId, liveTable } = harness
    const changes = [...live, ...liveWithoutId]
    const bad = changes.map((_, i) => `bad${i}:one`)
    const types = Object.fromEntries([...bad, 'good:one'].map((type) => [type, {}]))
    const copy = await harness.open(harness.none)
    const first = new Log({ types, store: copy.store })
    harness.opened(first)
    const ids: string[] = []
    for (const type of bad) ids.push((await first.recordLive(type, { n: 1 })).event!.id)
    const good = (await first.recordLive('good:one', { n: 2 })).event!
    const updates = changes.map(
      (change, i) => `UPDATE ${liveTable} SET ${change} WHERE type = '${bad[i]}'`,
    )
    await copy.harm(harness.withoutConstraints(liveTable, updates.join(';')))

    const { audit, damages } = watchDamage(harness, { ...copy, store: copy.reopen() })
    for (const query of [
      'filter[type_end]=:one',
      'filter[n_gt]=0',
      'filter[n_gt]=0&filter[sorts]=n',
    ])
      expect((await audit.list(query)).events.map(({ id }) => id)).toEqual([good.id])
    expect(damages.map(({ kind }) => kind)).toEqual(changes.map(() => 'event'))
    expect((await audit.verify()).damage.map(({ kind }) => kind)).toEqual(
      changes.map(() => 'event'),
    )
    expect((await audit.get(good.id))?.attributes).toEqual({ n: 2 })
    for (const id of ids.slice(0, live.length))
      await expect(audit.get(id)).rejects.toMatchObject({ code: 'DAMAGED' })
  })

  it.each(harness.rows.map((row) => [row.table, row.what, row] as const))(
    'calls fail clearly while the row of %s %s, and verify names it',
    async (table, _, { sql, stopsRecording }) => {
      const log = await openDamaged(harness, harness.withoutConstraints(table, sql))
      const message = expect.stringMatching(harness.rowsError) as unknown
      const error = { code: 'STORE_FAILED', message }
      await expect(log.audit.list('filter[text_eq]=text 3')).rejects.toMatchObject(error)
      if (stopsRecording)
        await expect(log.audit.recordCustom('order', {})).rejects.toMatchObject(error)
      const { damage } = await log.audit.verify()
      const reason = expect.stringContaining(table.replace(/.*\./, '')) as unknown
      expect(damage).toContainEqual(expect.objectContaining({ kind: 'database', reason }))
    },
  )
}

const QUERIES: readonly (readonly [query: string, numbers: readonly number[]])[] = [
  ['filter[text_eq]=text 50', [50]],
  ['filter[text_cont]=t 5&limit=20', [5, ...range(50, 60)]],
  ['filter[number_lt]=10', range(0, 10)],
  ['filter[number_lt]=100&filter[kind_eq]=odd&limit=4', [93, 95, 97, 99]],
  ['filter[number_gteq]=20&filter[sorts]=number asc&limit=3', [20, 21, 22]],
  ['filter[kind_not_eq]=odd&filter[type_eq]=order&limit=3', [194, 196, 198]],
]

/** Tests of segments that differ from what was written. */
export function describeDamagedSegments<Harm>(harness: DamageHarness<Harm>): void {
  describe.each(Object.entries(harness.segments))('a segment %s', (_, harm) => {
    it('is set aside, and built again, while lists stay correct', async () => {
      const log = await openDamaged(harness, harm)
      const answers = async (): Promise<unknown[]> =>
        Promise.all(QUERIES.map(async ([query]) => log.numbers(query)))
      const right = QUERIES.map(([, numbers]) => numbers)
      expect(await answers()).toEqual(right)
      expect(log.damages.length).toBeGreaterThan(0)
      expect(log.damages.every(({ kind }) => kind === 'segment')).toBe(true)
      await log.sealer.settled()
      const found = log.damages.length
      expect(await answers()).toEqual(right)
      expect(await log.damage()).toEqual([])
      expect(log.damages).toHaveLength(found)
    })
  })
}

export function describeVerify<Harm>(harness: DamageHarness<Harm>): void {
  describe('verify', () => {
    it('finds nothing in a log without damage, reports its progress, and ends when its signal aborts', async () => {
      const log = await openDamaged(harness, harness.none)
      const steps = new Set<string>()
      const result = await log.audit.verify({ onProgress: ({ step }) => steps.add(step) })
      expect(result).toMatchObject({ events: SIZE, damage: [] })
      expect(result.segments).toBeGreaterThan(1)
      expect([...steps]).toEqual(harness.steps)
      await expect(log.audit.verify({ signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'ABORTED',
      })

      const values = {
        a: 'äöü \u2028 "\\/ 😀',
        b: [1e21, 1e-7, 0.1, -5, 2 ** 53, 1e300],
        c: { d: {}, e: [] },
      }
      const event = (await log.audit.recordCustom('order', values))!
      expect((await log.audit.get(event.id))?.attributes).toEqual(values)
      expect(await log.audit.verify()).toMatchObject({ events: SIZE + 1, damage: [] })
    })

    it('reports lost events, like a list that finds them in the index', async () => {
      const log = await openDamaged(harness, harness.loseEvent)
      expect(await log.numbers('filter[text_eq]=text 20')).toEqual([])
      expect(log.damages).toMatchObject([{ kind: 'missing' }])
      const sorted = await log.numbers('filter[number_gteq]=19&filter[sorts]=number asc&limit=2')
      expect(sorted).toEqual([19, 21])
      expect(log.damages).toHaveLength(1)
      expect((await log.audit.verify()).damage).toMatchObject([{ kind: 'missing' }])
      expect(await log.numbers('filter[number_eq]=20')).toEqual([])
    })

    it('names events that no segment has', async () => {
      const log = await openDamaged(harness, harness.loseSegment)
      expect((await log.audit.verify()).damage).toMatchObject([{ kind: 'index' }])
      await log.audit.rebuildIndex()
      expect((await log.audit.verify()).damage).toEqual([])
      expect(await log.numbers('filter[text_eq]=text 3')).toEqual([3])
    })

    it.each(Object.entries(VERIFIED))('finds that %s', async (what, { kind, reason }) => {
      const log = await openDamaged(harness, harness.none)
      const [event] = (await log.audit.list('filter[number_eq]=3')).events
      const created_at = '2001-02-03T04:05:06.000007Z'
      await log.audit.importEvents([{ ...event!, id: randomUUID(), created_at }])
      expect((await log.audit.verify()).damage).toEqual([])
      await log.harm(harness.verified[what as keyof typeof VERIFIED])
      const found = expect.stringMatching(reason) as unknown
      expect((await log.audit.verify()).damage).toContainEqual(
        expect.objectContaining({ kind, reason: found }),
      )
    })

    it('does not name events that were removed, also after an older one is imported', async () => {
      const log = await openDamaged(harness, harness.none)
      const tenth = await log.audit.get(harness.ids()[10]!)
      await log.audit.store.removeBefore(parseTimestamp(tenth!.created_at)!)
      expect(await log.audit.verify()).toMatchObject({ events: SIZE - 10, damage: [] })
      await log.audit.store.remove([harness.ids()[30]!, harness.ids()[150]!])
      expect(await log.numbers('filter[text_eq]=text 30')).toEqual([])
      expect(await log.audit.verify()).toMatchObject({ events: SIZE - 12, damage: [] })
      const id = randomUUID()
      const created_at = '2001-02-03T04:05:06.000007Z'
      await log.audit.importEvents([{ ...tenth!, id, created_at, attributes: { number: -1 } }])
      expect(await log.numbers('filter[number_lt]=12&filter[sorts]=number')).toEqual([-1, 10, 11])
      expect(await log.numbers('filter[text_eq]=text 5')).toEqual([])
      expect(await log.audit.verify()).toMatchObject({ events: SIZE - 11, damage: [] })
      expect(log.damages).toEqual([])
    })

    it('does not name removed events if a later segment covers their time', async () => {
      const log = await openDamaged(harness, harness.none)
      const { segmentSize } = DAMAGE_TUNING
      const addSegment = async (): Promise<void> => {
        const some = range(0, segmentSize)
        await Promise.all(some.map((n) => log.audit.recordCustom('other', { n })))
        await log.sealer.settled()
      }
      // The current segments are merged, but the next one is not.
      await addSegment()
      await log.audit.store.remove([harness.ids()[30]!])
      const [first] = (await log.audit.list('filter[number_eq]=0')).events
      const created_at = '2001-02-03T04:05:06.000007Z'
      await log.audit.importEvents([{ ...first!, id: randomUUID(), created_at }])
      await addSegment()
      expect(await log.numbers('filter[text_eq]=text 30')).toEqual([])
      expect((await log.audit.verify()).damage).toEqual([])
      expect(log.damages).toEqual([])
    })

    it('finds each damaged segment, and the segment is built again', async () => {
      const log = await openDamaged(harness, harness.allSegments)
      const { damage } = await log.audit.verify()
      const all = Math.floor(SIZE / DAMAGE_TUNING.segmentSize)
      expect(damage.map(({ kind }) => kind)).toEqual(Array(all).fill('segment'))
      await log.sealer.settled()
      expect((await log.audit.verify()).damage).toEqual([])
    })

    it('finds the segments that need a missing name, whose number is not used again', async () => {
      const log = await openDamaged(harness, harness.loseName)
      const { damage } = await log.audit.verify()
      expect(damage.map(({ kind }) => kind)).toContain('segment')
      await log.audit.rebuildIndex()
      expect(await log.numbers('filter[text_eq]=text 150')).toEqual([150])
      expect((await log.audit.verify()).damage).toEqual([])
      await Promise.all(
        range(SIZE, SIZE + 64).map((number) =>
          log.audit.recordCustom('order', { number, more: 1 }),
        ),
      )
      await log.sealer.settled()
      expect(await log.numbers('filter[more_eq]=1&filter[number_lt]=202')).toEqual([200, 201])
      expect(await log.numbers('filter[text_eq]=text 50')).toEqual([50])
      expect((await log.audit.verify()).damage).toEqual([])
    })
  })

  it('rebuildIndex builds all segments anew while events are recorded and lists stay correct', async () => {
    const log = await openDamaged(harness, harness.none)
    const before = (await log.audit.verify()).segments
    const seen: RebuildProgress[] = []
    const rebuilt = log.audit.rebuildIndex({ onProgress: (progress) => void seen.push(progress) })
    const recorded = range(SIZE, SIZE + 70).map((number) =>
      log.audit.recordCustom('order', { number }),
    )
    expect(await log.numbers('filter[text_eq]=text 50')).toEqual([50])
    await Promise.all([rebuilt, ...recorded])
    await log.sealer.settled()
    expect(await log.numbers('filter[number_gteq]=195&limit=20')).toEqual(range(250, 270))
    expect(await log.audit.verify()).toMatchObject({ events: SIZE + 70, damage: [] })
    expect(before).toBeGreaterThan(0)
    expect(seen.length).toBeGreaterThan(0)
    for (const { done, total } of seen) {
      expect(done).toBeLessThanOrEqual(SIZE + 70)
      expect(total).toBeGreaterThan(0)
    }
  })
}
