import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { AuditEvent, EventDraft, EventStore, JsonObject } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createConnection } from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import type { EventRow } from '../../../adapters/sqlite/schema/rows.js'
import { scanEvents } from '../../../adapters/sqlite/read/scan.js'
import { createTables, type Tables } from '../../../adapters/sqlite/schema/log-tables.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { runScript } from '../../support/child.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

const file = useSqliteFile()
afterEach(() => void vi.useRealTimers())

const openStore = (): EventStore => file.closing(sqliteStore({ filename: file.filename }))

const openDraft = (attributes: JsonObject = {}): EventDraft => draft(attributes, { live: true })

describe('an open event whose process has died', () => {
  // The store uses timers and `performance.now`. The test advances both.
  const pass = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(1000 * seconds)
  const FAKED = { toFake: ['setTimeout', 'clearTimeout', 'performance'] as const }
  const useFakeTimers = (): unknown => vi.useFakeTimers({ toFake: [...FAKED.toFake] })

  it('is closed in its last state and marked as unfinished', async () => {
    const child = runScript('test/stores/sqlite/open-child.ts', [file.filename])
    await child.saw('\n')
    await child.kill()
    const id = child.stdout().trim()
    useFakeTimers()
    const store = openStore()
    let hints = 0
    store.watch(() => hints++)
    await pass(15)
    expect(await store.openEvents()).toEqual([{ id, revision: 1 }])
    expect(hints).toBe(0)
    await pass(20)
    expect(await store.openEvents()).toEqual([])
    expect((await store.get(id))!.attributes).toEqual({
      log: 'so far',
      stage: 2,
      unfinished: true,
    })
    // Waits until the disk has the event, which takes real time.
    while (hints === 0) await nextTurn()
    expect(await store.changeLive(id, { revision: 2 })).toBe(false)
    const database = new Database(file.filename)
    expect(database.prepare('SELECT count(*) FROM daybook_live_texts').pluck().get()).toBe(0)
    database.close()
  })

  it('stays open while a process changes or touches it', async () => {
    useFakeTimers()
    const store = openStore()
    const other = openStore()
    const events = await store.append([openDraft(), openDraft(), openDraft()])
    const [changed, touched, silent] = events.map(({ id }) => id)
    for (let revision = 1; revision <= 10; revision++) {
      await other.changeLive(changed!, { revision })
      await other.touchLive([touched!, 'no id', '0196b3c2-0000-4000-8000-000000000001'])
      await pass(5)
    }
    expect(await store.openEvents()).toEqual([
      { id: changed, revision: 10 },
      { id: touched, revision: 0 },
    ])
    expect((await other.get(silent!))!.attributes).toEqual({ unfinished: true })
  })
})

describe('an open event with appended text', () => {
  /** The tables; `act` is called right before the texts are read for the first time. */
  const tablesWith = (act: () => void): { tables: Tables; close: () => void } => {
    const database = openDatabase(file.filename, () => {})
    const connection = createConnection(database)
    let isOver = false
    const statement: typeof connection.statement = (text) => {
      if (!isOver && text.includes('SELECT key, text FROM daybook_live_texts')) {
        isOver = true
        act()
      }
      return connection.statement(text)
    }
    return { tables: createTables({ ...connection, statement }), close: () => database.close() }
  }
  const replacement = { revision: 2, texts: [{ key: 'log', text: 'new', replaces: true }] }

  it.each<[string, (other: EventStore, id: string) => Promise<unknown>]>([
    ['closes it', (other, id) => other.closeLive(id, { revision: 2 })],
    ['replaces it', (other, id) => other.changeLive(id, replacement)],
  ])('is read in one snapshot while another connection %s', async (_, change) => {
    const store = openStore()
    const other = openStore()
    // A scan yields to the event loop between two rows and then reads the open events again, so the
    // event has to be its first row.
    const only = ({ id }: AuditEvent): TimeBounds => {
      const { time } = parseEventId(id)!
      return { from: time, to: time }
    }
    const scanned = async (tables: Tables, event: AuditEvent, where?: Sql): Promise<EventRow> => {
      const rows: EventRow[] = []
      const scan = { bounds: only(event), direction: 'asc', where: () => where } as const
      await scanEvents(tables, scan, (row) => rows.push(row) < 1, {})
      expect(rows).toHaveLength(1)
      return rows[0]!
    }
    const reads: ((tables: Tables, event: AuditEvent) => Promise<EventRow>)[] = [
      async ({ live }, { id }) => live.find(id)!,
      async ({ live }, event) => live.between(only(event))[0]!,
      (tables, event) => scanned(tables, event),
      (tables, event) => scanned(tables, event, sql('true')),
    ]
    for (const read of reads) {
      const [event] = await store.append([openDraft({ log: 'so ' })])
      const texts = [{ key: 'log', text: 'far', replaces: false }]
      await store.changeLive(event!.id, { revision: 1, texts })
      let changed: Promise<unknown> | undefined
      // The change is committed before the call returns its promise.
      const { tables, close } = tablesWith(() => {
        changed = change(other, event!.id)
      })
      expect(JSON.parse((await read(tables, event!)).attributes)).toEqual({ log: 'so far' })
      expect(changed).toBeDefined()
      await changed
      expect(tables.connection.database.inTransaction).toBe(false)
      close()
      await store.closeLive(event!.id, { revision: 3 })
    }
  })
})

it('appending to a text does not write the whole text again', async () => {
  const store = openStore()
  const [event] = await store.append([openDraft({ log: '' })])
  const { id } = event!
  const text = 'x'.repeat(50_000)
  const append = (revision: number, added: string): Promise<boolean> =>
    store.changeLive(id, { revision, texts: [{ key: 'log', text: added, replaces: false }] })
  await append(1, text)
  const probe = new Database(file.filename)
  const walPages = (): number => {
    const [row] = probe.pragma('wal_checkpoint(PASSIVE)') as { log: number }[]
    return row!.log
  }
  // Counts the pages since the WAL was reset.
  await append(2, 'a')
  walPages()
  for (let revision = 3; revision < 13; revision++) await append(revision, 'b')
  expect(walPages()).toBeLessThan(100)
  probe.close()
  const stored = await store.closeLive(id, { revision: 13 })
  expect(stored!.attributes).toEqual({ log: `${text}abbbbbbbbbb` })
})
