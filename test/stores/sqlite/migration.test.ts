import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { tempDir } from '../../support/temp.js'

// What these versions made; to be left as it is.
const VERSION_1 = `
  CREATE TABLE daybook_schema (version INTEGER NOT NULL) STRICT;
  INSERT INTO daybook_schema VALUES (1);
  CREATE TABLE daybook_events (
    created_at INTEGER PRIMARY KEY,
    tail TEXT NOT NULL,
    type TEXT NOT NULL,
    username TEXT,
    source TEXT,
    system INTEGER NOT NULL,
    attributes BLOB NOT NULL
  ) STRICT;
  CREATE TABLE daybook_foreign_ids (
    id TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE daybook_high_water (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    created_at INTEGER NOT NULL
  ) STRICT;
  INSERT INTO daybook_high_water VALUES (1, 1700000000000009);
  INSERT INTO daybook_foreign_ids VALUES ('0196b3c2-0000-4000-8000-000000000001', 1600000000000000);
  INSERT INTO daybook_events VALUES
    (1600000000000000, '0196b3c2-0000-4000-8000-000000000001', 'old', NULL, NULL, 0, jsonb('{}')),
    (1700000000000001, '8000000000000001', 'api:x:create', 'ann', '/api/x', 1, jsonb('{"n":1,"a":{"b":[null]}}'))`

const VERSION_2 = `${VERSION_1};
  UPDATE daybook_schema SET version = 2;
  CREATE TABLE daybook_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tail TEXT NOT NULL,
    type TEXT NOT NULL,
    username TEXT,
    source TEXT,
    system INTEGER NOT NULL,
    attributes TEXT NOT NULL CHECK (json_valid(attributes)),
    recorded_at INTEGER NOT NULL
  ) STRICT;
  INSERT INTO daybook_outbox VALUES (7, '8000000000000002', 'waiting', 'eve', NULL, 0, '{"n":2}', 1700000000000005)`

let temp: ReturnType<typeof tempDir>
let filename: string

beforeEach(() => {
  temp = tempDir()
  filename = temp.file('audit.db')
})
afterEach(() => temp.remove())

it.each([
  [1, VERSION_1, []],
  [2, VERSION_2, ['waiting']],
])('a file of version %i keeps what it has, and learns the rest', async (_, made, waiting) => {
  const host = new Database(filename)
  host.exec(made)
  const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
  const { store } = audit
  try {
    const throttle = { key: 'k', scope: {}, period: 60_000_000 }
    const draft = { tail: '8000000000000003', username: null, system: true, type: 'later' }
    const whole = { ...draft, source: null, attributes: {}, json: '{}', throttle }
    await store.enlist!(whole, host)
    expect(await store.append([whole])).toEqual([])
    const live = { ...whole, type: 'live', throttle: undefined, live: true as const }
    const [open] = await store.append([live])
    await store.closeLive(open!.id, { revision: 1, json: '{"n":3}' })
    const { events } = await audit.list({ limit: 100 })
    expect(events.map(({ type }) => type)).toEqual([
      'old',
      'api:x:create',
      ...waiting,
      'later',
      'live',
    ])
    expect(events[0]!.id).toBe('0196b3c2-0000-4000-8000-000000000001')
    expect(events[1]).toEqual({
      id: '018bcfe5-6800-7004-8000-000000000001',
      created_at: '2023-11-14T22:13:20.000001Z',
      username: 'ann',
      system: true,
      type: 'api:x:create',
      source: '/api/x',
      attributes: { n: 1, a: { b: [null] } },
    })
    expect(await audit.get(events[0]!.id)).toEqual(events[0])
    expect(host.prepare('SELECT version FROM daybook_schema').pluck().all()).toEqual([5])
  } finally {
    await audit.close()
    host.close()
  }
})
