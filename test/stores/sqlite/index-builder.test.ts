import { checksumOf, EVENT_COLUMNS, type EventRow } from '../../../adapters/sqlite/schema/rows.js'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { describe, expect, it } from 'vitest'
import {
  createConnection,
  type Connection,
} from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { isSealDue } from '../../../adapters/sqlite/index/due.js'
import { createDriver } from '../../../adapters/sqlite/index/index-driver.js'
import { loadSealed } from '../../../adapters/sqlite/index/index-state.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { readSegment } from '../../../adapters/sqlite/index/segment-reader.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import type { Builder } from '../../../src/store-kit/index-builder/builder.js'
import { mergeNext } from '../../support/merge-next.js'
import { sealNext } from '../../../src/store-kit/index-builder/sealing.js'
import { IMMEDIATE_STEPS } from '../../support/immediate-steps.js'
import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import { UNNAMED_LISTS } from '../../../src/store-kit/index/segment-source.js'
import { kindOf } from '../../../src/store-kit/index/part.js'
import {
  type IndexHarness,
  OLD,
  someAttributes,
  TUNING,
  TYPES,
  useIndex,
} from '../../support/index-fixture.js'
import { ordinalsOf } from '../../support/index-values.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { describeIndexBuilder } from '../shared/index-builder.js'

const file = useSqliteFile()
let connection: Connection

const numbers = (sql: string): readonly number[] =>
  (connection.statement(sql).raw(true).all() as [number][]).map(([value]) => value)
const count = (from: string): number => numbers(`SELECT count(*) FROM ${from}`)[0]!

const harness: IndexHarness = {
  async open() {
    const store = sqliteStore({ filename: file.filename })
    connection = createConnection(openDatabase(file.filename, () => {}))
    return store
  },
  async remove() {
    connection.database.close()
  },
  builder: (steps, tuning) => {
    const write = <Result>(act: () => Result): Promise<Result> =>
      steps.run(() => connection.write(act, {}))
    return {
      steps,
      tuning,
      driver: createDriver({ connection, steps, write, bounds: tuning.bounds ?? INDEX_BOUNDS }),
    }
  },
  truth: async () => sqliteTruth(file.filename),
  visibleSegments: async () => loadSealed(connection).segments,
  load: async (segment) => readSegment(connection, segment as SegmentRow),
  version: async () => loadSealed(connection).version,
  segmentRows: async () =>
    ['daybook_segments', 'daybook_chunks', 'daybook_chunk_keys', 'daybook_segment_times']
      .map(count)
      .reduce((a, b) => a + b),
  lateTimes: async () => numbers('SELECT created_at FROM daybook_late'),
  removedTimes: async () => numbers('SELECT created_at FROM daybook_removed'),
}
/** For each place below `size`, the nearest ordinal from there on, and the nearest one up to there; -1 for none. */
function nearest(
  ordinals: readonly number[],
  size: number,
): { readonly after: readonly number[]; readonly before: readonly number[] } {
  const after = Array.from({ length: size }, () => -1)
  const before = Array.from({ length: size }, () => -1)
  for (const ordinal of ordinals) after[ordinal] = before[ordinal] = ordinal
  for (let at = 1; at < size; at++) if (before[at] === -1) before[at] = before[at - 1]!
  for (let at = size - 2; at >= 0; at--) if (after[at] === -1) after[at] = after[at + 1]!
  return { after, before }
}

const index = useIndex(harness)

describeIndexBuilder(index)

describe('a file', () => {
  it('long lists are read piece by piece, from the requested end', async () => {
    const size = 20_000
    const { database, statement } = connection
    const text = (i: number): string =>
      JSON.stringify({ all: true, third: i % 3, ninth: i % 9 === 4 ? 'x' : 'y', late: i > 15_000 })
    database.exec('BEGIN')
    const insert = database.prepare(
      `INSERT INTO daybook_events VALUES (?, '8000000000000000', 'api:x:y', NULL, NULL, 0, jsonb(?), ?, NULL)`,
    )
    for (let i = 0; i < size; i++) {
      const created_at = OLD + i * 10
      const own = { suffix: '8000000000000000', type: 'api:x:y', username: null, source: null }
      const row = { created_at, ...own, system: 0, attributes: text(i) } as const
      insert.run(created_at, text(i), checksumOf(row))
    }
    statement('UPDATE daybook_high_water SET appended = ?').run(size)
    database.exec('COMMIT')
    expect(await index.repeat(sealNext, { segmentSize: size, fanOut: 2 })).toBe(1)

    let reads = 0
    const part = readSegment(connection, loadSealed(connection).segments[0]!, () => (reads += 1))
    const ordinals = Array.from({ length: size }, (_, i) => i)
    const lists = {
      third: [1, ordinals.filter((i) => i % 3 === 1)],
      ninth: ['x', ordinals.filter((i) => i % 9 === 4)],
      late: [true, ordinals.filter((i) => i > 15_000)],
      all: [true, ordinals],
    } as const
    for (const [name, [value, expected]] of Object.entries(lists)) {
      expect(ordinalsOf(part.find(name, value)), name).toEqual(expected)
      expect(ordinalsOf(part.find(name, value), -1), name).toEqual(expected.toReversed())
      // Back and forth, as an intersection of lists does.
      const found = part.find(name, value)
      expect(found.size).toBe(expected.length)
      const wrong: number[] = []
      const { after, before } = nearest(expected, size)
      for (let i = 0; i < 2000; i++) {
        const at = (i * 7919) % size
        if (found.seek(at, 1) !== after[at] || found.seek(at, -1) !== before[at]) wrong.push(at)
      }
      expect(wrong, name).toEqual([])
      const both = (['asc', 'desc'] as const).map((order) =>
        [...part.values(name, kindOf(value), order)]
          .find((entry) => entry.value === value)!
          .postings(),
      )
      for (const postings of both) expect(ordinalsOf(postings)).toEqual(expected)
    }
    for (const [name, end] of [
      ['ninth', size - 1],
      ['all', size - 1],
    ] as const) {
      reads = 0
      part.find(name, name === 'all' || 'x').seek(end, -1)
      expect(reads).toBe(1)
    }
    expect(ordinalsOf(part.valued('all'))).toEqual(ordinals)
    for (let i = 0; i < size; i += 128) {
      expect(part.timeOf(i)).toBe(OLD + i * 10)
      expect(part.countBefore(OLD + i * 10)).toBe(i)
      expect(part.countBefore(OLD + i * 10 + 1)).toBe(i + 1)
    }
  })

  it('an event with half of a surrogate pair is listed as partial for its name', async () => {
    await index.record(someAttributes(7))
    await index.audit().recordCustom('halves')
    connection
      .statement(`UPDATE daybook_events SET attributes = jsonb(?) WHERE type = 'halves'`)
      .run('{"text":"a\\ud83d","n":5}')
    const columns = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE type = 'halves'`
    const row = connection.statement(columns).get() as EventRow
    connection
      .statement(`UPDATE daybook_events SET checksum = ? WHERE type = 'halves'`)
      .run(checksumOf(row))
    expect(await index.seal()).toBe(1)
    const part = await index.load((await index.visibleSegments())[0]!)
    expect(ordinalsOf(part.partial('text'))).toEqual([7])
    expect(ordinalsOf(part.find('n', 5))).toContain(7)
    expect(ordinalsOf(part.find('type', 'halves'))).toEqual([7])
  })

  it('the count of unsealed events stays correct', async () => {
    await index.record(someAttributes(11))
    await index.importAt([OLD, OLD + 1000], 'old')
    const live = await index.audit().recordLive('info:runs:start')
    await index.record(someAttributes(3))
    await live.close()
    const unsealed = (): number =>
      numbers('SELECT appended - sealed FROM daybook_high_water, daybook_index')[0]!
    expect(unsealed()).toBe(17)
    await index.seal()
    expect(unsealed()).toBe(sqliteTruth(file.filename).unsealed)
    await index.record(someAttributes(5))
    const events = await index.all()
    await index.audit().store.remove(events.slice(-7).map(({ id }) => id))
    // Removed events count as unsealed until a round has counted again.
    await index.record(someAttributes(6))
    while (isSealDue(connection, TUNING.segmentSize, INDEX_BOUNDS)) await index.seal()
    expect(unsealed()).toBe(sqliteTruth(file.filename).unsealed)
  })

  it('merging makes new lists of grams, and a search has the same results with and without them', async () => {
    const words = ['Kelvin', 'NEEDLE', 'ΣΊΣΥΦΟΣ', 'say "no"', 'one\ntwo', '😀 up', 'k'.repeat(600)]
    await index.record(
      Array.from({ length: 72 }, (_, i) => ({
        text: `${'some text '.repeat(40)}${i % 9} ${i % 4 === 0 ? words[(i / 4) % words.length]! : ''}`,
        short: `s${i}`,
      })),
    )
    const cases = [
      ...['needle', 'KELVIN', 'σίσυφος', '"NO"', 'E\nT', '😀', 'kkk', 'xyz', 'ne', '8 ', ' '],
    ]
    // Queries use the index at once, and the store does not build one.
    const { store } = createSqliteStore(
      { filename: file.filename },
      { tuning: { segmentSize: 1e9, fanOut: 9 } },
      { firstProbe: 0 },
    )
    const reader = new AuditLog({ store, types: TYPES })
    const query = async (): Promise<unknown[]> => {
      const found: unknown[] = []
      for (const predicate of ['cont', 'end'])
        for (const value of cases)
          for (const name of ['text', 'short', 'type']) {
            const filter = { [`${name}_${predicate}`]: value }
            found.push((await reader.list({ filter, limit: 1000 })).events.map(({ id }) => id))
          }
      return found
    }
    const grams = (): number[] => {
      const rows = `SELECT count(*) AS n FROM daybook_chunk_keys WHERE segment = ? AND kind = 6
        AND name < ${UNNAMED_LISTS}`
      return loadSealed(connection).segments.map(
        ({ id }) => (connection.statement(rows).get(id) as { n: number }).n,
      )
    }
    const without = await query()
    await index.seal()
    expect(grams()).toEqual(Array.from({ length: 9 }, () => 0))
    const mergeOnce = (minGramChunks: number): Promise<boolean> =>
      mergeNext(index.builder({ ...TUNING, minGramChunks }))
    for (const minGramChunks of [1, 1, Infinity]) expect(await mergeOnce(minGramChunks)).toBe(true)
    const counts = grams()
    expect(counts.map((count) => count > 0)).toEqual([true, true, false])
    expect(await query()).toEqual(without)
    expect(await mergeOnce(3)).toBe(true)
    expect(loadSealed(connection).segments.map(({ size }) => size)).toEqual([72])
    expect(grams()[0]).toBeGreaterThan(0)
    const { id } = loadSealed(connection).segments[0]!
    // Only the long texts.
    expect(
      count(
        `(SELECT DISTINCT name FROM daybook_chunk_keys WHERE segment = ${id} AND kind = 6 AND name < ${UNNAMED_LISTS})`,
      ),
    ).toBe(1)
    expect(await query()).toEqual(without)
    await reader.close()
    await index.expectSegments()
  })

  it('each chunk has one key, and a small segment has one block of times', async () => {
    await index.record(someAttributes(24))
    await index.seal()
    expect(count('daybook_segment_times')).toBe(3)
    await index.merge()
    expect(count('daybook_segment_times')).toBe(1)
    expect(count('daybook_chunk_keys')).toBe(count('daybook_chunks'))
  })

  it('a write may run again after it failed', async () => {
    await index.record(someAttributes(24))
    const steps = IMMEDIATE_STEPS
    const write = async <Result>(act: () => Result): Promise<Result> => {
      const failed = (): void => {
        act()
        throw new Error('disk full')
      }
      expect(() => connection.tryWrite(failed)).toThrow('disk full')
      return connection.tryWrite(act)
    }
    const driver = createDriver({ connection, steps, write, bounds: INDEX_BOUNDS })
    const builder: Builder = { steps, tuning: TUNING, driver }
    for (const work of [sealNext, sealNext, sealNext, mergeNext])
      expect(await work(builder)).toBe(true)
    expect((await index.truth()).segments).toEqual([[1, 24]])
    await index.expectSegments()
  })
})
