import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { tempDir } from '../../support/temp.js'
import {
  DAMAGE_TUNING,
  type DamageHarness,
  describeDamagedEvents,
  describeDamagedRows,
  describeDamagedSegments,
  describeVerify,
  recordBase,
  watchDamage,
} from '../shared/damage.js'

type Harm = (database: Database.Database) => void

const temp = tempDir()
const open: AuditLog[] = []
afterEach(() => Promise.all(open.splice(0).map((audit) => audit.close())))
afterAll(() => temp.remove())

const openStore = (filename: string) => createSqliteStore({ filename }, { tuning: DAMAGE_TUNING })

let ids: readonly string[] = []
const base = temp.file('base.db')
beforeAll(async () => {
  const { store, sealer } = openStore(base)
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

/** Removes the constraints of columns, because a flipped bit ignores them. */
const withoutConstraints =
  (table: string, sql: string): Harm =>
  (database) => {
    const find = 'SELECT sql FROM sqlite_schema WHERE name = ?'
    const definition = database.prepare(find).pluck().get(table) as string
    const columns = definition.replaceAll(' NOT NULL', '').replace('STRICT', '')
    database.exec(`ALTER TABLE ${table} RENAME TO intact; ${columns};
      INSERT INTO ${table} SELECT * FROM intact; DROP TABLE intact; ${sql}`)
  }

const ROWS: readonly (readonly [table: string, what: string, sql: string])[] = [
  ['daybook_index', 'is gone', 'DELETE FROM daybook_index'],
  ['daybook_index', 'has no version', 'UPDATE daybook_index SET version = NULL'],
  ['daybook_index', 'has text for a time', `UPDATE daybook_index SET sealed_to = 'x'`],
  ['daybook_high_water', 'is gone', 'DELETE FROM daybook_high_water'],
  ['daybook_high_water', 'has no time', 'UPDATE daybook_high_water SET created_at = NULL'],
]

const harness: DamageHarness<Harm> = {
  async open(harm) {
    const filename = temp.file(`${randomUUID()}.db`)
    fs.copyFileSync(base, filename)
    const doHarm = (harm: Harm): void => {
      const database = new Database(filename)
      harm(database)
      database.close()
    }
    doHarm(harm)
    return {
      ...openStore(filename),
      damage: async () => sqliteTruth(filename).damage,
      harm: doHarm,
      reopen: () => openStore(filename).store,
    }
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
  verified: {
    'the ids of imported events are gone': (database) =>
      void database.exec('DELETE FROM daybook_foreign_ids'),
    'the high-water mark is before the newest event': (database) =>
      void database.exec('UPDATE daybook_high_water SET created_at = created_at - 1000000000'),
    'a chunk of each segment is gone': (database) =>
      void database.exec('DELETE FROM daybook_chunk_keys WHERE chunk = 1'),
    'the last chunk of each segment is gone': (database) =>
      void database.exec(`DELETE FROM daybook_chunk_keys WHERE (segment, chunk) IN
        (SELECT segment, max(chunk) FROM daybook_chunk_keys GROUP BY segment)`),
    'no event is late': (database) => void database.exec('DELETE FROM daybook_late'),
  },
  withoutConstraints,
  liveTable: 'daybook_live',
  live: [
    'attributes = NULL',
    `attributes = 'null'`,
    `attributes = '{"a'`,
    'type = NULL',
    `username = x'00ff'`,
  ],
  liveWithoutId: ['suffix = NULL'],
  rows: ROWS.map(([table, what, sql]) => ({
    ...{ table, what, sql },
    stopsRecording: table === 'daybook_high_water',
  })),
  rowsError: /^the SQLite file is damaged: the row of .*daybook_\w+ is missing or has no numbers$/,
  steps: ['index', 'file'],
}

describeDamagedEvents(harness)
describeDamagedRows(harness)
describeDamagedSegments(harness)
describeVerify(harness)

it('lists stay correct while SQLite cannot read the names of attributes', async () => {
  const copy = await harness.open((database) => {
    const find = `SELECT rootpage FROM sqlite_schema WHERE name = 'daybook_names'`
    const page = database.prepare(find).pluck().get() as number
    const file = fs.openSync(database.name, 'r+')
    fs.writeSync(file, Buffer.from([0xff]), 0, 1, (page - 1) * 4096)
    fs.closeSync(file)
  })
  const { damages, numbers } = watchDamage(harness, copy)
  for (const number of [3, 150, 190])
    expect(await numbers(`filter[text_eq]=text ${number}`)).toEqual([number])
  expect(damages.length).toBeGreaterThan(0)
  expect(damages.every(({ kind }) => kind === 'segment')).toBe(true)
})
