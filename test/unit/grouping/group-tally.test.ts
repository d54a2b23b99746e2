import { describe, expect, it } from 'vitest'
import { finishSteps } from '../../../src/filter/steps.js'
import { createGroupTally, type GroupTally } from '../../../src/grouping/group-tally.js'
import { events } from './events.js'

const added = (tally: GroupTally, attributes: readonly object[]): GroupTally => {
  for (const event of events(attributes)) finishSteps(tally.add(event))
  tally.endSlice()
  return tally
}

const countsOf = ({ groups }: GroupTally): unknown[] =>
  [...groups.values()].map(({ values, count }) => [...values, count])

describe('a group tally', () => {
  it('keeps the first groups up to its capacity, and is full then', () => {
    const capacity = { groups: 2, characters: 100 }
    const tally = createGroupTally({ by: ['a'], numbers: [] }, [], capacity)
    added(tally, [{ a: 1 }, { a: 2 }])
    expect(tally.isFull).toBe(false)
    added(tally, [{ a: 3 }, { a: 1 }])
    expect(tally.isFull).toBe(true)
    expect(countsOf(tally)).toEqual([
      [1, 2],
      [2, 1],
    ])
  })

  it('limits the characters of the values', () => {
    const capacity = { groups: 10, characters: 12 }
    const tally = createGroupTally({ by: ['a'], numbers: [] }, [], capacity)
    added(tally, [{ a: 'x'.repeat(10) }, { a: 'y'.repeat(10) }, { a: 'zz' }])
    expect(tally.isFull).toBe(true)
    expect(countsOf(tally)).toEqual([
      ['x'.repeat(10), 1],
      ['zz', 1],
    ])
  })

  it('makes no group of a text of more than 1000 characters', () => {
    const tally = createGroupTally({ by: ['a'], numbers: [] }, [])
    added(tally, [{ a: 'x'.repeat(1001) }, { a: ['x'.repeat(1001), 'short'] }, {}])
    expect(countsOf(tally)).toEqual([
      ['short', 1],
      [null, 1],
    ])
  })

  it('keeps texts, numbers and booleans of the same spelling apart', () => {
    const tally = createGroupTally({ by: ['a'], numbers: [] }, [])
    added(tally, [{ a: 1 }, { a: '1' }, { a: true }, { a: 'true' }, { a: null }, { a: 'null' }])
    expect(countsOf(tally)).toHaveLength(6)
  })

  it('counts an event at an edge in the bucket that begins there', () => {
    const start = 1_767_225_600_000_000
    const edges = Array.from({ length: 6 }, (_, n) => start + n * 2_000_000)
    const tally = createGroupTally({ by: ['a'], numbers: [] }, edges)
    added(
      tally,
      Array.from({ length: 9 }, () => ({ a: 1 })),
    )
    const [group] = tally.groups.values()
    expect([...group!.buckets!]).toEqual([2, 2, 2, 2, 1])
  })

  it('pauses while it adds an event with many values', () => {
    const many = Array.from({ length: 200 }, (_, n) => n)
    const tally = createGroupTally({ by: ['a', 'b'], numbers: [] }, [])
    let pauses = 0
    for (const event of events([{ a: many, b: many }]))
      for (const _ of tally.add(event)) pauses += 1
    expect(tally.groups.size).toBe(40_000)
    expect(pauses).toBeGreaterThan(100)
  })
})
