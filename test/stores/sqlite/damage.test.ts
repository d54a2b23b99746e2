import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import Database from 'better-sqlite3'
import { AuditLog, type Damage, type EventStore } from 'daybook'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { tempDir } from '../../support/temp.js'
import {
  DAMAGE_TUNING,
  type DamageHarness,
  describeDamagedEvents,
  describeDamagedSegments,
  describeVerify,
  recordBase,
} from '../shared/damage.js'

type Harm = (database: Database.Database) => void

const temp = tempDir()
const open: AuditLog[] = []
afterEach(() => Promise.all(open.splice(0).map((audit) => audit.close())))
afterAll(() => temp.remove())

let ids: readonly string[] = []
const base = temp.file('base.db')
beforeAll(async () => {
  const { store, sealer } = createSqliteStore({ filename: base }, { tuning: DAMAGE_TUNING })
  const audit = new AuditLog({ types: {}, store })
  ids = await recordBase(audit)
  await sealer.settled()
  await audit.close()
})

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

const SEGMENTS: Readonly<Record<string, Harm>> = {
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
  'a name of which has changed': (database) =>
    void database.exec(`UPDATE daybook_names SET name = 'texts' WHERE name = 'text'`),
  'a name of which has another number': (database) =>
    void database.exec(`UPDATE daybook_names SET id = id + 1000000 WHERE name = 'text'`),
  'a name of which is gone': (database) =>
    void database.exec(`DELETE FROM daybook_names WHERE name = 'text'`),
  'whose last name is gone': (database) =>
    void database.exec('DELETE FROM daybook_names WHERE id = (SELECT max(id) FROM daybook_names)'),
}

const LOSE: Harm = (database) =>
  void database.exec(`DELETE FROM daybook_events WHERE attributes ->> 'number' = 20`)

const harness: DamageHarness<Harm> = {
  async open(harm) {
    const filename = temp.file(`${randomUUID()}.db`)
    fs.copyFileSync(base, filename)
    const database = new Database(filename)
    harm(database)
    database.close()
    const { store, sealer } = createSqliteStore({ filename }, { tuning: DAMAGE_TUNING })
    return { store, sealer, damage: async () => sqliteTruth(filename).damage }
  },
  opened: (audit) => void open.push(audit),
  none: () => {},
  ids: () => ids,
  events: {
    'whose attributes have changed': FLIP,
    'whose attributes are not readable': TEAR,
    'whose type has changed': RETYPE,
  },
  segments: SEGMENTS,
  allSegments: SEGMENTS['whose keys have changed']!,
  loseName: SEGMENTS['a name of which is gone']!,
  loseEvent: LOSE,
  loseSegment: (database) =>
    void database.exec('UPDATE daybook_segments SET state = 9 WHERE id = 1'),
  steps: ['index', 'file'],
}

describeDamagedEvents(harness)
describeDamagedSegments(harness)
describeVerify(harness)

it('lists stay correct while SQLite cannot read the names of attributes', async () => {
  const { store } = await harness.open((database) => {
    const find = `SELECT rootpage FROM sqlite_schema WHERE name = 'daybook_names'`
    const page = database.prepare(find).pluck().get() as number
    const file = fs.openSync(database.name, 'r+')
    fs.writeSync(file, Buffer.from([0xff]), 0, 1, (page - 1) * 4096)
    fs.closeSync(file)
  })
  const audit = new AuditLog({ types: {}, store })
  open.push(audit)
  const damages: Damage[] = []
  audit.on('damaged', (damage) => damages.push(damage))
  for (const number of [3, 150, 190]) {
    const { events } = await audit.list(`filter[text_eq]=text ${number}`)
    expect(events.map(({ attributes }) => attributes['number'])).toEqual([number])
  }
  expect(damages.length).toBeGreaterThan(0)
  expect(damages.every(({ kind }) => kind === 'segment')).toBe(true)
})

/** Lets columns hold what a flipped bit may make of them. */
const withoutConstraints =
  (table: string, sql: string): Harm =>
  (database) => {
    const { definition } = database
      .prepare('SELECT sql AS definition FROM sqlite_schema WHERE name = ?')
      .get(table) as { readonly definition: string }
    const columns = definition.replaceAll(' NOT NULL', '').replace('STRICT', '')
    database.exec(`ALTER TABLE ${table} RENAME TO intact; ${columns.replace(/STRICT/, '')};
      INSERT INTO ${table} SELECT * FROM intact; DROP TABLE intact; ${sql}`)
  }

const ROWS: readonly (readonly [table: string, what: string, sql: string])[] = [
  ['daybook_index', 'is gone', 'DELETE FROM daybook_index'],
  ['daybook_index', 'has no version', 'UPDATE daybook_index SET version = NULL'],
  ['daybook_index', 'has text for a time', `UPDATE daybook_index SET sealed_to = 'x'`],
  ['daybook_high_water', 'is gone', 'DELETE FROM daybook_high_water'],
  ['daybook_high_water', 'has no time', 'UPDATE daybook_high_water SET created_at = NULL'],
]

it.each(ROWS)(
  'calls fail clearly while the row of %s %s, and verify names it',
  async (table, _, sql) => {
    const copy = (await harness.open(withoutConstraints(table, sql))) as { store: EventStore }
    const audit = new AuditLog({ types: {}, store: copy.store })
    open.push(audit)
    const error = {
      code: 'STORE_FAILED',
      message: expect.stringMatching(
        /^the SQLite file is damaged: the row of .*daybook_\w+ is missing or has no numbers$/,
      ) as unknown,
    }
    await expect(audit.list('filter[text_eq]=text 3')).rejects.toMatchObject(error)
    if (table === 'daybook_high_water')
      await expect(audit.recordCustom('order', {})).rejects.toMatchObject(error)
    const { damage } = await audit.verify()
    expect(damage.map(({ kind, reason }) => [kind, reason.includes(table)])).toContainEqual([
      'database',
      true,
    ])
  },
)

const LIVE_HARM: readonly (readonly [what: string, sql: string])[] = [
  ['has no attributes', 'UPDATE daybook_live SET attributes = NULL WHERE type = $'],
  ['has attributes that are null', `UPDATE daybook_live SET attributes = 'null' WHERE type = $`],
  ['has attributes that are torn', `UPDATE daybook_live SET attributes = '{"a' WHERE type = $`],
  ['has no type', 'UPDATE daybook_live SET type = NULL WHERE type = $'],
  ['has no suffix', 'UPDATE daybook_live SET suffix = NULL WHERE type = $'],
  ['has bytes for a user', `UPDATE daybook_live SET username = x'00ff' WHERE type = $`],
]

it.each(LIVE_HARM)('an open live event whose row %s is left out and reported', async (_, sql) => {
  const filename = temp.file(`${randomUUID()}.db`)
  const types = { 'bad:one': {}, 'good:one': {} }
  const first = new AuditLog({ types, store: createSqliteStore({ filename }, {}).store })
  open.push(first)
  const bad = (await first.recordLive('bad:one', { n: 1 })).event!
  const good = (await first.recordLive('good:one', { n: 2 })).event!
  const database = new Database(filename)
  withoutConstraints('daybook_live', sql.replace('$', `'bad:one'`))(database)
  database.close()

  const audit = new AuditLog({ types: {}, store: createSqliteStore({ filename }, {}).store })
  open.push(audit)
  const damages: Damage[] = []
  audit.on('damaged', (damage) => damages.push(damage))
  for (const query of ['filter[type_end]=:one', 'filter[n_gt]=0', 'filter[n_gt]=0&filter[sorts]=n'])
    expect((await audit.list(query)).events.map(({ id }) => id)).toEqual([good.id])
  expect(damages.length).toBeGreaterThan(0)
  expect(damages.every(({ kind }) => kind === 'event')).toBe(true)
  expect((await audit.verify()).damage).toMatchObject([{ kind: 'event' }])
  expect((await audit.get(good.id))?.attributes).toEqual({ n: 2 })
  if (!sql.includes('suffix'))
    await expect(audit.get(bad.id)).rejects.toMatchObject({ code: 'DAMAGED' })
})
