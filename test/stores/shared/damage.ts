import { randomUUID } from 'node:crypto'
import type { AuditEvent, AuditLog, Damage, EventStore, QueryInput, RebuildProgress } from 'daybook'
import { AuditLog as Log } from 'daybook'
import { describe, expect, it } from 'vitest'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import type { Sealer } from '../../../src/store-kit/index-builder/sealer.js'

export const DAMAGE_TUNING = { segmentSize: 64, fanOut: 4 }

const SIZE = 200

/** A store on a copy of the log of {@link recordBase}. */
export interface CopiedLog {
  readonly store: EventStore
  readonly sealer: Sealer
  /** What is wrong with the index of the copy. */
  damage(): Promise<readonly string[]>
}

/** How one store damages a copy of the log. */
export interface DamageHarness<Harm> {
  /** Opens a copy after the harm was done to it; the log is closed after the test. */
  open(harm: Harm): Promise<CopiedLog>
  /** Called with the log, to be closed after the test. */
  opened(audit: AuditLog): void
  readonly none: Harm
  /** The ids of the events of the base, in their order. */
  ids(): readonly string[]
  /** Harm to event 190, by what is wrong with it. */
  readonly events: Readonly<Record<string, Harm>>
  /** Harm to the segments, by what is wrong with them. */
  readonly segments: Readonly<Record<string, Harm>>
  /** Harm to rows of every segment. */
  readonly allSegments: Harm
  /** Removes a name of the index. */
  readonly loseName: Harm
  /** Removes event 20 behind the back of the store. */
  readonly loseEvent: Harm
  /** Takes a visible segment out of the list of segments. */
  readonly loseSegment: Harm
  /** The steps of `verify` in a log this small. */
  readonly steps: readonly string[]
}

/** Records the events of the base; returns their ids. */
export async function recordBase(audit: AuditLog): Promise<readonly string[]> {
  const events = await Promise.all(
    Array.from({ length: SIZE }, (_, i) =>
      audit.recordCustom('order', { number: i, kind: i % 2 ? 'odd' : 'even', text: `text ${i}` }),
    ),
  )
  return events.map((event) => event!.id)
}

async function openDamaged<Harm>(harness: DamageHarness<Harm>, harm: Harm) {
  const { store, sealer, damage } = await harness.open(harm)
  const audit = new Log({ types: {}, store })
  harness.opened(audit)
  const damages: Damage[] = []
  audit.on('damaged', (one) => damages.push(one))
  const numbers = async (query: QueryInput): Promise<unknown[]> =>
    (await audit.list(query)).events.map(({ attributes }) => attributes['number'])
  return { audit, sealer, damage, damages, numbers }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i)

/** What a store does with an event that is not what was written. */
export function describeDamagedEvents<Harm>(harness: DamageHarness<Harm>): void {
  describe.each(Object.entries(harness.events))('an event %s', (_, harm) => {
    it('is left out of lists, and reported with its id', async () => {
      const log = await openDamaged(harness, harm)
      const id = harness.ids()[190]
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
    })

    it('rejects get with DAMAGED', async () => {
      const log = await openDamaged(harness, harm)
      const [before, id] = harness.ids().slice(189)
      await expect(log.audit.get(id!)).rejects.toMatchObject({ code: 'DAMAGED' })
      expect((await log.audit.get(before!))?.attributes['number']).toBe(189)
    })

    it('does not stop the index from being built', async () => {
      const log = await openDamaged(harness, harm)
      await Promise.all(range(0, 64).map((number) => log.audit.recordCustom('order', { number })))
      await log.sealer.settled()
      expect(await log.numbers('filter[text_eq]=text 150')).toEqual([150])
      expect(await log.numbers('filter[kind_eq]=even&limit=200')).toHaveLength(SIZE / 2 - 1)
    })

    it('is named by verify', async () => {
      const log = await openDamaged(harness, harm)
      const { damage } = await log.audit.verify()
      expect(damage).toMatchObject([{ kind: 'event', id: harness.ids()[190] }])
    })
  })

  it('JSON text that is stored and read again is the same', async () => {
    const values = {
      a: 'äöü \u2028 "\\/ 😀',
      b: [1e21, 1e-7, 0.1, -5, 2 ** 53, 1e300],
      c: { d: {}, e: [] },
    }
    const log = await openDamaged(harness, harness.none)
    const event = (await log.audit.recordCustom('order', values)) as AuditEvent
    expect((await log.audit.get(event.id))?.attributes).toEqual(values)
  })
}

const QUERIES: readonly (readonly [query: string, numbers: readonly number[]])[] = [
  ['filter[text_eq]=text 50', [50]],
  ['filter[text_cont]=t 5&limit=20', [5, ...range(50, 60)]],
  ['filter[number_lt]=10', range(0, 10)],
  ['filter[number_lt]=100&filter[kind_eq]=odd&limit=4', [93, 95, 97, 99]],
  ['filter[number_gteq]=20&filter[sorts]=number asc&limit=3', [20, 21, 22]],
  ['filter[kind_not_eq]=odd&filter[type_eq]=order&limit=3', [194, 196, 198]],
]

/** What a store does with segments that are not what was written. */
export function describeDamagedSegments<Harm>(harness: DamageHarness<Harm>): void {
  describe.each(Object.entries(harness.segments))('a segment %s', (_, harm) => {
    it('is set aside, and built anew, while lists stay correct', async () => {
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
    it('finds nothing in a log without damage, and reports how far it is', async () => {
      const log = await openDamaged(harness, harness.none)
      const steps = new Set<string>()
      const result = await log.audit.verify({ onProgress: ({ step }) => steps.add(step) })
      expect(result).toMatchObject({ events: SIZE, damage: [] })
      expect(result.segments).toBeGreaterThan(1)
      expect([...steps]).toEqual(harness.steps)
    })

    it('names events that are gone, and events that no segment has', async () => {
      const log = await openDamaged(harness, harness.loseEvent)
      expect((await log.audit.verify()).damage).toMatchObject([{ kind: 'missing' }])
      expect(await log.numbers('filter[number_eq]=20')).toEqual([])

      const other = await openDamaged(harness, harness.loseSegment)
      expect((await other.audit.verify()).damage).toMatchObject([{ kind: 'index' }])
      await other.audit.rebuildIndex()
      expect((await other.audit.verify()).damage).toEqual([])
      expect(await other.numbers('filter[text_eq]=text 3')).toEqual([3])
    })

    it('does not name events that were removed', async () => {
      const log = await openDamaged(harness, harness.none)
      await log.audit.store.remove([harness.ids()[30]!, harness.ids()[150]!])
      expect(await log.numbers('filter[text_eq]=text 30')).toEqual([])
      expect(log.damages).toEqual([])
      const tenth = await log.audit.get(harness.ids()[10]!)
      await log.audit.store.removeBefore(parseTimestamp(tenth!.created_at)!)
      expect(await log.audit.verify()).toMatchObject({ events: SIZE - 12, damage: [] })
    })

    it('does not name removed events if an older one is imported', async () => {
      const log = await openDamaged(harness, harness.none)
      const tenth = await log.audit.get(harness.ids()[10]!)
      await log.audit.store.removeBefore(parseTimestamp(tenth!.created_at)!)
      const id = randomUUID()
      const created_at = '2001-02-03T04:05:06.000007Z'
      await log.audit.importEvents([{ ...tenth!, id, created_at, attributes: { number: -1 } }])
      expect(await log.numbers('filter[number_lt]=12&filter[sorts]=number')).toEqual([-1, 10, 11])
      expect(await log.numbers('filter[text_eq]=text 5')).toEqual([])
      expect(await log.audit.verify()).toMatchObject({ events: SIZE - 9, damage: [] })
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
      // The segments so far are merged, and the next one is not.
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

    it('finds each damaged segment, which is then built anew', async () => {
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

    it('ends when its signal aborts', async () => {
      const log = await openDamaged(harness, harness.none)
      await expect(log.audit.verify({ signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'ABORTED',
      })
    })
  })

  it('a list reports an event that the index has and that is gone', async () => {
    const log = await openDamaged(harness, harness.loseEvent)
    expect(await log.numbers('filter[text_eq]=text 20')).toEqual([])
    expect(log.damages).toMatchObject([{ kind: 'missing' }])
    const sorted = await log.numbers('filter[number_gteq]=19&filter[sorts]=number asc&limit=2')
    expect(sorted).toEqual([19, 21])
    expect(log.damages).toHaveLength(1)
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
