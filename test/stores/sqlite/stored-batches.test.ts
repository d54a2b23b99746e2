import { MessageChannel } from 'node:worker_threads'
import { AuditLog, type EventStore } from 'daybook'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createConnection,
  type Connection,
} from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { createDriver } from '../../../adapters/sqlite/index/index-driver.js'
import { loadIndexState } from '../../../adapters/sqlite/index/index-state.js'
import { readSegment } from '../../../adapters/sqlite/index/segment-reader.js'
import {
  type BatchChannel,
  createStoredBatches,
  type StoredBatches,
} from '../../../adapters/sqlite/index/stored-batches.js'
import { encodeDrafts } from '../../../adapters/sqlite/schema/draft-memory.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { createHandOver, type HandOver } from '../../../adapters/sqlite/write/hand-over.js'
import { idOf } from '../../../src/event/event-id.js'
import { sealNext } from '../../../src/store-kit/index-builder/sealing.js'
import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import { draft, range } from '../../../src/testing/conformance/helpers.js'
import { eventAt } from '../../support/imported-event.js'
import { ordinalsOf } from '../../support/index-values.js'
import { timeOf } from '../../support/part-truth.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { NEVER } from '../shared/sealer.js'
import { IMMEDIATE_STEPS } from '../../support/immediate-steps.js'

/* Sealing of events that the writer thread has handed over. */

const SIZE = 8

const file = useSqliteFile()
let store: EventStore
let audit: AuditLog
let connection: Connection
let stored: StoredBatches
let handOver: HandOver
let channel: BatchChannel

beforeEach(() => {
  ;({ store } = createSqliteStore({ filename: file.filename, writer: 'inline' }, { tuning: NEVER }))
  audit = new AuditLog({ store, types: {} })
  connection = createConnection(openDatabase(file.filename, () => {}))
  const { port1, port2 } = new MessageChannel()
  const bytes = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  channel = { port: port2, bytes }
  stored = createStoredBatches()
  stored.connect(channel)
  handOver = createHandOver()
  handOver.connect({ port: port1, bytes })
})
afterEach(async () => {
  channel.port.close()
  connection.database.close()
  await audit.close()
})

/** The high-water mark before the last transaction. */
let highWater = 0

/** Stores events with the attributes `{ file: 1 }` in one transaction; returns the time of the first. */
async function append(count: number): Promise<number> {
  const drafts = range(1, count).map(() => draft({ file: 1 }))
  const mark = connection.statement('SELECT created_at FROM daybook_high_water').raw(true).get()
  ;[highWater] = mark as [number]
  const [first] = await store.append(drafts)
  return timeOf(first!)
}

/** A batch of so many bytes is posted at once. */
const POSTED_AT_ONCE = 100_000

/** Hands over events at successive times with the attributes `{ memory: 1 }`. */
function hand(first: number, count: number, bytes = POSTED_AT_ONCE): void {
  const one = draft({ memory: 1, padding: 'x'.repeat(bytes / count) })
  handOver.add({ after: highWater, first, drafts: encodeDrafts(Array(count).fill(one)) })
}

const seal = (segmentSize = SIZE): Promise<boolean> => {
  const steps = IMMEDIATE_STEPS
  const write = <Result>(act: () => Result): Promise<Result> => connection.write(act, {})
  const driver = createDriver({ connection, steps, write, bounds: INDEX_BOUNDS, stored })
  return sealNext({ driver, steps, tuning: { segmentSize, fanOut: 4 } })
}

/** The ordinals of the events of the last segment that were taken from memory, and of those read from the file. */
function sources(): { readonly memory: readonly number[]; readonly file: readonly number[] } {
  const part = readSegment(connection, loadIndexState(connection).segments.at(-1)!)
  return { memory: ordinalsOf(part.find('memory', 1)), file: ordinalsOf(part.find('file', 1)) }
}

const ALL = [0, 1, 2, 3, 4, 5, 6, 7]

describe('events that were handed over', () => {
  it('are sealed without being read, and their memory is released', async () => {
    hand(await append(SIZE), SIZE)
    expect(Atomics.load(channel.bytes, 0)).toBeGreaterThan(POSTED_AT_ONCE - SIZE)
    expect(await seal()).toBe(true)
    expect(sources()).toEqual({ memory: ALL, file: [] })
    expect(await seal()).toBe(false)
    expect(Atomics.load(channel.bytes, 0)).toBe(0)
    expect(sqliteTruth(file.filename)).toMatchObject({
      unsealed: 0,
      segments: [[0, SIZE]],
      missing: [],
    })
  })

  it('are sealed with those before, between and after them, which are read', async () => {
    await append(10)
    for (const count of [400, 20, 300, 30]) {
      const first = await append(count)
      if (count >= 300) hand(first, count)
    }
    expect(await seal(760)).toBe(true)
    const { memory, file: read } = sources()
    expect([...memory, ...read].toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 760 }, (_, ordinal) => ordinal),
    )
    // Some more are read with those that were not handed over.
    expect(memory.length).toBeGreaterThan(100)
    const given = (ordinal: number): boolean =>
      (ordinal >= 10 && ordinal < 410) || (ordinal >= 430 && ordinal < 730)
    expect(memory.every(given)).toBe(true)
    expect(sqliteTruth(file.filename)).toMatchObject({ unsealed: 0, missing: [] })
  })

  it('may belong to two segments', async () => {
    hand(await append(3), 3)
    hand(await append(2 * SIZE - 3), 2 * SIZE - 3)
    for (let n = 0; n < 2; n++) {
      expect(await seal()).toBe(true)
      expect(sources()).toEqual({ memory: ALL, file: [] })
    }
    expect(sqliteTruth(file.filename)).toMatchObject({ unsealed: 0, missing: [] })
  })

  it('are read if the events before them are not known', async () => {
    // Another process.
    await append(5)
    hand(await append(3), 3)
    expect(await seal()).toBe(true)
    expect(sources()).toEqual({ memory: [], file: ALL })
  })
})

describe('events that were handed over are read', () => {
  const idAt = (time: number): string =>
    idOf(
      time,
      (
        connection
          .statement('SELECT suffix FROM daybook_events WHERE created_at = ?')
          .raw(true)
          .get(time) as [string]
      )[0],
    )

  it('after one of them was removed', async () => {
    const first = await append(SIZE + 1)
    hand(first, SIZE + 1)
    await store.remove([idAt(first + 2)])
    expect(await seal()).toBe(true)
    expect(sources()).toEqual({ memory: [], file: ALL })
    expect(sqliteTruth(file.filename)).toMatchObject({
      unsealed: 0,
      missing: [],
      segments: [[0, SIZE]],
    })
  })

  it('after the first of them were removed', async () => {
    const first = await append(SIZE + 2)
    hand(first, SIZE + 2)
    await store.removeBefore(first + 2)
    expect(await seal()).toBe(true)
    expect(sources()).toEqual({ memory: [], file: ALL })
  })

  it('after an event was added among them', async () => {
    const first = await append(2)
    hand(first, 2)
    const second = await append(SIZE - 3)
    expect(second).toBeGreaterThan(first + 2)
    hand(second, SIZE - 3)
    await audit.importEvents([eventAt(first + 2, { attributes: { file: 1 } })])
    expect(await seal()).toBe(true)
    expect(sources()).toEqual({ memory: [], file: ALL })
    expect(sqliteTruth(file.filename)).toMatchObject({ unsealed: 0, missing: [] })
  })

  it('until all of these are sealed', async () => {
    const first = await append(SIZE + 1)
    hand(first, SIZE + 1)
    await store.remove([idAt(first)])
    expect(await seal()).toBe(true)
    hand(await append(SIZE), SIZE)
    expect(await seal()).toBe(true)
    expect(sources()).toEqual({ memory: ALL, file: [] })
  })
})

describe('the writer thread', () => {
  it('hands no more over than a limit, until events are sealed', async () => {
    const limit = 32 * 1024 * 1024
    const bytes = 4 * 1024 * 1024
    const count = limit / bytes
    for (let n = 0; n < count + 4; n++) {
      hand(await append(SIZE), SIZE, bytes)
      expect(Atomics.load(channel.bytes, 0)).toBeLessThanOrEqual(limit)
    }
    expect(Atomics.load(channel.bytes, 0)).toBeGreaterThan(limit - 1.1 * bytes)
    for (let n = 0; n < count + 4; n++) expect(await seal()).toBe(true)
    expect(sources()).toEqual({ memory: [], file: ALL })
    hand(await append(SIZE), SIZE)
    expect(await seal()).toBe(true)
    expect(sources().memory).toEqual(ALL)
  })

  it('hands over what it stores as it was given', async () => {
    const size = 64
    await audit.close()
    const created = createSqliteStore(
      { filename: file.filename },
      // The test starts each round.
      { tuning: { segmentSize: size, fanOut: 4 }, checkMs: 3_600_000 },
    )
    ;({ store } = created)
    audit = new AuditLog({ store, types: {} })
    expect(await created.startWriter()).toBe(true)
    // Starts the sealing thread.
    await created.sealer.settled()
    const note = 'x'.repeat(10_000)
    await Promise.all(
      Array.from({ length: size }, () => audit.recordCustom('test:note', { memory: 1, note })),
    )
    file.execute((database) =>
      database.exec(`UPDATE daybook_events SET attributes = jsonb('{"file":1}')`),
    )
    await created.sealer.settled()
    // The file has no right row, and a wrong one has no values.
    expect(sources().file).toEqual([])
    // The last events may not have been handed over yet.
    expect(sources().memory.length).toBeGreaterThan(size / 2)
  })
})
