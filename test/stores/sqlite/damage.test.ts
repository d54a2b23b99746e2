import Database from 'better-sqlite3'
import { AuditLog, type AuditEvent, type Damage, type QueryInput } from 'daybook'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { tempDir } from '../../support/temp.js'

const temp = tempDir()
const tuning = { segmentSize: 64, fanOut: 4 }
let close: () => Promise<void> = async () => {}
afterEach(() => close())
afterAll(() => temp.remove())

const SIZE = 200

/** A log of {@link SIZE} events, closed; `harm` changes its file. */
async function damagedLog(harm: (database: Database.Database, ids: readonly string[]) => void) {
  const filename = temp.file(`${Math.random().toString(36).slice(2)}.db`)
  const made = new AuditLog({ types: {}, store: createSqliteStore({ filename }, { tuning }).store })
  const events = await Promise.all(
    Array.from({ length: SIZE }, (_, i) =>
      made.recordCustom('order', { number: i, kind: i % 2 ? 'odd' : 'even', text: `text ${i}` }),
    ),
  )
  await made.close()
  const database = new Database(filename)
  const ids = events.map((event) => event!.id)
  harm(database, ids)
  database.close()
  const { store, sealer } = createSqliteStore({ filename }, { tuning })
  const audit = new AuditLog({ types: {}, store })
  const damages: Damage[] = []
  audit.on('damaged', (damage) => damages.push(damage))
  close = () => audit.close()
  const numbers = async (query: QueryInput): Promise<unknown[]> =>
    (await audit.list(query)).events.map(({ attributes }) => attributes['number'])
  return { audit, store, sealer, damages, ids, numbers }
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
    expect(log.damages).toMatchObject([{ kind: 'event', id: log.ids[190] }])
    await log.audit.flush()
    const [event] = (await log.audit.list('filter[type_eq]=warn:audit_log:damage')).events
    expect(event?.attributes).toMatchObject({ count: 1, places: [{ event_id: log.ids[190] }] })
  })

  it('rejects get with DAMAGED', async () => {
    const log = await damagedLog(harm)
    await expect(log.audit.get(log.ids[190]!)).rejects.toMatchObject({ code: 'DAMAGED' })
    expect((await log.audit.get(log.ids[189]!))?.attributes['number']).toBe(189)
  })

  it('does not stop the index from being built', async () => {
    const log = await damagedLog(harm)
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
