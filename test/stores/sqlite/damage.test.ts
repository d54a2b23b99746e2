import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import Database from 'better-sqlite3'
import { AuditLog, type AuditEvent, type Damage, type QueryInput } from 'daybook'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { tempDir } from '../../support/temp.js'

const temp = tempDir()
const tuning = { segmentSize: 64, fanOut: 4 }
let close: () => Promise<void> = async () => {}
afterEach(() => close())
afterAll(() => temp.remove())

const SIZE = 200

let ids: readonly string[] = []
const base = temp.file('base.db')
beforeAll(async () => {
  const { store, sealer } = createSqliteStore({ filename: base }, { tuning })
  const audit = new AuditLog({ types: {}, store })
  const events = await Promise.all(
    Array.from({ length: SIZE }, (_, i) =>
      audit.recordCustom('order', { number: i, kind: i % 2 ? 'odd' : 'even', text: `text ${i}` }),
    ),
  )
  ids = events.map((event) => event!.id)
  await sealer.settled()
  await audit.close()
})

/** A log of {@link SIZE} events, most of them in segments, after `harm` has changed its file. */
async function damagedLog(harm: (database: Database.Database) => void) {
  const filename = temp.file(`${randomUUID()}.db`)
  fs.copyFileSync(base, filename)
  const database = new Database(filename)
  harm(database)
  database.close()
  const { store, sealer } = createSqliteStore({ filename }, { tuning })
  const audit = new AuditLog({ types: {}, store })
  const damages: Damage[] = []
  audit.on('damaged', (damage) => damages.push(damage))
  close = () => audit.close()
  const numbers = async (query: QueryInput): Promise<unknown[]> =>
    (await audit.list(query)).events.map(({ attributes }) => attributes['number'])
  return { audit, filename, sealer, damages, numbers }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i)

/** Changes the stored attributes of event 190. */
const rewrite = (change: (blob: Buffer) => void) => (database: Database.Database) => {
  const at = `FROM daybook_events WHERE attributes ->> 'number' = 190`
  const row = database.prepare(`SELECT created_at, attributes ${at}`).get() as {
    readonly created_at: number
    readonly attributes: Buffer
  }
  change(row.attributes)
  database
    .prepare('UPDATE daybook_events SET attributes = ? WHERE created_at = ?')
    .run(row.attributes, row.created_at)
}
const FLIP = rewrite((blob) => void (blob[blob.indexOf('text 190') + 7] = 0x31))
const TEAR = rewrite((blob) => void (blob[0] = 0xff))
const RETYPE = (database: Database.Database): void =>
  void database.exec(`UPDATE daybook_events SET type = 'ordes' WHERE attributes ->> 'number' = 190`)

describe.each([
  ['whose attributes have changed', FLIP],
  ['whose attributes are not readable', TEAR],
  ['whose type has changed', RETYPE],
])('an event %s', (_, harm) => {
  it('is left out of lists, and reported with its id', async () => {
    const log = await damagedLog(harm)
    expect(await log.numbers({ limit: 15 })).toEqual([...range(184, 190), ...range(191, 200)])
    expect(await log.numbers('filter[number_gteq]=180&filter[number_lt]=195&limit=50')).toEqual([
      ...range(180, 190),
      ...range(191, 195),
    ])
    expect(await log.numbers('filter[kind_eq]=even&filter[sorts]=number desc&limit=7')).toEqual([
      198, 196, 194, 192, 188, 186, 184,
    ])
    expect((await log.audit.count()).total).toBeGreaterThanOrEqual(SIZE - 1)
    expect(log.damages).toMatchObject([{ kind: 'event', id: ids[190] }])
    await log.audit.flush()
    const [event] = (await log.audit.list('filter[type_eq]=warn:audit_log:damage')).events
    expect(event?.attributes).toMatchObject({ count: 1, places: [{ event_id: ids[190] }] })
  })

  it('rejects get with DAMAGED', async () => {
    const log = await damagedLog(harm)
    await expect(log.audit.get(ids[190]!)).rejects.toMatchObject({ code: 'DAMAGED' })
    expect((await log.audit.get(ids[189]!))?.attributes['number']).toBe(189)
  })

  it('does not stop the index from being built', async () => {
    const log = await damagedLog(harm)
    await Promise.all(range(0, 64).map((number) => log.audit.recordCustom('order', { number })))
    await log.sealer.settled()
    expect(await log.numbers('filter[text_eq]=text 150')).toEqual([150])
    expect(await log.numbers('filter[kind_eq]=even&limit=200')).toHaveLength(SIZE / 2 - 1)
  })
})

it('JSON text that is stored and read again is the same', async () => {
  const values = {
    a: 'äöü \u2028 "\\/ 😀',
    b: [1e21, 1e-7, 0.1, -5, 2 ** 53, 1e300],
    c: { d: {}, e: [] },
  }
  const log = await damagedLog(() => {})
  const event = (await log.audit.recordCustom('order', values)) as AuditEvent
  expect((await log.audit.get(event.id))?.attributes).toEqual(values)
})

const flipLast = (database: Database.Database, table: string, column: string): void => {
  const rows = database.prepare(`SELECT id, ${column} AS data FROM ${table}`).all() as {
    readonly id: number
    readonly data: Buffer | string
  }[]
  for (const { id, data } of rows) {
    const bytes = Buffer.from(data)
    bytes[bytes.length - 1]! ^= 1
    const value = typeof data === 'string' ? bytes.toString() : bytes
    database.prepare(`UPDATE ${table} SET ${column} = ? WHERE id = ?`).run(value, id)
  }
}

const HARMS: Readonly<Record<string, (database: Database.Database) => void>> = {
  'whose values have changed': (database) => flipLast(database, 'daybook_chunks', 'vals'),
  'whose postings have changed': (database) => flipLast(database, 'daybook_chunks', 'posts'),
  'whose times have changed': (database) => flipLast(database, 'daybook_segment_times', 'times'),
  'whose first times have changed': (database) =>
    void database.exec('UPDATE daybook_segment_times SET first = first + 1'),
  'whose keys have changed': (database) =>
    void database.exec('UPDATE daybook_chunk_keys SET ordinal = ordinal + 1'),
  'whose row has changed': (database) =>
    void database.exec('UPDATE daybook_segments SET last = last - 1000000'),
  'whose times are gone': (database) => void database.exec('DELETE FROM daybook_segment_times'),
}

const QUERIES: readonly (readonly [query: string, numbers: readonly number[]])[] = [
  ['filter[text_eq]=text 50', [50]],
  ['filter[text_cont]=t 5&limit=20', [5, ...range(50, 60)]],
  ['filter[number_lt]=10', range(0, 10)],
  ['filter[number_lt]=100&filter[kind_eq]=odd&limit=4', [93, 95, 97, 99]],
  ['filter[number_gteq]=20&filter[sorts]=number asc&limit=3', [20, 21, 22]],
  ['filter[kind_not_eq]=odd&filter[type_eq]=order&limit=3', [194, 196, 198]],
]

describe.each(Object.entries(HARMS))('a segment %s', (_, harm) => {
  it('is set aside, and built anew, while lists stay right', async () => {
    const log = await damagedLog(harm)
    const answers = async (): Promise<unknown[]> =>
      Promise.all(QUERIES.map(async ([query]) => log.numbers(query)))
    const right = QUERIES.map(([, numbers]) => numbers)
    expect(await answers()).toEqual(right)
    expect(log.damages.length).toBeGreaterThan(0)
    expect(log.damages.every(({ kind }) => kind === 'segment')).toBe(true)
    await log.sealer.settled()
    const found = log.damages.length
    expect(await answers()).toEqual(right)
    expect(sqliteTruth(log.filename).damage).toEqual([])
    expect(log.damages).toHaveLength(found)
  })
})

describe('verify', () => {
  it('finds nothing in a log without damage, and reports how far it is', async () => {
    const log = await damagedLog(() => {})
    const steps = new Set<string>()
    const result = await log.audit.verify({ onProgress: ({ step }) => steps.add(step) })
    expect(result).toMatchObject({ events: SIZE, damage: [] })
    expect(result.segments).toBeGreaterThan(1)
    expect([...steps]).toEqual(['index', 'file'])
  })

  it('names damaged events, events that are gone, and events that no segment has', async () => {
    const log = await damagedLog((database) => {
      FLIP(database)
      const at = `(SELECT created_at FROM daybook_events WHERE attributes ->> 'number' = 20)`
      database.exec(`DELETE FROM daybook_events WHERE created_at = ${at}`)
    })
    const { damage } = await log.audit.verify()
    expect(damage).toMatchObject([{ kind: 'event', id: ids[190] }, { kind: 'missing' }])
    expect(await log.numbers('filter[number_eq]=20')).toEqual([])

    const other = await damagedLog(
      (database) => void database.exec('UPDATE daybook_segments SET state = 9 WHERE id = 1'),
    )
    expect((await other.audit.verify()).damage).toMatchObject([{ kind: 'index' }])
    await other.audit.rebuildIndex()
    expect((await other.audit.verify()).damage).toEqual([])
    expect(await other.numbers('filter[text_eq]=text 3')).toEqual([3])
  })

  it('finds each damaged segment, which is then built anew', async () => {
    const log = await damagedLog(HARMS['whose keys have changed']!)
    const { damage, segments } = await log.audit.verify()
    expect(segments).toBeGreaterThan(1)
    expect(damage.map(({ kind }) => kind)).toEqual(Array(segments).fill('segment'))
    await log.sealer.settled()
    expect((await log.audit.verify()).damage).toEqual([])
  })

  it('ends when its signal aborts', async () => {
    const log = await damagedLog(() => {})
    await expect(log.audit.verify({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })
})

it('a list reports an event that the index has and that is gone', async () => {
  const log = await damagedLog(
    (database) =>
      void database.exec(`DELETE FROM daybook_events WHERE attributes ->> 'number' = 20`),
  )
  expect(await log.numbers('filter[text_eq]=text 20')).toEqual([])
  expect(log.damages).toMatchObject([{ kind: 'missing' }])
})

it('rebuildIndex builds all segments anew while events are recorded and lists are right', async () => {
  const log = await damagedLog(() => {})
  const before = (await log.audit.verify()).segments
  const rebuilt = log.audit.rebuildIndex()
  const recorded = range(SIZE, SIZE + 70).map((number) =>
    log.audit.recordCustom('order', { number }),
  )
  expect(await log.numbers('filter[text_eq]=text 50')).toEqual([50])
  await Promise.all([rebuilt, ...recorded])
  await log.sealer.settled()
  expect(await log.numbers('filter[number_gteq]=195&limit=20')).toEqual(range(250, 270))
  expect(await log.audit.verify()).toMatchObject({ events: SIZE + 70, damage: [] })
  expect(before).toBeGreaterThan(0)
})
