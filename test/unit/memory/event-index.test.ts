import type { AuditEvent, JsonObject } from 'daybook'
import { expect, it } from 'vitest'
import { finishSteps } from '../../../src/filter/steps.js'
import { createEventIndex } from '../../../adapters/memory/event-index.js'
import { parseFrozen } from '../../../adapters/memory/frozen.js'
import { createLiveEvents } from '../../../adapters/memory/live.js'
import { createTimeline } from '../../../adapters/memory/timeline.js'
import { plainEvent } from '../../support/plain-events.js'

const eventOf = (attributes: JsonObject): AuditEvent =>
  plainEvent({ attributes: parseFrozen(JSON.stringify(attributes)) })

/** The numbers of events of each part of the index. */
function partSizes(count: number, attributes: JsonObject): number[] {
  const timeline = createTimeline()
  const event = eventOf(attributes)
  timeline.addNewest(Array.from({ length: count }, (_, i) => ({ time: i + 1, event })))
  const index = createEventIndex(timeline, createLiveEvents(timeline))
  const { parts } = finishSteps(index.view(undefined))
  return parts.map(({ size }) => size)
}

it('a part of the index has fewer events if they have many values', () => {
  const values = Array.from({ length: 10_000 }, (_, i) => i)
  expect(partSizes(1000, { n: 1 })).toEqual([1000])
  const sizes = partSizes(1000, { values })
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1000)
  expect(Math.max(...sizes) * values.length).toBeLessThan(400_000)
})

const event = eventOf({ n: 1 })

const eventsAt = (times: readonly number[]) => times.map((time) => ({ time, event }))

const timesFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => first + 10 * i)

it('adds some thousand events at a time, also if events are added during the pauses', () => {
  const timeline = createTimeline()
  const index = createEventIndex(timeline, createLiveEvents(timeline))
  timeline.addNewest(eventsAt(timesFrom(10, 9000)))
  const first = index.view(undefined)
  expect(first.next().done).toBe(false)
  // Imported events before and after the added events, and a new event.
  const imported = [5, 15, 89_995]
  timeline.insert(eventsAt(imported))
  for (const time of imported) index.addLate(time)
  timeline.addNewest(eventsAt([300_000]))
  expect(first.next().done).toBe(false)
  const { parts } = finishSteps(index.view(undefined))
  const found = parts.flatMap((part) => Array.from({ length: part.size }, (_, i) => part.timeOf(i)))
  const times = [...timesFrom(10, 9000), ...imported, 300_000]
  expect(found.toSorted((a, b) => a! - b!)).toEqual(times.toSorted((a, b) => a - b))
  expect(finishSteps(first).parts).toEqual(parts)
})
