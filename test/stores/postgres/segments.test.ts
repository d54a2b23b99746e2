import fc from 'fast-check'
import { type AuditEvent, AuditLog, type JsonObject } from 'daybook'
import { beforeEach, afterEach, describe, expect, it } from 'vitest'
import { mergeNext } from '../../../adapters/postgres/index/merging.js'
import { sealNext } from '../../../adapters/postgres/index/sealing.js'
import { dropGone, removeOrphans } from '../../../adapters/postgres/index/segment-dropping.js'
import type { Steps } from '../../../adapters/postgres/index/steps.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { ordinalsOf } from '../../support/index-values.js'
import { expectPart, timeOf } from '../../support/part-truth.js'
import {
  loadSegment,
  postgresTruth,
  slowWork,
  type SlowWork,
  stepsOn,
  type StoredSegment,
  storedSegments,
} from '../../support/postgres-index.js'
import { useSchemas } from '../../support/schemas.js'

const TYPES = { 'info:runs:start': {} }

const tuning = { segmentSize: 8, fanOut: 3 }

const { database, schema } = useSchemas('segments')

let audit: AuditLog<typeof TYPES>

// Its own sealer looks once, and then not again for longer than any test takes.
const open = async (partitions: 'month' | 'none' = 'none'): Promise<void> => {
  const options = { pool: database().pool, schema: schema(), partitions }
  const { store, sealer } = createPostgresStore(options, { lookMs: 600_000 })
  audit = new AuditLog({ store, types: TYPES })
  await audit.list()
  await sealer.settled()
}
beforeEach(() => open())
afterEach(() => audit.close())

const steps = (): Steps => stepsOn(database().pool, schema())
const runAll = async (act: (steps: Steps) => Promise<boolean>): Promise<number> => {
  let times = 0
  while (await act(steps())) times += 1
  return times
}
const sealOne = (one: Steps): Promise<boolean> => sealNext(one, tuning)
const mergeOne = (one: Steps): Promise<boolean> => mergeNext(one, tuning)
const seal = (): Promise<number> => runAll(sealOne)
const merge = (): Promise<number> => runAll(mergeOne)
const slow = (act: (steps: Steps) => Promise<boolean>): SlowWork =>
  slowWork(database().pool, schema(), act)

const all = async (): Promise<AuditEvent[]> => [...(await audit.list({ limit: 1000 })).events]
const stored = (): Promise<StoredSegment[]> => storedSegments(database().pool, schema())
const truth = () => postgresTruth(database().pool, schema())
const load = (info: StoredSegment): Promise<IndexPart> =>
  loadSegment(database().pool, schema(), info)
const levels = async () => (await truth()).segments

async function value(sql: string): Promise<unknown> {
  const { rows } = await database().pool.query<[unknown]>({
    text: sql.replaceAll('%', `${schema()}.`),
    rowMode: 'array',
  })
  return rows[0]?.[0]
}
const count = (from: string): Promise<unknown> => value(`SELECT count(*)::int FROM %${from}`)
const lateAt = (time: number): Promise<unknown> => count(`late_events WHERE created_at = ${time}`)
const version = async (): Promise<number> => Number(await value('SELECT version FROM %index_state'))

async function record(attributes: readonly JsonObject[]): Promise<void> {
  for (const [i, one] of attributes.entries()) await audit.recordCustom(`type-${i % 3}`, one)
}
const some = (length: number, offset = 0): JsonObject[] =>
  Array.from({ length }, (_, i) => ({ n: offset + i, even: i % 2 === 0, key: `key-${offset + i}` }))

/** Every visible segment against the events whose times it has. */
async function expectSegments(): Promise<void> {
  const events = new Map((await all()).map((event) => [timeOf(event), event]))
  for (const info of await stored()) {
    const part = await load(info)
    const times = Array.from({ length: part.size }, (_, ordinal) => part.timeOf(ordinal))
    expectPart(
      part,
      times.map((time) => events.get(time)!),
    )
  }
  expect(await truth()).toMatchObject({ missing: [], stray: 0 })
}

const imported = (times: readonly number[], tag: string) =>
  times.map((time, i) => ({
    id: `0196b3c2-0000-4000-8000-${String(time % 1e12).padStart(12, '0')}`,
    created_at: new Date(time / 1000).toISOString().replace('Z', '000Z'),
    username: null,
    system: false,
    type: 'old',
    source: null,
    attributes: { tag, i },
  }))
const importAt = (times: readonly number[], tag: string) => audit.importEvents(imported(times, tag))

/** As no version of ours writes it. */
const insertRaw = (time: number, attributes: string): Promise<unknown> =>
  database().pool.query(
    `INSERT INTO ${schema()}.events VALUES ($1, '8000000000000000', 'raw', NULL, NULL, false, $2, '{}')`,
    [time, attributes],
  )

const OLD = 1_600_000_000_000_000

describe('sealing', () => {
  it('nothing happens before there are enough events', async () => {
    await record(some(7))
    expect(await seal()).toBe(0)
    expect(await truth()).toMatchObject({ segments: [], hidden: 0, unsealed: 7 })
    expect(await version()).toBe(0)
  })

  it('rests the less the more there is left, and no more where that is a lot', async () => {
    await record(some(67))
    const rests: number[] = []
    const noted: Steps = { ...steps(), restFor: (n) => rests.push(n) }
    for (let left = 8; left > 0; left--) await sealOne(noted)
    expect(await sealOne(noted)).toBe(false)
    expect(rests).toEqual([0, 4 / 7, 4 / 6, 4 / 5, 1, 4 / 3, 2, 4])
  })

  it.each(['none', 'month'] as const)(
    'full segments are made of the oldest, and answer as the events do, with partitions by %s',
    async (partitions) => {
      await audit.close()
      await database().pool.query(`DROP SCHEMA ${schema()} CASCADE`)
      await open(partitions)
      await importAt([OLD, OLD + 40 * 86_400_000_000], 'months')
      await record(some(18))
      expect(await seal()).toBe(2)
      const events = await all()
      expect((await stored()).map(({ size, first }) => [size, first])).toEqual([
        [8, timeOf(events[0]!)],
        [8, timeOf(events[8]!)],
      ])
      await expectSegments()
      expect((await truth()).unsealed).toBe(4)
    },
  )

  it('whatever the attributes are', async () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'b', 'a_b', 'type', 'username', 'x_y_z', 'toString', "'", '"', '\\'),
      fc.string({ minLength: 1, maxLength: 5 }),
    )
    const { value } = fc.letrec<{ value: JsonObject[string] }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false, 0, -5, 0.1, 1e308, 'x', '', '\u{1F600}', '\uE000'),
        fc.constantFrom('{', '}', '{"a",b}', 'NULL', '\\', '\\x41', "'", '\n', 'ä'.repeat(600)),
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
        expect(await seal()).toBe(1)
        const events = (await all()).slice(-8)
        expectPart(await load((await stored()).at(-1)!), events)
      }),
      { numRuns: 40 },
    )
  })

  it('what no version of ours writes is found, or may have anything', async () => {
    const rows = [
      '{"text":"a\\u0000b"}',
      '{"name\\u0000with":{"below":5},"n":1}',
      '{"half":"a\\ud83d"}',
      '{"huge":1e400,"least":-1e400}',
      `{"list":[${Array.from({ length: 3000 }, (_, i) => i).join()}]}`,
      '{"text":"a\\u0000b"}',
      '{"\\u00e4":"\\u00e4"}',
      '{}',
    ]
    for (const [i, row] of rows.entries()) await insertRaw(OLD + i, row)
    expect(await seal()).toBe(1)
    const part = await load((await stored())[0]!)
    expect(ordinalsOf(part.find('text', 'a\0b'))).toEqual([0, 5])
    expect(ordinalsOf(part.unindexed)).toEqual([1, 2, 4])
    expect(ordinalsOf(part.find('huge', Infinity))).toEqual([3])
    expect(ordinalsOf(part.find('least', -Infinity))).toEqual([3])
    expect(ordinalsOf(part.find('ä', 'ä'))).toEqual([6])
    expect(ordinalsOf(part.find('type', 'raw'))).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('names are numbered once, also where two do it at the same time', async () => {
    await record(some(32))
    await Promise.all([seal(), seal(), seal()])
    expect(await count('attribute_names')).toBe(5)
    expect(await value('SELECT count(DISTINCT name)::int FROM %attribute_names')).toBe(5)
    expect(await levels()).toEqual([0, 0, 0, 0].map((level) => [level, 8]))
    await expectSegments()
  })
})

describe('late events', () => {
  it('what is imported among sealed events is unsealed until it is sealed itself', async () => {
    await record(some(16))
    expect(await seal()).toBe(2)
    await importAt([OLD, OLD + 1000], 'first')
    expect(await truth()).toMatchObject({ unsealed: 2, missing: [] })
    await record(some(6, 100))
    expect(await seal()).toBe(1)
    expect(await truth()).toMatchObject({ unsealed: 0, missing: [] })
    expect((await stored())[0]).toMatchObject({ size: 8, first: OLD })
    expect(await count('late_events')).toBe(0)
    await expectSegments()
  })

  it('what is imported behind the sealed ones is unsealed until its turn comes', async () => {
    await importAt([OLD, OLD + 1000, OLD + 2000], 'old')
    await record(some(20))
    await importAt([OLD + 5_000_000], 'between')
    expect(await count('late_events')).toBe(1)
    expect(await seal()).toBe(3)
    expect(await truth()).toMatchObject({ unsealed: 0, missing: [] })
    expect(await count('late_events')).toBe(0)
    await expectSegments()
  })

  it('those behind the new end stay on the list', async () => {
    await record(some(1))
    await importAt(Array.from({ length: 12 }, (_, i) => OLD + i * 1000).toReversed(), 'backwards')
    expect(await count('late_events')).toBe(12)
    expect(await seal()).toBe(1)
    expect(await count('late_events')).toBe(4)
    expect(await truth()).toMatchObject({ unsealed: 5, missing: [] })
  })

  it('what continues the log is not late', async () => {
    await importAt([OLD, OLD + 2000], 'first')
    await importAt([OLD + 1000, OLD + 3000, OLD + 4000], 'partly')
    expect(await value('SELECT array_agg(created_at)::text FROM %late_events')).toBe(
      `{${OLD + 1000}}`,
    )
  })

  it('a live event that closes behind others is late', async () => {
    const live = await audit.recordLive('info:runs:start', { state: 'open' })
    await record(some(8))
    expect(await seal()).toBe(1)
    await live.update({ state: 'done' })
    await live.close()
    expect(await count('late_events')).toBe(1)
    await record(some(7))
    expect(await seal()).toBe(1)
    const part = await load((await stored())[0]!)
    expect(ordinalsOf(part.find('state', 'done'))).toEqual([0])
    await expectSegments()
  })

  it('an import that commits after later events were sealed is late', async () => {
    await record(some(4))
    const client = await database().pool.connect()
    try {
      const between = timeOf((await all())[1]!) + 1
      await client.query('BEGIN')
      await client.query(
        `INSERT INTO ${schema()}.events VALUES ($1, '8000000000000000', 'old', NULL, NULL, false, '{}', '{}')`,
        [between],
      )
      await client.query(`INSERT INTO ${schema()}.late_events (created_at) VALUES ($1)`, [between])
      await record(some(4, 10))
      expect(await seal()).toBe(1)
      await client.query('COMMIT')
      expect(await truth()).toMatchObject({ unsealed: 1, missing: [] })
      await record(some(7, 20))
      expect(await seal()).toBe(1)
      expect((await stored())[0]!.first).toBeLessThan(between)
      expect((await stored())[1]!.first).toBe(between)
    } finally {
      client.release()
    }
    await expectSegments()
  })

  it('what was removed and imported again is in a segment as it is now', async () => {
    await importAt([OLD], 'before')
    await record(some(8))
    expect(await seal()).toBe(1)
    const [first] = await all()
    await audit.store.remove([first!.id])
    await importAt([OLD], 'after')
    await record(some(6))
    expect(await seal()).toBe(1)
    const parts = await Promise.all((await stored()).map(load))
    expect(parts.filter((part) => part.find('tag', 'after').size > 0)).toHaveLength(1)
    expect(await truth()).toMatchObject({ unsealed: 0, missing: [] })
  })

  it('what was removed before it was sealed never is', async () => {
    await record(some(8))
    expect(await seal()).toBe(1)
    await importAt(
      Array.from({ length: 8 }, (_, i) => OLD + i * 1000),
      'gone',
    )
    await audit.store.removeBefore(OLD + 8000)
    expect(await seal()).toBe(1)
    expect(await levels()).toEqual([[0, 8]])
    expect(await count('late_events')).toBe(0)
    expect(await seal()).toBe(0)
  })
})

describe('merging', () => {
  it('segments of a level become one of the next', async () => {
    await record(some(80))
    expect(await seal()).toBe(10)
    expect(await merge()).toBe(4)
    expect(await truth()).toMatchObject({
      segments: [
        [2, 72],
        [0, 8],
      ],
      hidden: 0,
    })
    await expectSegments()
    expect(await count('segments')).toBe(2)
  })

  it('lists that are long, in more chunks than are read at once', async () => {
    const large = { segmentSize: 600, fanOut: 3 }
    const attributes = Array.from({ length: 1800 }, (_, n) => ({
      n,
      text: `${'x'.repeat(n % 500)} ${n}`,
      third: n % 3,
      late: n > 900,
    }))
    for (let at = 0; at < attributes.length; at += 300)
      await Promise.all(
        attributes.slice(at, at + 300).map((one) => audit.recordCustom('large', one)),
      )
    expect(await runAll((one) => sealNext(one, large))).toBe(3)
    expect(await runAll((one) => mergeNext(one, large))).toBe(1)
    expect(await levels()).toEqual([[1, 1800]])
    const part = await load((await stored())[0]!)
    const { rows } = await database().pool.query<{ n: number }>(
      `SELECT (attributes->>'n')::int AS n FROM ${schema()}.events ORDER BY created_at`,
    )
    const ordinalOf = (passes: (n: number) => boolean): number[] =>
      rows.flatMap(({ n }, ordinal) => (passes(n) ? ordinal : []))
    expect(ordinalsOf(part.find('third', 1))).toEqual(ordinalOf((n) => n % 3 === 1))
    expect(ordinalsOf(part.find('late', true))).toEqual(ordinalOf((n) => n > 900))
    for (const n of [0, 7, 499, 1799]) {
      const text = `${'x'.repeat(n % 500)} ${n}`
      expect(ordinalsOf(part.find('text', text))).toEqual(ordinalOf((one) => one === n))
    }
    expect(ordinalsOf(part.valued('text'))).toEqual(rows.map((_, ordinal) => ordinal))
  })

  it('removed events are left out, and those in two parts are sealed again', async () => {
    await importAt([OLD], 'before')
    await record(some(15))
    expect(await seal()).toBe(2)
    const events = await all()
    const gone = [0, 3, 5, 11].map((i) => events[i]!)
    await audit.store.remove(gone.map(({ id }) => id))
    await importAt([OLD], 'after')
    await record(some(7, 50))
    expect(await seal()).toBe(1)
    expect(await merge()).toBe(1)
    const [whole, ...others] = await stored()
    expect(others).toEqual([])
    // 24 rows in the parts, three of them gone, and one there twice, of which only its row tells the truth.
    expect(whole!.size).toBe(19)
    expect(await all()).toHaveLength(20)
    expect(await truth()).toMatchObject({ unsealed: 1, missing: [] })
    const left = (await all()).filter((event) => timeOf(event) !== OLD)
    const part = await load(whole!)
    expect(Array.from(left, (_, ordinal) => part.timeOf(ordinal))).toEqual(left.map(timeOf))
    for (const tag of ['before', 'after']) expect(ordinalsOf(part.find('tag', tag))).toEqual([])
    expect(ordinalsOf(part.find('key', 'key-2'))).toEqual([])
    await record(some(7, 60))
    expect(await seal()).toBe(1)
    const again = (await stored()).find(({ id }) => id !== whole!.id)!
    expect(ordinalsOf((await load(again)).find('tag', 'after'))).toEqual([0])
  })

  it('what lies before the oldest event goes, in segments that are merged and in whole ones', async () => {
    await record(some(50))
    await seal()
    const events = await all()
    await audit.store.removeBefore(timeOf(events[12]!))
    expect(await runAll(dropGone)).toBe(1)
    expect(await count('segments')).toBe(5)
    expect(await merge()).toBe(1)
    expect((await stored()).map(({ size }) => size)).toEqual([20, 8, 8])
    await expectSegments()
    await audit.store.removeBefore(timeOf(events[49]!) + 1)
    const before = await version()
    expect(await runAll(dropGone)).toBe(1)
    expect(await version()).toBe(before + 1)
    expect([await count('segments'), await count('segment_chunks')]).toEqual([0, 0])
  })

  it('a merge of which nothing is left makes nothing', async () => {
    await record(some(25))
    await seal()
    const events = await all()
    await audit.store.remove(events.slice(0, 24).map(({ id }) => id))
    expect(await merge()).toBe(1)
    expect([await count('segments'), await count('segment_chunks')]).toEqual([0, 0])
  })
})

describe('what comes in between', () => {
  it('a segment that nobody finished is not seen, and is removed', async () => {
    await record(some(8))
    expect(await slow(sealOne).advance(4)).toBe(false)
    expect(await truth()).toMatchObject({ segments: [], unsealed: 8, missing: [], hidden: 1 })
    expect(await count('segment_chunks')).not.toBe(0)
    expect(await runAll(removeOrphans)).toBe(1)
    expect([await count('segments'), await count('segment_chunks')]).toEqual([0, 0])
    expect(await seal()).toBe(1)
    await expectSegments()
  })

  it.each([1, 2, 3, 4, 5])(
    'after %i steps of one who is removed meanwhile all is as it would be without him',
    async (count) => {
      await record(some(24))
      const work = slow(sealOne)
      const isOver = await work.advance(count)
      await runAll(removeOrphans)
      while (!isOver && !(await work.advance(1))) expect(await truth()).toMatchObject({ stray: 0 })
      expect(await work.finish()).toBe(true)
      await runAll(removeOrphans)
      await seal()
      expect(await truth()).toMatchObject({ hidden: 0, stray: 0, unsealed: 0 })
      expect(await levels()).toEqual([0, 0, 0].map((level) => [level, 8]))
      await expectSegments()
    },
  )

  it.each([1, 2, 3, 4, 5])(
    'of two who seal the same, one after %i steps, one gives up',
    async (count) => {
      await record(some(24))
      const work = slow(sealOne)
      await work.advance(count)
      expect(await sealOne(steps())).toBe(true)
      expect(await work.finish()).toBe(true)
      await seal()
      expect(await levels()).toEqual([0, 0, 0].map((level) => [level, 8]))
      expect(new Set((await stored()).map(({ first }) => first)).size).toBe(3)
      expect(await truth()).toMatchObject({ hidden: 0, unsealed: 0 })
      await expectSegments()
    },
  )

  it('nor do two take the same late ones', async () => {
    await record(some(8))
    await seal()
    await importAt(
      Array.from({ length: 8 }, (_, i) => OLD + i * 1000),
      'late',
    )
    const work = slow(sealOne)
    await work.advance(4)
    expect(await sealOne(steps())).toBe(true)
    expect(await work.finish()).toBe(true)
    expect(await levels()).toEqual([0, 0].map((level) => [level, 8]))
    await expectSegments()
  })

  it.each([1, 2, 4, 6, 8, 9, 10, 11, 12, 13, 14])(
    'of two who merge the same, one after %i steps, one gives up',
    async (count) => {
      await record(some(24))
      await seal()
      const work = slow(mergeOne)
      await work.advance(count)
      await merge()
      // It finds that at its end, or that what it reads is gone.
      await work.finish().catch((error) => expect(error).toMatchObject({ code: 'STORE_FAILED' }))
      await runAll(removeOrphans)
      expect(await levels()).toEqual([[1, 24]])
      expect(await truth()).toMatchObject({ hidden: 0, stray: 0 })
      await expectSegments()
    },
  )

  it.each([8, 9, 10, 11, 12, 13, 14, 15])(
    'one who merges what another has merged, and is removing in step %i, makes nothing of it',
    async (count) => {
      await record(some(24))
      await seal()
      const first = slow(mergeOne)
      await first.advance(7)
      await slow(mergeOne).advance(count)
      await first.finish().catch((error) => expect(error).toMatchObject({ code: 'STORE_FAILED' }))
      await runAll(removeOrphans)
      await merge()
      expect(await levels()).toEqual([[1, 24]])
      expect(await truth()).toMatchObject({ hidden: 0, stray: 0 })
      await expectSegments()
    },
  )

  it('a segment that is finished after all, by one who was taken for dead, stays', async () => {
    await record(some(8))
    const maker = slow(sealOne)
    await maker.advance(4)
    const remover = slow(removeOrphans)
    // It knows of the segment by now.
    await remover.advance(1)
    expect(await maker.finish()).toBe(true)
    await remover.finish()
    expect(await truth()).toEqual({
      segments: [[0, 8]],
      ...{ hidden: 0, stray: 0, unsealed: 0, missing: [] },
    })
    await expectSegments()
  })

  it('events that come while a segment is made are in none, and not lost', async () => {
    await record(some(8))
    const work = slow(sealOne)
    await work.advance(3)
    await record(some(3))
    await importAt([OLD], 'old')
    const [, second] = await all()
    await audit.store.remove([second!.id])
    expect(await work.finish()).toBe(true)
    expect(await truth()).toMatchObject({ unsealed: 4, missing: [] })
  })

  it('events that are removed, or removed and imported again, between the steps of a merge', async () => {
    for (const count of [2, 5, 9]) {
      const time = OLD + count * 1000
      await importAt([time], 'before')
      await record(some(24))
      await seal()
      const work = slow(mergeOne)
      await work.advance(count)
      const again = (await all()).find((event) => timeOf(event) === time)!
      await audit.store.remove([again.id, (await all()).at(-3)!.id])
      await importAt([time], 'after')
      expect(await work.finish()).toBe(true)
      expect(await truth()).toMatchObject({ missing: [], hidden: 0 })
      expect(await lateAt(time)).toBe(1)
    }
  })

  it('what a crash takes of a segment keeps it from being seen', async () => {
    await record(some(8))
    const work = slow(sealOne)
    // Up to what makes it visible.
    await work.advance(4)
    await database().pool.query(`DELETE FROM ${schema()}.segment_chunks WHERE number = 2`)
    expect(await work.finish()).toBe(true)
    expect(await truth()).toMatchObject({ segments: [], hidden: 0, stray: 0, unsealed: 8 })
  })
})
