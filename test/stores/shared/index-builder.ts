import fc from 'fast-check'
import type { JsonObject } from 'daybook'
import { describe, expect, it } from 'vitest'
import { mergeNext } from '../../support/merge-next.js'
import { rebuildNext } from '../../../src/store-kit/index-builder/rebuilding.js'
import { sealEarly, sealNext } from '../../../src/store-kit/index-builder/sealing.js'
import {
  dropAbandoned,
  dropExpired,
} from '../../../src/store-kit/index-builder/segment-dropping.js'
import { EARLY_LEVEL } from '../../../src/store-kit/index-builder/segment-levels.js'
import { INDEX_BOUNDS, type IndexBounds } from '../../../src/store-kit/index/index-bounds.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { type IndexFixture, OLD, someAttributes, TUNING } from '../../support/index-fixture.js'
import { ordinalsOf } from '../../support/index-values.js'
import { expectPart, timeOf } from '../../support/part-truth.js'
import type { SlowWork } from '../../support/slow-work.js'

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

const oldTimes = (count: number): number[] => range(0, count - 1).map((i) => OLD + i * 1000)

/** Runs work that another process has already done. It finds this at its end, or finds that rows are missing. */
const finishLate = (work: SlowWork): Promise<unknown> =>
  work.finish().catch((error) => expect(error).toMatchObject({ code: 'STORE_FAILED' }))

/** Tests of the index builder of any store. */
export function describeIndexBuilder(index: IndexFixture): void {
  describe('sealing', () => describeSealing(index))
  describe('early sealing', () => describeEarlySealing(index))
  describe('limited columns', () => describeBounds(index))
  describe('late events', () => describeLateEvents(index))
  describe('merging', () => describeMerging(index))
  describe('several processes', () => describeProcesses(index))
}

function describeSealing(index: IndexFixture): void {
  it('nothing is sealed before there are enough events', async () => {
    await index.record(someAttributes(7))
    expect(await index.builder().driver.isSealDue(8)).toBe(false)
    expect(await index.seal()).toBe(0)
    expect(await index.truth()).toMatchObject({ segments: [], hidden: 0, unsealed: 7 })
    expect(await index.version()).toBe(0)
  })

  it('the oldest events are sealed into full segments, which index them', async () => {
    await index.record(someAttributes(20))
    expect(await index.builder().driver.isSealDue(8)).toBe(true)
    const { length } = await index.all()
    expect(length).toBe(20)
    expect(await index.seal()).toBe(2)
    const events = await index.all()
    expect((await index.visibleSegments()).map(({ size, first }) => [size, first])).toEqual([
      [8, timeOf(events[0]!)],
      [8, timeOf(events[8]!)],
    ])
    await index.expectSegments()
    expect((await index.truth()).unsealed).toBe(4)
  })

  it('each change of the visible segments changes the version', async () => {
    await index.record(someAttributes(8))
    const version = await index.version()
    expect(await index.version()).toBe(version)
    await index.seal()
    expect(await index.version()).toBeGreaterThan(version)
  })

  it('segments index any attributes', async () => {
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
        await index.record(some)
        expect(await index.seal()).toBe(1)
        const segments = await index.visibleSegments()
        expectPart(await index.load(segments.at(-1)!), (await index.all()).slice(-8))
      }),
      { numRuns: randomRuns(8, 200) },
    )
  })

  it('all values of an event are listed, also if there are many', async () => {
    await index.audit().recordCustom('huge', { first: 1, list: range(0, 29_999), last: 2 })
    await index.record(someAttributes(7))
    expect(await index.seal()).toBe(1)
    const part = await index.load((await index.visibleSegments())[0]!)
    const names = ['first', 'list', 'last', 'n', 'type', 'nothing']
    expect(names.map((name) => ordinalsOf(part.partial(name)))).toEqual(names.map(() => []))
    expect(ordinalsOf(part.find('list', 29_999))).toEqual([0])
    expect(ordinalsOf(part.find('last', 2))).toEqual([0])
  })
}

/** Sealing and merging with a limited number of columns. */
function describeBounds(index: IndexFixture): void {
  const few = (bounds: Partial<IndexBounds>) => ({
    ...TUNING,
    bounds: { ...INDEX_BOUNDS, ...bounds },
  })
  /** Events, each with a unique name of an attribute. */
  const ownNames = (count: number): JsonObject[] =>
    range(0, count - 1).map((n) => ({ n, [`own-${n}`]: n, even: n % 2 === 0 }))

  const loadAll = async (): Promise<readonly IndexPart[]> =>
    Promise.all((await index.visibleSegments()).map(index.load))

  /** Checks that the event with this number can be found only by its unique name and by `n`, if the part has it. */
  const expectFound = (part: IndexPart, from: number): void => {
    for (let ordinal = 0; ordinal < part.size; ordinal++) {
      const name = `own-${from + ordinal}`
      const found = [part.find(name, from + ordinal), part.partial(name)].map((set) =>
        ordinalsOf(set),
      )
      expect(found.flat(), name).toEqual([ordinal])
      expect(ordinalsOf(part.find('n', from + ordinal))).toEqual([ordinal])
    }
    expect(['n', 'even', 'type'].map((name) => ordinalsOf(part.partial(name)))).toEqual([
      [],
      [],
      [],
    ])
    expect(ordinalsOf(part.partial('nothing'))).toEqual([])
  }

  it('events with names beyond the columns are found by the hashes of these names', async () => {
    await index.record(ownNames(8))
    expect(await index.repeat(sealNext, few({ names: 12 }))).toBe(1)
    const [part] = await loadAll()
    expectFound(part!, 0)
    expect(part!.find('own-0', 0).size).toBe(1)
    expect(part!.find('own-7', 7).size).toBe(0)
  })

  it('a merged segment keeps the columns that most of its parts have', async () => {
    await index.record(ownNames(72))
    const tuning = few({ names: 14 })
    expect(await index.repeat(sealNext, tuning)).toBe(9)
    expect(await index.repeat(mergeNext, tuning)).toBe(4)
    expect((await index.truth()).segments).toEqual([[2, 72]])
    const [part] = await loadAll()
    expectFound(part!, 0)
    const columns = range(0, 71).filter((n) => part!.find(`own-${n}`, n).size > 0)
    expect(columns.length).toBe(14 - 4)
  })

  it('an event with more names than are listed is found by all names that a part has no column for', async () => {
    const many = Object.fromEntries(range(0, 29).map((i) => [`many-${i}`, i]))
    await index.record([...ownNames(8), ...someAttributes(7), many, ...someAttributes(8)])
    const tuning = few({ names: 10, values: 4 })
    expect(await index.repeat(sealNext, tuning)).toBe(3)
    expect(await index.repeat(mergeNext, tuning)).toBe(1)
    const [part] = await loadAll()
    const names = ['n', 'many-0', 'many-29', 'nothing']
    expect(names.map((name) => ordinalsOf(part!.partial(name)).includes(15))).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  it('segments end early, and become due early, by the bytes of their events', async () => {
    const texts = (n: number): string[] => range(0, 299).map((i) => String((7919 * i + n) ** 3))
    await index.record(range(0, 5).map((n) => ({ n, texts: texts(n) })))
    const tuning = few({ bytes: 15_000 })
    const { driver } = index.builder(tuning)
    expect(await driver.isSealDue(8)).toBe(true)
    expect(await index.builder().driver.isSealDue(8)).toBe(false)
    expect(await index.repeat(sealNext, tuning)).toBeGreaterThan(0)
    const segments = await index.visibleSegments()
    for (const { size } of segments) expect(size).toBeLessThan(6)
    await index.expectSegments()
  })
}

function describeEarlySealing(index: IndexFixture): void {
  const tuning = { ...TUNING, early: { minEvents: 3, afterMs: 0 } }
  const sealEarlyOnce = (): Promise<boolean> => sealEarly(index.builder(tuning))

  it('seals all events, if there are enough', async () => {
    await index.record(someAttributes(2))
    expect(await sealEarlyOnce()).toBe(false)
    await index.record(someAttributes(3, 2))
    expect(await sealEarly(index.builder())).toBe(false)
    expect(await sealEarlyOnce()).toBe(true)
    expect(await sealEarlyOnce()).toBe(false)
    expect(await index.truth()).toMatchObject({ segments: [[EARLY_LEVEL, 5]], unsealed: 0 })
    await index.expectSegments()
  })

  it('leaves segments that are merged into full ones', async () => {
    for (const count of [3, 4, 5]) {
      await index.record(someAttributes(count))
      expect(await sealEarlyOnce()).toBe(true)
    }
    expect(await index.repeat(mergeNext, tuning)).toBe(1)
    expect((await index.truth()).segments).toEqual([[0, 12]])
    await index.record(someAttributes(7, 12))
    expect(await sealEarlyOnce()).toBe(true)
    await index.record(someAttributes(16, 19))
    expect(await index.seal()).toBe(2)
    expect(await index.repeat(mergeNext, tuning)).toBe(1)
    expect((await index.truth()).segments).toEqual([[1, 35]])
    await index.expectSegments()
  })

  it('counts late events, and lists each of them once', async () => {
    await index.record(someAttributes(8))
    expect(await index.seal()).toBe(1)
    await index.importAt(oldTimes(2), 'late')
    await index.record(someAttributes(1, 8))
    expect(await sealEarlyOnce()).toBe(true)
    expect(await index.lateTimes()).toEqual([])
    expect(await index.truth()).toMatchObject({
      segments: [
        [EARLY_LEVEL, 3],
        [0, 8],
      ],
      unsealed: 0,
      missing: [],
    })
    await index.expectSegments()
  })
}

function describeLateEvents(index: IndexFixture): void {
  it('events imported before sealed ones are unsealed until they are sealed themselves', async () => {
    await index.record(someAttributes(16))
    expect(await index.seal()).toBe(2)
    await index.importAt([OLD, OLD + 1000], 'first')
    expect(await index.truth()).toMatchObject({ unsealed: 2, missing: [] })
    await index.record(someAttributes(6, 100))
    expect(await index.seal()).toBe(1)
    expect(await index.truth()).toMatchObject({ unsealed: 0, missing: [] })
    expect((await index.visibleSegments())[0]).toMatchObject({ size: 8, first: OLD })
    expect(await index.lateTimes()).toEqual([])
    await index.expectSegments()
  })

  it('events imported before unsealed ones are sealed in the order of time', async () => {
    await index.importAt([OLD, OLD + 1000, OLD + 2000], 'old')
    await index.record(someAttributes(20))
    await index.importAt([OLD + 5_000_000], 'between')
    expect(await index.lateTimes()).toContain(OLD + 5_000_000)
    expect(await index.seal()).toBe(3)
    expect(await index.truth()).toMatchObject({ unsealed: 0, missing: [] })
    expect(await index.lateTimes()).toEqual([])
    await index.expectSegments()
  })

  it('late events after the new end stay on the list', async () => {
    await index.record(someAttributes(1))
    await index.importAt(oldTimes(12).toReversed(), 'backwards')
    expect(await index.lateTimes()).toHaveLength(12)
    expect(await index.seal()).toBe(1)
    expect(await index.lateTimes()).toHaveLength(4)
    expect(await index.truth()).toMatchObject({ unsealed: 5, missing: [] })
  })

  it('a live event that closes after later events is late', async () => {
    const live = await index.audit().recordLive('info:runs:start', { state: 'open' })
    await index.record(someAttributes(8))
    expect(await index.seal()).toBe(1)
    await live.update({ state: 'done' })
    await live.close()
    expect(await index.lateTimes()).toHaveLength(1)
    await index.record(someAttributes(7))
    expect(await index.seal()).toBe(1)
    const part = await index.load((await index.visibleSegments())[0]!)
    expect(ordinalsOf(part.find('state', 'done'))).toEqual([0])
    await index.expectSegments()
  })

  it('an event that was removed and imported again is sealed with its new attributes', async () => {
    await index.importAt([OLD], 'before')
    await index.record(someAttributes(8))
    expect(await index.seal()).toBe(1)
    const [first] = await index.all()
    await index.audit().store.remove([first!.id])
    await index.importAt([OLD], 'after')
    await index.record(someAttributes(6))
    expect(await index.seal()).toBe(1)
    const parts = await Promise.all((await index.visibleSegments()).map(index.load))
    expect(parts.filter((part) => part.find('tag', 'after').size > 0)).toHaveLength(1)
    expect(await index.truth()).toMatchObject({ unsealed: 0, missing: [] })
  })

  it('late events that were removed leave the list without a segment', async () => {
    await index.record(someAttributes(8))
    expect(await index.seal()).toBe(1)
    await index.importAt(oldTimes(8), 'removed')
    await index.audit().store.removeBefore(OLD + 8000)
    expect(await index.seal()).toBe(1)
    expect((await index.truth()).segments).toEqual([[0, 8]])
    expect(await index.lateTimes()).toEqual([])
    expect(await index.seal()).toBe(0)
  })
}

function describeMerging(index: IndexFixture): void {
  it('segments of a level become one of the next, and their rows are removed', async () => {
    await index.record(someAttributes(80))
    expect(await index.seal()).toBe(10)
    expect(await index.merge()).toBe(4)
    expect(await index.truth()).toMatchObject({
      segments: [
        [2, 72],
        [0, 8],
      ],
      hidden: 0,
    })
    await index.expectSegments()
  })

  it('removed events are left out, and events in two segments are sealed again', async () => {
    await index.importAt([OLD], 'before')
    await index.record(someAttributes(15))
    expect(await index.seal()).toBe(2)
    const events = await index.all()
    const removed = [0, 3, 5, 11].map((i) => events[i]!)
    await index.audit().store.remove(removed.map(({ id }) => id))
    await index.importAt([OLD], 'after')
    await index.record(someAttributes(7, 50))
    expect(await index.seal()).toBe(1)
    expect(await index.merge()).toBe(1)
    const [merged, ...others] = await index.visibleSegments()
    expect(others).toEqual([])
    // Three of 24 events were removed. One event is in two segments; only its row has the current attributes.
    expect(merged!.size).toBe(19)
    expect(await index.all()).toHaveLength(20)
    expect(await index.truth()).toMatchObject({ unsealed: 1, missing: [] })
    const left = (await index.all()).filter((event) => timeOf(event) !== OLD)
    const part = await index.load(merged!)
    expect(Array.from(left, (_, ordinal) => part.timeOf(ordinal))).toEqual(left.map(timeOf))
    for (const tag of ['before', 'after']) expect(ordinalsOf(part.find('tag', tag))).toEqual([])
    expect(ordinalsOf(part.find('key', 'key-2'))).toEqual([])
    expect(ordinalsOf(part.find('key', 'key-3'))).toEqual([
      left.findIndex(({ attributes }) => attributes['n'] === 3),
    ])
    await index.record(someAttributes(7, 60))
    expect(await index.seal()).toBe(1)
    const again = (await index.visibleSegments()).find(({ id }) => id !== merged!.id)!
    expect(ordinalsOf((await index.load(again)).find('tag', 'after'))).toEqual([0])
  })

  it('events before the oldest one are dropped with their segments, or by merging', async () => {
    await index.record(someAttributes(50))
    await index.seal()
    const events = await index.all()
    await index.audit().store.removeBefore(timeOf(events[12]!))
    expect(await index.repeat(dropExpired)).toBe(1)
    expect((await index.truth()).segments).toHaveLength(5)
    expect(await index.merge()).toBe(1)
    expect((await index.visibleSegments()).map(({ size }) => size)).toEqual([20, 8, 8])
    await index.expectSegments()
    await index.audit().store.removeBefore(timeOf(events[49]!) + 1)
    const version = await index.version()
    expect(await index.repeat(dropExpired)).toBe(1)
    expect(await index.version()).toBe(version + 1)
    expect(await index.segmentRows()).toBe(0)
  })

  it('a merge without remaining events makes no segment', async () => {
    await index.record(someAttributes(25))
    await index.seal()
    const events = await index.all()
    await index.audit().store.remove(events.slice(0, 24).map(({ id }) => id))
    expect(await index.merge()).toBe(1)
    expect(await index.segmentRows()).toBe(0)
  })

  it('removed events are remembered while a segment has them', async () => {
    await index.record(someAttributes(8))
    await index.seal()
    const last = (await index.all())[7]!
    await index.audit().store.remove([last.id])
    await index.record(someAttributes(16))
    await index.seal()
    expect(await index.removedTimes()).toEqual([timeOf(last)])
    await index.merge()
    expect(await index.removedTimes()).toEqual([])

    const events = await index.all()
    await index.audit().store.remove([events[3]!.id])
    await index.audit().store.removeBefore(timeOf(events.at(-1)!) + 1)
    expect(await index.repeat(dropExpired)).toBe(1)
    expect(await index.removedTimes()).toEqual([])
  })
}

function describeProcesses(index: IndexFixture): void {
  /** Seals events until the segment is complete but not visible. */
  const sealUntilWritten = async (): Promise<SlowWork> => {
    const work = index.slow(sealNext)
    const isWritten = async () => (await index.segmentRows()) > 1
    expect(await work.advanceUntil(isWritten)).toBe(false)
    return work
  }

  it('an abandoned segment is not visible, and is dropped', async () => {
    await index.record(someAttributes(8))
    await sealUntilWritten()
    expect(await index.truth()).toMatchObject({ segments: [], unsealed: 8, missing: [], hidden: 1 })
    expect(await index.repeat(dropAbandoned)).toBe(1)
    expect(await index.segmentRows()).toBe(0)
    expect(await index.seal()).toBe(1)
    await index.expectSegments()
  })

  it('a segment that is published after another process listed it as abandoned stays', async () => {
    await index.record(someAttributes(8))
    const sealing = await sealUntilWritten()
    let isListed = false
    const dropping = index.slow((builder) =>
      dropAbandoned({
        ...builder,
        driver: {
          ...builder.driver,
          async hiddenSegments() {
            const ids = await builder.driver.hiddenSegments()
            isListed = ids.length === 1
            return ids
          },
        },
      }),
    )
    await dropping.advance(0)
    if (!isListed) await dropping.advance(1)
    expect(isListed).toBe(true)
    expect(await sealing.finish()).toBe(true)
    expect(await dropping.finish()).toBe(true)
    expect(await index.truth()).toEqual({
      segments: [[0, 8]],
      ...{ hidden: 0, damage: [], unsealed: 0, missing: [] },
    })
    await index.expectSegments()
  })

  it.each(range(1, 7))(
    'a process stops sealing if its segment is dropped after %i steps',
    async (steps) => {
      await index.record(someAttributes(24))
      const work = index.slow(sealNext)
      const isOver = await work.advance(steps)
      await index.repeat(dropAbandoned)
      while (!isOver && !(await work.advance(1)))
        expect(await index.truth()).toMatchObject({ damage: [] })
      expect(await work.finish()).toBe(true)
      await index.repeat(dropAbandoned)
      await index.seal()
      expect(await index.truth()).toMatchObject({ hidden: 0, damage: [], unsealed: 0 })
      expect((await index.truth()).segments).toEqual([0, 0, 0].map((level) => [level, 8]))
      await index.expectSegments()
    },
  )

  it.each(range(1, 7))(
    'when two processes seal the same events, one of them %i steps later, one stops',
    async (steps) => {
      await index.record(someAttributes(24))
      const work = index.slow(sealNext)
      await work.advance(steps)
      expect(await sealNext(index.builder())).toBe(true)
      expect(await work.finish()).toBe(true)
      await index.seal()
      expect((await index.truth()).segments).toEqual([0, 0, 0].map((level) => [level, 8]))
      expect(new Set((await index.visibleSegments()).map(({ first }) => first)).size).toBe(3)
      expect(await index.truth()).toMatchObject({ hidden: 0, unsealed: 0 })
      await index.expectSegments()
    },
  )

  it('a process that merges segments of which another has found one damaged gives up', async () => {
    await index.record(someAttributes(24))
    await index.seal()
    const work = index.slow(mergeNext)
    await work.advance(2)
    const segments = await index.visibleSegments()
    await index.builder().driver.setDamaged(segments[1]!.id)
    expect(await work.finish()).toBe(true)
    expect(await index.visibleSegments()).toEqual([segments[0], segments[2]])
    expect(await index.repeat(rebuildNext)).toBe(1)
    expect(await index.truth()).toMatchObject({ segments: [0, 0, 0].map((level) => [level, 8]) })
    await index.expectSegments()
  })

  it('two processes never seal the same late events', async () => {
    await index.record(someAttributes(8))
    await index.seal()
    await index.importAt(oldTimes(8), 'late')
    const work = await sealUntilWritten()
    expect(await sealNext(index.builder())).toBe(true)
    expect(await work.finish()).toBe(true)
    expect((await index.truth()).segments).toEqual([0, 0].map((level) => [level, 8]))
    await index.expectSegments()
  })

  it.each(range(1, 14))(
    'when two processes merge the same segments, one of them %i steps later, one stops',
    async (steps) => {
      await index.record(someAttributes(24))
      await index.seal()
      const work = index.slow(mergeNext)
      await work.advance(steps)
      await index.merge()
      await finishLate(work)
      await index.repeat(dropAbandoned)
      expect(await index.truth()).toMatchObject({ segments: [[1, 24]], hidden: 0, damage: [] })
      await index.expectSegments()
    },
  )

  it.each(range(4, 15))(
    'a process stops merging segments that another process has merged and drops in step %i',
    async (steps) => {
      await index.record(someAttributes(24))
      await index.seal()
      let hasReadTimes = false
      const first = index.slow(async (builder) => {
        const checkPresence: typeof builder.driver.checkPresence = async (...args) => {
          hasReadTimes = true
          return builder.driver.checkPresence(...args)
        }
        return mergeNext({ ...builder, driver: { ...builder.driver, checkPresence } })
      })
      expect(await first.advanceUntil(async () => hasReadTimes)).toBe(false)
      await index.slow(mergeNext).advance(steps)
      await finishLate(first)
      await index.repeat(dropAbandoned)
      await index.merge()
      expect(await index.truth()).toMatchObject({ segments: [[1, 24]], hidden: 0, damage: [] })
      await index.expectSegments()
    },
  )

  it('events that are added or removed while a segment is built are not lost', async () => {
    await index.record(someAttributes(8))
    const work = index.slow(sealNext)
    await work.advance(3)
    await index.record(someAttributes(3))
    await index.importAt([OLD], 'old')
    const [, second] = await index.all()
    await index.audit().store.remove([second!.id])
    expect(await work.finish()).toBe(true)
    expect(await index.truth()).toMatchObject({ unsealed: 4, missing: [] })
  })

  it.each([2, 5, 9])(
    'events that are removed, or removed and imported again, after %i steps of a merge are found',
    async (steps) => {
      await index.importAt([OLD], 'before')
      await index.record(someAttributes(24))
      await index.seal()
      const work = index.slow(mergeNext)
      await work.advance(steps)
      const events = await index.all()
      await index.audit().store.remove([events[0]!.id, events.at(-3)!.id])
      await index.importAt([OLD], 'after')
      expect(await work.finish()).toBe(true)
      expect(await index.truth()).toMatchObject({ missing: [], hidden: 0 })
      expect(await index.lateTimes()).toContain(OLD)
    },
  )
}
import { randomRuns } from '../../support/soak.js'
