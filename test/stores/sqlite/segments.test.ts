import fc from 'fast-check'
import { type AuditEvent, AuditLog, type JsonObject } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createConnection,
  type Connection,
} from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { type IndexState, loadIndexState } from '../../../adapters/sqlite/index/index-state.js'
import { mergeNext } from '../../../adapters/sqlite/index/merging.js'
import { isSealDue, sealNext } from '../../../adapters/sqlite/index/sealing.js'
import { dropGone, removeOrphans } from '../../../adapters/sqlite/index/segment-dropping.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { openSegment } from '../../../adapters/sqlite/index/segment.js'
import { kindOf } from '../../../src/store-kit/index/part.js'
import { ordinalsOf } from '../../support/index-values.js'
import { indexTruth } from '../../support/index-truth.js'
import { expectPart, timeOf } from '../../support/part-truth.js'
import { tempDir } from '../../support/temp.js'

type Work = Generator<() => void, boolean>

const TYPES = { 'info:runs:start': {} }

const tuning = { segmentSize: 8, fanOut: 3 }

let temp: ReturnType<typeof tempDir>
let filename: string
let audit: AuditLog<typeof TYPES>
let connection: Connection

const open = (): void => {
  audit = new AuditLog({ store: sqliteStore({ filename }), types: TYPES })
  connection = createConnection(openDatabase(filename, () => {}))
}
const close = async (): Promise<void> => {
  connection.database.close()
  await audit.close()
}

beforeEach(() => {
  temp = tempDir()
  filename = temp.file('audit.db')
  open()
})
afterEach(async () => {
  await close()
  temp.remove()
})

/** Runs so many steps, each in a transaction of its own; what it says at its end, `undefined` before. */
function run(work: Work, most = Infinity): boolean | undefined {
  for (let steps = 0; steps < most; steps++) {
    const next = work.next()
    if (next.done) return next.value
    connection.tryWrite(next.value)
  }
  return undefined
}

const runAll = (start: () => Work): number => {
  let times = 0
  while (run(start())) times += 1
  return times
}

/** Goes on with what others have done already: it finds that at its end, or that what it reads is gone. */
function giveUp(work: Work): void {
  try {
    expect(run(work)).toBe(true)
  } catch (error) {
    expect(error).toMatchObject({ code: 'STORE_FAILED' })
  }
}

const seal = (): number => runAll(() => sealNext(connection, tuning))
const merge = (): number => runAll(() => mergeNext(connection, tuning))
const state = (): IndexState => loadIndexState(connection)
const all = async (): Promise<AuditEvent[]> => [...(await audit.list({ limit: 1000 })).events]
const count = (from: string): number =>
  (connection.statement(`SELECT count(*) AS n FROM ${from}`).get() as { n: number }).n

async function record(attributes: readonly JsonObject[]): Promise<void> {
  for (const [i, one] of attributes.entries()) await audit.recordCustom(`type-${i % 3}`, one)
}
const some = (length: number, offset = 0): JsonObject[] =>
  Array.from({ length }, (_, i) => ({ n: offset + i, even: i % 2 === 0, key: `key-${offset + i}` }))

/** Every visible segment against the events whose times it has. */
async function expectSegments(): Promise<void> {
  const events = new Map((await all()).map((event) => [timeOf(event), event]))
  for (const row of state().segments) {
    const part = openSegment(connection, row)
    const times = Array.from({ length: part.size }, (_, ordinal) => part.timeOf(ordinal))
    expectPart(
      part,
      times.map((time) => events.get(time)!),
    )
  }
  expect(indexTruth(filename)).toMatchObject({ missing: [], damage: [] })
}

async function importAt(times: readonly number[], tag: string): Promise<void> {
  const events = times.map((time, i) => ({
    id: `0196b3c2-0000-4000-8000-${String(time % 1e12).padStart(12, '0')}`,
    created_at: new Date(time / 1000).toISOString().replace('Z', '000Z'),
    username: null,
    system: false,
    type: 'old',
    source: null,
    attributes: { tag, i },
  }))
  await audit.importEvents(events)
}

const OLD = 1_600_000_000_000_000

describe('sealing', () => {
  it('nothing happens before there are enough events', async () => {
    await record(some(7))
    expect(isSealDue(connection, tuning)).toBe(false)
    expect(seal()).toBe(0)
    expect(state()).toMatchObject({ version: 0, sealedTo: -1, segments: [] })
  })

  it('full segments are made of the oldest, and answer as the events do', async () => {
    await record(some(20))
    expect(seal()).toBe(2)
    const events = await all()
    expect(state().segments.map(({ size, first }) => [size, first])).toEqual([
      [8, timeOf(events[0]!)],
      [8, timeOf(events[8]!)],
    ])
    expect(state().sealedTo).toBe(timeOf(events[15]!))
    await expectSegments()
    expect(indexTruth(filename).unsealed).toBe(4)
  })

  it('whatever the attributes are', async () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'b', 'a_b', 'type', 'username', 'x_y_z', 'toString'),
      fc.string({ minLength: 1, maxLength: 5 }),
    )
    const { value } = fc.letrec<{ value: JsonObject[string] }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false, 0, -5, 0.1, 1e308, 'x', '', '\u{1F600}', '\uE000'),
        fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => text.toWellFormed()),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }))
    const attributes = fc.dictionary(key, value, { maxKeys: 6, noNullPrototype: true })
    await fc.assert(
      fc.asyncProperty(fc.array(attributes, { minLength: 8, maxLength: 8 }), async (some) => {
        await record(some)
        expect(seal()).toBe(1)
        const events = (await all()).slice(-8)
        expectPart(openSegment(connection, state().segments.at(-1)!), events)
      }),
      { numRuns: 40 },
    )
  })

  it('lists that are long are read piece by piece, from the end that is asked for', () => {
    const size = 60_000
    const { database, statement } = connection
    const text = (i: number): string =>
      JSON.stringify({ all: true, third: i % 3, ninth: i % 9 === 4 ? 'x' : 'y', late: i > 50_000 })
    database.exec('BEGIN')
    const insert = database.prepare(
      `INSERT INTO daybook_events VALUES (?, '8000000000000000', 'api:x:y', NULL, NULL, 0, jsonb(?))`,
    )
    for (let i = 0; i < size; i++) insert.run(OLD + i * 10, text(i))
    statement('UPDATE daybook_high_water SET appended = ?').run(size)
    database.exec('COMMIT')
    expect(runAll(() => sealNext(connection, { segmentSize: size, fanOut: 2 }))).toBe(1)

    let reads = 0
    const part = openSegment(connection, state().segments[0]!, () => (reads += 1))
    const ordinals = Array.from({ length: size }, (_, i) => i)
    const lists = {
      third: [1, ordinals.filter((i) => i % 3 === 1)],
      ninth: ['x', ordinals.filter((i) => i % 9 === 4)],
      late: [true, ordinals.filter((i) => i > 50_000)],
      all: [true, ordinals],
    } as const
    for (const [name, [value, expected]] of Object.entries(lists)) {
      expect(ordinalsOf(part.find(name, value)), name).toEqual(expected)
      expect(ordinalsOf(part.find(name, value), -1), name).toEqual(expected.toReversed())
      // To and fro, as somebody who looks for what several lists have.
      const found = part.find(name, value)
      expect(found.size).toBe(expected.length)
      for (let i = 0; i < 2000; i++) {
        const at = (i * 7919) % size
        expect(found.seek(at, 1)).toBe(expected.find((one) => one >= at) ?? -1)
        expect(found.seek(at, -1)).toBe(expected.findLast((one) => one <= at) ?? -1)
      }
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

  it('half a character is nothing that SQLite keeps, so such an event may have anything', async () => {
    await record(some(7))
    await audit.recordCustom('halves')
    connection
      .statement(`UPDATE daybook_events SET attributes = jsonb(?) WHERE type = 'halves'`)
      .run('{"text":"a\\ud83d","n":5}')
    expect(seal()).toBe(1)
    const part = openSegment(connection, state().segments[0]!)
    expect(ordinalsOf(part.unindexed)).toEqual([7])
    expect(ordinalsOf(part.find('type', 'halves'))).toEqual([7])
  })

  it('an event with too much to be taken apart may have anything', async () => {
    await audit.recordCustom('huge', { list: Array.from({ length: 3000 }, (_, i) => i) })
    await record(some(7))
    expect(seal()).toBe(1)
    expect(ordinalsOf(openSegment(connection, state().segments[0]!).unindexed)).toEqual([0])
  })
})

describe('late events', () => {
  it('what is imported among sealed events is unsealed until it is sealed itself', async () => {
    await record(some(16))
    expect(seal()).toBe(2)
    await importAt([OLD, OLD + 1000], 'first')
    expect(indexTruth(filename)).toMatchObject({ unsealed: 2, missing: [] })
    await record(some(6, 100))
    expect(seal()).toBe(1)
    expect(indexTruth(filename)).toMatchObject({ unsealed: 0, missing: [] })
    expect(state().segments[0]).toMatchObject({ size: 8, first: OLD })
    expect(count('daybook_late')).toBe(0)
    expect(state().sealedLate).toBe(2)
    await expectSegments()
  })

  it('what is imported behind the sealed ones is unsealed, and listed, until its turn comes', async () => {
    await importAt([OLD, OLD + 1000, OLD + 2000], 'old')
    await record(some(20))
    await importAt([OLD + 5_000_000], 'between')
    expect(seal()).toBe(3)
    expect(indexTruth(filename)).toMatchObject({ unsealed: 0, missing: [] })
    expect(count('daybook_late')).toBe(0)
    await expectSegments()
  })

  it('those behind the new end stay on the list', async () => {
    await importAt(Array.from({ length: 12 }, (_, i) => OLD + i * 1000).toReversed(), 'backwards')
    expect(count('daybook_late')).toBe(12)
    expect(seal()).toBe(1)
    expect(count('daybook_late')).toBe(4)
    const { sealedLate, sealedTo } = state()
    expect(count(`daybook_late WHERE id > ${sealedLate} AND created_at > ${sealedTo}`)).toBe(4)
    expect(indexTruth(filename)).toMatchObject({ unsealed: 4, missing: [] })
  })

  it('a live event that closes behind others is late', async () => {
    const live = await audit.recordLive('info:runs:start', { state: 'open' })
    await record(some(8))
    expect(seal()).toBe(1)
    await live.update({ state: 'done' })
    await live.close()
    expect(count('daybook_late')).toBe(1)
    await record(some(7))
    expect(seal()).toBe(1)
    const part = openSegment(connection, state().segments[0]!)
    expect(ordinalsOf(part.find('state', 'done'))).toEqual([0])
    await expectSegments()
  })

  it('what was removed and imported again is in a segment as it is now', async () => {
    await importAt([OLD], 'before')
    await record(some(8))
    expect(seal()).toBe(1)
    const [first] = await all()
    await audit.store.remove([first!.id])
    await importAt([OLD], 'after')
    await record(some(6))
    expect(seal()).toBe(1)
    const found = state().segments.filter(
      (row) => openSegment(connection, row).find('tag', 'after').size > 0,
    )
    expect(found).toHaveLength(1)
    expect(indexTruth(filename)).toMatchObject({ unsealed: 0, missing: [] })
  })

  it('the counts of what is unsealed hold whatever happens', async () => {
    await record(some(11))
    await importAt([OLD, OLD + 1000], 'old')
    const live = await audit.recordLive('info:runs:start')
    await record(some(3))
    await live.close()
    const unsealed = (): number =>
      (
        connection
          .statement('SELECT appended - sealed AS n FROM daybook_high_water, daybook_index')
          .get() as { n: number }
      ).n
    expect(unsealed()).toBe(17)
    seal()
    expect(unsealed()).toBe(indexTruth(filename).unsealed)
    await record(some(5))
    const events = await all()
    await audit.store.remove(events.slice(-7).map(({ id }) => id))
    // Removed, they are taken for unsealed until somebody has looked.
    await record(some(6))
    while (isSealDue(connection, tuning)) seal()
    expect(unsealed()).toBe(indexTruth(filename).unsealed)
  })
})

describe('merging', () => {
  it('segments of a level become one of the next', async () => {
    await record(some(80))
    expect(seal()).toBe(10)
    expect(merge()).toBe(4)
    expect(state().segments.map(({ level, size }) => [level, size])).toEqual([
      [2, 72],
      [0, 8],
    ])
    await expectSegments()
    expect(count('daybook_segments')).toBe(2)
    const ids = state().segments.map(({ id }) => id)
    expect(count(`daybook_chunk_keys WHERE segment NOT IN (${ids.join()})`)).toBe(0)
    expect(count('daybook_chunk_keys')).toBe(count('daybook_chunks'))
    expect(count('daybook_segment_times')).toBe(2)
  })

  it('grams of the texts are listed anew, and give what a search without them gives', async () => {
    const words = ['Kelvin', 'NEEDLE', 'ΣΊΣΥΦΟΣ', 'say "no"', 'one\ntwo', '😀 up', 'k'.repeat(600)]
    await record(
      Array.from({ length: 72 }, (_, i) => ({
        text: `${'some text '.repeat(40)}${i % 9} ${i % 4 === 0 ? words[(i / 4) % words.length]! : ''}`,
        short: `s${i}`,
      })),
    )
    const cases = [
      ...['needle', 'KELVIN', 'σίσυφος', '"NO"', 'E\nT', '😀', 'kkk', 'xyz', 'ne', '8 ', ' '],
    ]
    // Asks the index at once, and has none made.
    const { store } = createSqliteStore(
      { filename },
      { tuning: { segmentSize: 1e9, fanOut: 9 } },
      0,
    )
    const asking = new AuditLog({ store, types: TYPES })
    const ask = async (): Promise<unknown[]> => {
      const found: unknown[] = []
      for (const predicate of ['cont', 'end'])
        for (const value of cases)
          for (const name of ['text', 'short', 'type']) {
            const filter = { [`${name}_${predicate}`]: value }
            found.push((await asking.list({ filter, limit: 1000 })).events.map(({ id }) => id))
          }
      return found
    }
    const grams = (): number[] => {
      const rows = `SELECT count(*) AS n FROM daybook_chunk_keys WHERE segment = ? AND kind = 6`
      return state().segments.map(
        ({ id }) => (connection.statement(rows).get(id) as { n: number }).n,
      )
    }
    const without = await ask()
    seal()
    expect(grams()).toEqual(Array.from({ length: 9 }, () => 0))
    const mergeOnce = (leastChunks: number): boolean | undefined =>
      run(mergeNext(connection, { ...tuning, leastChunks }))
    for (const leastChunks of [1, 1, Infinity]) expect(mergeOnce(leastChunks)).toBe(true)
    const counts = grams()
    expect(counts.map((count) => count > 0)).toEqual([true, true, false])
    expect(await ask()).toEqual(without)
    expect(mergeOnce(3)).toBe(true)
    expect(state().segments.map(({ size }) => size)).toEqual([72])
    expect(grams()[0]).toBeGreaterThan(0)
    const { id } = state().segments[0]!
    // Of the long texts alone.
    expect(
      count(`(SELECT DISTINCT name FROM daybook_chunk_keys WHERE segment = ${id} AND kind = 6)`),
    ).toBe(1)
    expect(await ask()).toEqual(without)
    await asking.close()
    await expectSegments()
  })

  it('removed events are left out, and those in two parts are sealed again', async () => {
    await importAt([OLD], 'before')
    await record(some(15))
    expect(seal()).toBe(2)
    const events = await all()
    const gone = [0, 3, 5, 11].map((i) => events[i]!)
    await audit.store.remove(gone.map(({ id }) => id))
    await importAt([OLD], 'after')
    await record(some(7, 50))
    expect(seal()).toBe(1)
    expect(merge()).toBe(1)
    const [whole, ...others] = state().segments
    expect(others).toEqual([])
    // 24 rows in the parts, three of them gone, and one there twice, of which only its row tells the truth.
    expect(whole!.size).toBe(19)
    expect(await all()).toHaveLength(20)
    const left = (await all()).filter((event) => timeOf(event) !== OLD)
    const part = openSegment(connection, whole!)
    expect(Array.from(left, (_, ordinal) => part.timeOf(ordinal))).toEqual(left.map(timeOf))
    for (const tag of ['before', 'after']) expect(ordinalsOf(part.find('tag', tag))).toEqual([])
    expect(ordinalsOf(part.find('key', 'key-2'))).toEqual([])
    expect(ordinalsOf(part.find('key', 'key-3'))).toEqual([
      left.findIndex((e) => e.attributes['n'] === 3),
    ])
    await record(some(7, 60))
    expect(seal()).toBe(1)
    const again = state().segments.find(({ id }) => id !== whole!.id)!
    expect(ordinalsOf(openSegment(connection, again).find('tag', 'after'))).toEqual([0])
  })

  it('what lies before the oldest event goes, in segments that are merged and in whole ones', async () => {
    await record(some(50))
    seal()
    const events = await all()
    await audit.store.removeBefore(timeOf(events[12]!))
    expect(runAll(() => dropGone(connection))).toBe(1)
    expect(count('daybook_segments')).toBe(5)
    expect(merge()).toBe(1)
    expect(state().segments.map(({ size }) => size)).toEqual([20, 8, 8])
    await expectSegments()
    await audit.store.removeBefore(timeOf(events[49]!) + 1)
    const { version } = state()
    expect(runAll(() => dropGone(connection))).toBe(3)
    expect(state()).toMatchObject({ version: version + 3, segments: [] })
    expect(['daybook_chunks', 'daybook_chunk_keys', 'daybook_segment_times'].map(count)).toEqual([
      0, 0, 0,
    ])
  })

  it('a merge of which nothing is left makes nothing', async () => {
    await record(some(25))
    seal()
    const events = await all()
    await audit.store.remove(events.slice(0, 24).map(({ id }) => id))
    expect(merge()).toBe(1)
    expect(state().segments).toEqual([])
    expect(count('daybook_segments')).toBe(0)
  })
})

describe('what comes in between', () => {
  it('a segment that nobody finished is not seen, and is removed', async () => {
    await record(some(8))
    run(sealNext(connection, tuning), 6)
    expect(count('daybook_segments')).toBe(1)
    expect(state().segments).toEqual([])
    expect(indexTruth(filename)).toMatchObject({ unsealed: 8, missing: [], hidden: 1 })
    expect(runAll(() => removeOrphans(connection))).toBe(1)
    expect(
      ['daybook_segments', 'daybook_chunks', 'daybook_chunk_keys', 'daybook_segment_times'].map(
        count,
      ),
    ).toEqual([0, 0, 0, 0])
    expect(seal()).toBe(1)
    await expectSegments()
  })

  it('a segment that becomes visible while it is taken for left behind stays', async () => {
    await record(some(8))
    const slow = sealNext(connection, tuning)
    run(slow, 6)
    const removing = removeOrphans(connection)
    const first = removing.next()
    expect(run(slow)).toBe(true)
    connection.tryWrite(first.value as () => void)
    expect(run(removing)).toBe(true)
    expect(indexTruth(filename)).toMatchObject({ unsealed: 0, missing: [], hidden: 0 })
    await expectSegments()
  })

  it.each([1, 2, 3, 4, 5, 6, 7])(
    'after %i steps of one who is removed meanwhile all is as it would be without him',
    async (steps) => {
      await record(some(24))
      const slow = sealNext(connection, tuning)
      const early = run(slow, steps)
      runAll(() => removeOrphans(connection))
      for (let end = early; end === undefined; end = run(slow, 1)) {
        const isOrphan = 'segment NOT IN (SELECT id FROM daybook_segments)'
        expect(count(`daybook_chunk_keys WHERE ${isOrphan}`)).toBe(0)
      }
      runAll(() => removeOrphans(connection))
      seal()
      expect(state().segments.map(({ size }) => size)).toEqual([8, 8, 8])
      await expectSegments()
      expect(count('daybook_segments')).toBe(3)
      expect(count('daybook_chunk_keys')).toBe(count('daybook_chunks'))
      expect(count('daybook_segment_times')).toBe(3)
    },
  )

  it.each([1, 2, 3, 4, 5, 6, 7])(
    'of two who seal the same, one after %i steps, one gives up',
    async (steps) => {
      await record(some(24))
      const slow = sealNext(connection, tuning)
      const early = run(slow, steps)
      expect(run(sealNext(connection, tuning))).toBe(true)
      if (early === undefined) expect(run(slow)).toBe(true)
      seal()
      expect(state().segments.map(({ size }) => size)).toEqual([8, 8, 8])
      expect(new Set(state().segments.map(({ first }) => first)).size).toBe(3)
      expect(count('daybook_segments')).toBe(3)
      expect(indexTruth(filename).unsealed).toBe(0)
      await expectSegments()
    },
  )

  it.each([1, 3, 4, 5, 6, 7, 9, 11])(
    'of two who merge the same, one after %i steps, one gives up',
    async (steps) => {
      await record(some(24))
      seal()
      const slow = mergeNext(connection, tuning)
      const early = run(slow, steps)
      runAll(() => mergeNext(connection, tuning))
      if (early === undefined) giveUp(slow)
      runAll(() => removeOrphans(connection))
      expect(state().segments.map(({ level, size }) => [level, size])).toEqual([[1, 24]])
      expect(count('daybook_segments')).toBe(1)
      expect(count('daybook_chunk_keys')).toBe(count('daybook_chunks'))
      await expectSegments()
    },
  )

  it.each([5, 6, 7, 8, 9, 10])(
    'one who merges what another has merged, and is removing in step %i, makes nothing of it',
    async (steps) => {
      await record(some(24))
      seal()
      const slow = mergeNext(connection, tuning)
      run(slow, 4)
      run(mergeNext(connection, tuning), steps)
      giveUp(slow)
      runAll(() => removeOrphans(connection))
      merge()
      expect(state().segments.map(({ level, size }) => [level, size])).toEqual([[1, 24]])
      expect(count('daybook_segments')).toBe(1)
      await expectSegments()
    },
  )

  it('a step may run again after it failed', async () => {
    await record(some(24))
    for (const start of [sealNext, sealNext, sealNext, mergeNext]) {
      const work = start(connection, tuning)
      for (let next = work.next(); !next.done; next = work.next()) {
        const step = next.value
        const failed = (): void => {
          step()
          throw new Error('disk full')
        }
        expect(() => connection.tryWrite(failed)).toThrow('disk full')
        connection.tryWrite(step)
      }
    }
    expect(state().segments.map(({ level, size }) => [level, size])).toEqual([[1, 24]])
    await expectSegments()
  })

  it('events that come while a segment is made are in none, and not lost', async () => {
    await record(some(8))
    const work = sealNext(connection, tuning)
    run(work, 3)
    await record(some(3))
    await importAt([OLD], 'old')
    const [, second] = await all()
    await audit.store.remove([second!.id])
    expect(run(work)).toBe(true)
    expect(indexTruth(filename)).toMatchObject({ unsealed: 4, missing: [] })
  })

  it('the state has another version after a change', async () => {
    await record(some(8))
    const before = state()
    expect(state()).toEqual(before)
    seal()
    const after = state()
    expect(after.version).toBeGreaterThan(before.version)
    expect(after.segments).toHaveLength(1)
  })
})
