import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type AuditEvent, type EventStore, formatTimestamp, verifyArchive } from 'daybook'
import { manualClock } from 'daybook/testing'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readManifest } from '../../../src/cleaning/manifest.js'
import type { CleaningOptions, CleaningRule } from '../../../src/cleaning/rule.js'
import { runScript } from '../../support/child.js'
import { eventAt } from '../../support/imported-event.js'
import { useSchemas } from '../../support/schemas.js'
import { tempDir } from '../../support/temp.js'
import { openWorld, type World } from '../shared/cleaning-world.js'
import { partitionRule } from './archived-partitions.js'

const { database, schema, query, openStore } = useSchemas('partitions')

const DAY = 86_400_000_000
const DAYS = 4
const PER_DAY = 40

interface Filled {
  readonly world: World
  readonly store: EventStore
  /** The events that are due, oldest first. */
  readonly due: readonly AuditEvent[]
  readonly directory: string
  readonly clock: ReturnType<typeof manualClock>
}

/** A log with due events of some days, and with events of one day that is not due. */
async function fillLog(
  rule: (directory: string) => CleaningRule = partitionRule,
  cleaning: Partial<CleaningOptions> = {},
): Promise<Filled> {
  const clock = manualClock('2026-10-01T12:00:00Z')
  const temp = tempDir()
  onTestFinished(temp.remove)
  const directory = temp.file('lake')
  const store = openStore({ partitions: 'day', clock })
  const world = openWorld(store, { rules: [rule(directory)], ...cleaning })
  onTestFinished(() => world.close())
  for (let day = 0; day < DAYS; day++) {
    const some = Array.from({ length: PER_DAY }, (_, n) =>
      world.audit.recordCustom('old', { n, day }),
    )
    await Promise.all(some)
    await world.audit.importEvents([eventAt(clock() - 60_000_000, { type: 'imported' })])
    clock.advance(DAY)
  }
  const due = await world.all()
  clock.advance(20 * DAY)
  await world.audit.recordCustom('new')
  await untilSettled()
  return { world, store, due, directory, clock }
}

/** Waits for transactions of other tests that may have begun before the events were stored. */
const untilSettled = (): Promise<void> =>
  vi.waitFor(
    async () => {
      const rows = await query(
        `SELECT FROM %events
         WHERE xmin::text::bigint >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint LIMIT 1`,
      )
      expect(rows).toEqual([])
    },
    { timeout: 60_000, interval: 20 },
  )

async function partitionsOf(): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = '${schema()}'::regnamespace AND relkind = 'r' AND relname ~ '^events_' ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}

const isOld = (partition: string): boolean => partition < 'events_20261005'

const idsOf = (events: readonly AuditEvent[]): string[] => events.map(({ id }) => id).toSorted()

/** The events in the files, in the order of the manifest. */
async function archivedIn(directory: string): Promise<readonly AuditEvent[]> {
  expect((await verifyArchive(directory)).faults).toEqual([])
  const events: AuditEvent[] = []
  for await (const { file } of readManifest(directory)) {
    const lines = gunzipSync(readFileSync(path.join(directory, file))).toString('utf8')
    for (const line of lines.split('\n').slice(0, -1)) events.push(JSON.parse(line) as AuditEvent)
  }
  return events
}

/** Everything that was due is in the archive once, and the rest in the log. */
async function checkArchived({ world, due, directory }: Filled, late: readonly AuditEvent[] = []) {
  expect(await archivedIn(directory)).toEqual([...due, ...late])
  const left = (await world.all()).filter(({ type }) => !type.includes(':data_cleanup:'))
  expect(left.map(({ type }) => type)).toEqual(['new'])
  expect((await partitionsOf()).filter(isOld)).toEqual([])
  const rows = await query(
    `SELECT created_at FROM %foreign_ids UNION ALL
     SELECT 0 FROM %state WHERE starts_with(key, 'cleaning-archive')`,
  )
  expect(rows).toEqual([])
}

/** Lets an import write its event, and then keeps the transaction open. Returns a function that lets it commit. */
async function holdImport(world: World, event: AuditEvent): Promise<() => Promise<void>> {
  const host = new pg.Client({ connectionString: database().url })
  await host.connect()
  await host.query('BEGIN')
  await host.query(`LOCK TABLE ${schema()}.late_events IN ACCESS EXCLUSIVE MODE`)
  const imported = world.audit.importEvents([event])
  await untilWaiting('late_events')
  return async () => {
    await host.query('ROLLBACK')
    await host.end()
    await imported
  }
}

/** Waits until a statement with this text waits for a lock. */
const untilWaiting = (text: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const { rows } = await database().pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
        [`%${text}%`],
      )
      expect(rows).toHaveLength(1)
    },
    { timeout: 60_000, interval: 10 },
  )

it('archives whole partitions, then drops them', async () => {
  const log = await fillLog()
  const [result] = await log.world.cleaning.run()
  expect(result).toMatchObject({
    removed_count: DAYS * (PER_DAY + 1),
    archived_count: DAYS * (PER_DAY + 1),
  })
  await checkArchived(log)
  // Files do not end with the partitions.
  expect((await verifyArchive(log.directory)).files).toBe(Math.ceil((DAYS * (PER_DAY + 1)) / 25))
})

it.each([
  ['a filter', { filter: 'filter[n_lt]=10' }, {}],
  ['a hold', {}, { holds: [{ name: 'a case', filter: 'filter[n_lt]=10' }] }],
])('a rule with %s leaves the other events of a partition', async (_, rule, cleaning) => {
  const isSmall = ({ attributes }: AuditEvent): boolean => Number(attributes['n'] ?? 99) < 10
  const isRemoved = (event: AuditEvent): boolean => isSmall(event) === 'filter' in rule
  const log = await fillLog((directory) => ({ ...partitionRule(directory), ...rule }), cleaning)
  await log.world.cleaning.run()
  expect(idsOf(await archivedIn(log.directory))).toEqual(idsOf(log.due.filter(isRemoved)))
  const left = (await log.world.all()).filter(({ type }) => type === 'old' || type === 'imported')
  expect(idsOf(left)).toEqual(idsOf(log.due.filter((event) => !isRemoved(event))))
})

it('archives each event that is imported during the run once', async () => {
  const archived: AuditEvent[] = []
  const late: AuditEvent[] = []
  let world: World | undefined
  const log = await fillLog(() => ({
    target: 'events',
    maxAge: { days: 10 },
    async archive(events) {
      archived.push(...events)
      if (late.length > 0) return
      // Times in each of the partitions, before and after the events that have been read.
      const times = Array.from({ length: DAYS }, (_, day) => Date.UTC(2026, 9, 1 + day) * 1000)
      const some = times.flatMap((time) => [time + 1, time + DAY - 1])
      late.push(...some.map((time) => eventAt(time)))
      await world!.audit.importEvents(late)
    },
  }))
  world = log.world
  const [result] = await world.cleaning.run()
  expect(result).not.toHaveProperty('error')
  expect(archived).toEqual([...log.due, ...late])
  expect(result).toMatchObject({ removed_count: archived.length, archived_count: archived.length })
  expect((await world.all()).map(({ type }) => type)).toEqual(['new', 'info:data_cleanup:events'])
})

it('continues a run that has failed', async () => {
  const archived: AuditEvent[] = []
  let pages = 0
  const { world, due } = await fillLog(() => ({
    target: 'events',
    maxAge: { days: 10 },
    async archive(events) {
      if (++pages === 3) throw new Error('the disk is full')
      archived.push(...events)
    },
  }))
  const [failed] = await world.cleaning.run()
  expect(failed).toMatchObject({ error: 'the disk is full', removed_count: 2 * (PER_DAY + 1) })
  const [result] = await world.cleaning.run()
  expect(result).toMatchObject({ removed_count: 2 * (PER_DAY + 1) })
  expect(archived).toEqual(due)
})

it('archives events again if their file has disappeared', async () => {
  const log = await fillLog()
  const { world, store, due, directory } = log
  const { snapshot } = await store.removableRanges!(0)
  const after = Date.UTC(2026, 9, 3) * 1000
  const progress = { snapshot, after, file: path.join(directory, 'gone.ndjson.gz'), skipped: [] }
  await store.updateState('cleaning-archive:events', () => progress)
  const [result] = await world.cleaning.run()
  expect(result).toMatchObject({ archived_count: due.length, removed_count: due.length })
  await checkArchived(log)
})

it('leaves a partition with a damaged event, and removes its other events', async () => {
  const { world, store, due, directory } = await fillLog()
  const { ranges } = await store.removableRanges!(Date.UTC(2026, 9, 6) * 1000)
  const [, damaged] = ranges
  await database().pool.query(
    `UPDATE ${schema()}.${damaged!.name} SET checksum = checksum + 1 WHERE type = 'imported'`,
  )
  const [result] = await world.cleaning.run()
  expect(result).not.toHaveProperty('error')
  expect((await partitionsOf()).filter(isOld)).toEqual([damaged!.name])
  // Events that were read before the damaged one are archived twice.
  const good = due.filter(
    ({ type, created_at }) => type === 'old' || !created_at.startsWith('2026-10-02'),
  )
  expect([...new Set(idsOf(await archivedIn(directory)))]).toEqual(idsOf(good))
  const left = await database().pool.query(`SELECT type FROM ${schema()}.${damaged!.name}`)
  expect(left.rows).toEqual([{ type: 'imported' }])
})

it('keeps an event whose import ends while its partition is detached', async () => {
  const { world, store } = await fillLog()
  const before = Date.UTC(2026, 9, 6) * 1000
  const { snapshot, ranges } = await store.removableRanges!(before)
  const late = eventAt(ranges[0]!.from + 1)
  const commit = await holdImport(world, late)
  const removing = store.removeRange!(ranges[0]!, { snapshot })
  await untilWaiting('DETACH PARTITION')
  await commit()
  expect(await removing).toBe(PER_DAY + 1)
  expect((await world.audit.list('limit=1&filter[sorts]=created_at')).events).toEqual([late])
  expect(await partitionsOf()).toContain(ranges[0]!.name)
  expect(await world.audit.get(late.id)).toEqual(late)
})

it.each(['detached', 'being detached'])(
  'goes on after a process was killed while a partition was %s',
  { timeout: 180_000 },
  async (state) => {
    const log = await fillLog()
    const { world, directory, clock } = log
    const late = eventAt(Date.UTC(2026, 9, 1) * 1000 + 1)
    const commit = await holdImport(world, late)
    // Starts after the newest event.
    const args = [database().url, schema(), directory, formatTimestamp(clock() + 1_000_000)]
    const child = runScript('test/stores/postgres/archiving-child.ts', args)
    await Promise.race([untilWaiting('DETACH PARTITION'), child.ended])
    expect(child.stderr()).toBe('')
    await child.kill('SIGKILL')
    const end = async (): Promise<void> => {
      await database().pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%DETACH PARTITION%' AND pid <> pg_backend_pid()
         AND datname = current_database()`,
      )
    }
    if (state === 'being detached') await end()
    await commit()
    await vi.waitFor(
      async () => {
        const { rows } = await database().pool.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE '%DETACH PARTITION%' AND pid <> pg_backend_pid()
           AND datname = current_database()`,
        )
        expect(rows).toEqual([])
      },
      { timeout: 60_000, interval: 20 },
    )
    // Longer than the lease of the process.
    clock.advance(60_000_000)
    const [result] = await world.cleaning.run()
    expect(result).not.toHaveProperty('error')
    // Drops the new partition of the late event.
    await world.cleaning.run()
    await checkArchived(log, [late])
  },
)

it('puts unarchived events back when the partition of a detached table is made again', async () => {
  const { world, store } = await fillLog()
  const before = Date.UTC(2026, 9, 6) * 1000
  const { snapshot, ranges } = await store.removableRanges!(before)
  const [range] = ranges
  const late = [eventAt(range!.from + 1), eventAt(range!.from + 2)]
  await world.audit.importEvents([late[0]!])
  const table = `${schema()}.${range!.name}`
  await database().pool.query(
    `COMMENT ON TABLE ${table} IS 'daybook: its events of ${snapshot} are archived'`,
  )
  await database().pool.query(`ALTER TABLE ${schema()}.events DETACH PARTITION ${table}`)
  await world.audit.importEvents([late[1]!])
  const { events } = await world.audit.list(
    `filter[created_at_lt]=${formatTimestamp(range!.to)}&filter[sorts]=created_at`,
  )
  expect(events).toEqual(late)
})

it('puts all events back that another cluster has archived', async () => {
  const { world, store, due } = await fillLog()
  const before = Date.UTC(2026, 9, 6) * 1000
  const { ranges } = await store.removableRanges!(before)
  const table = `${schema()}.${ranges[0]!.name}`
  await database().pool.query(
    `COMMENT ON TABLE ${table} IS 'daybook: its events of 1:99999999 are archived'`,
  )
  await database().pool.query(`ALTER TABLE ${schema()}.events DETACH PARTITION ${table}`)
  expect((await world.all()).length).toBe(due.length - PER_DAY)
  expect((await store.removableRanges!(before, { snapshot: '1:99999999' })).snapshot).not.toBe(
    '1:99999999',
  )
  expect((await world.all()).slice(0, -1)).toEqual(due)
})
