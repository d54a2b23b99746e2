import type { AuditEvent, JsonObject } from 'daybook'
import { expect, it } from 'vitest'
import { extractedSource } from '../../../../src/store-kit/index/block-source.js'
import {
  createGrowingIndex,
  type GrowingIndex,
} from '../../../../src/store-kit/index/growing-index.js'
import { ordinalsOf } from '../../../support/index-values.js'
import { plainEvent } from '../../../support/plain-events.js'
import type { IndexPart } from '../../../../src/store-kit/index/part.js'

const eventOf = (attributes: JsonObject): AuditEvent => plainEvent({ attributes })

const wide = eventOf(Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`k${i}`, i])))

const createIndex = (): GrowingIndex => createGrowingIndex(10, extractedSource)

const timesOf = (parts: readonly IndexPart[]): number[][] =>
  parts.map((part) => Array.from({ length: part.size }, (_, i) => part.timeOf(i)))

/** Runs the steps one by one. Returns their number and the parts. */
function partsInSteps(index: GrowingIndex): { steps: number; parts: readonly IndexPart[] } {
  for (let steps = 1; ; steps++) {
    const parts = index.parts(() => true)
    if (parts) return { steps, parts }
  }
}

it('an event of many names is added in steps', () => {
  const index = createIndex()
  index.add(1, wide)
  expect(index.finish(() => true)).toBe(false)
  expect(index.parts(() => true)).toBeUndefined()
  // A further addition does the rest at once.
  index.add(2, eventOf({ k1: 1 }))
  const parts = index.parts(() => true)!
  expect(timesOf(parts)).toEqual([[1, 2]])
  expect(ordinalsOf(parts[0]!.find('k1', 1))).toEqual([0, 1])
})

it('late events are sorted in steps', () => {
  const index = createIndex()
  for (const time of [5, 3, 4]) index.addLate(time, wide)
  const { steps, parts } = partsInSteps(index)
  expect(steps).toBeGreaterThanOrEqual(9)
  expect(timesOf(parts)).toEqual([[3, 4, 5]])
  expect(partsInSteps(index).steps).toBe(1)
})

it('a full block of late events is sorted in steps', () => {
  const index = createIndex()
  for (let time = 10; time >= 1; time--) index.addLate(time, eventOf({ time }))
  expect(index.finish(() => true)).toBe(false)
  index.addLate(11, eventOf({}))
  expect(timesOf(partsInSteps(index).parts)).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [11]])
})

it.each([[3], [10]])(
  '%i late events that are dropped while they are sorted stay dropped',
  (count) => {
    const index = createIndex()
    for (let time = 1; time <= count; time++) index.addLate(time, eventOf({ time }))
    expect(index.parts(() => true)).toBeUndefined()
    index.dropLate()
    expect(partsInSteps(index).parts).toEqual([])
  },
)
