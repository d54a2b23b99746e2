import Database from 'better-sqlite3'
import { type AuditEvent, AuditLog, type EventStore, formatTimestamp } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it } from 'vitest'
import { compareIndex } from '../../adapters/cli/run/compare-index.js'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { tempDir } from '../support/temp.js'
import { runCli } from './run-cli.js'

const options = { all: true, signal: new AbortController().signal, onProgress() {} }

async function recordSome(audit: AuditLog): Promise<void> {
  for (let n = 0; n < 300; n++) {
    const data = { n, is_odd: n % 2 === 1, box: { name: `größe ${n % 7}`, parts: [n] }, none: null }
    void audit.recordCustom(`kind:${n % 5}`, data, { username: `user ${n % 3}` })
  }
  await audit.flush()
}

/** A store whose counts lack one event if they have a filter on an attribute. */
function miscounting(store: EventStore): EventStore {
  return {
    ...store,
    async count(query, options) {
      const counts = await store.count(query, options)
      const names = JSON.stringify(query.where ?? {}).matchAll(/"attributes":\["(\w+)"/g)
      const isRange = [...names].every(([, name]) => name === 'created_at')
      return isRange ? counts : { ...counts, total: counts.total - 1 }
    },
  }
}

it('an index that is right has no differences', async () => {
  await using audit = new AuditLog({ store: memoryStore(), types: {} })
  await recordSome(audit)
  expect(await compareIndex(audit, options)).toEqual([])
  expect(await compareIndex(audit, { ...options, all: false })).toEqual([])
})

it('an index that lacks events has differences, with the filters that show them', async () => {
  await using audit = new AuditLog({ store: miscounting(memoryStore()), types: {} })
  await recordSome(audit)
  const found = await compareIndex(audit, options)
  expect(found.length).toBeGreaterThan(0)
  for (const { filter, read, counted } of found) {
    expect(counted).toBe(read - 1)
    const { events } = await audit.list(`${filter}&limit=1000`)
    expect(events).toHaveLength(read)
  }
})

it('an empty log has no differences', async () => {
  await using audit = new AuditLog({ store: memoryStore(), types: {} })
  expect(await compareIndex(audit, options)).toEqual([])
})

const SIZE = 40_000
/** 2026-01-01T00:00:00Z */
const START = 1_767_225_600_000_000

/** A log whose events have the word, and whose index is complete. */
async function writeLog(filename: string, word: string): Promise<void> {
  const { store, sealer } = createSqliteStore({ filename })
  await using audit = new AuditLog({ store, types: {} })
  const event = (n: number): AuditEvent => ({
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    created_at: formatTimestamp(START + n),
    username: null,
    system: true,
    type: 'own',
    source: null,
    attributes: { word },
  })
  for (let at = 0; at < SIZE; at += 5000)
    await audit.importEvents(Array.from({ length: 5000 }, (_, n) => event(at + n)))
  await sealer.settled()
}

const INDEX_TABLES = [
  'daybook_names',
  'daybook_segments',
  'daybook_segment_times',
  'daybook_chunks',
  'daybook_chunk_keys',
]

it('verify finds an index of other values, although its checksums are right', async () => {
  const temp = tempDir()
  const [file, other] = [temp.file('audit.db'), temp.file('other.db')]
  try {
    await writeLog(file, 'right')
    await writeLog(other, 'wrong')
    expect(await runCli(['verify', file, '--all'])).toMatchObject({ exit: 0 })
    const database = new Database(file)
    database.exec(`ATTACH '${other}' AS other`)
    for (const table of INDEX_TABLES)
      database.exec(
        `DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM other.${table}`,
      )
    database.close()
    await using audit = new AuditLog({ store: sqliteStore({ filename: file }), types: {} })
    expect((await audit.verify()).damage).toEqual([])
    const { exit, stdout } = await runCli(['verify', file, '--all'])
    expect(exit).toBe(1)
    expect(stdout).toMatch(
      /^index: filter\[word_eq\]=right: .* events by the index, 40,000 by reading/m,
    )
  } finally {
    temp.remove()
  }
})
