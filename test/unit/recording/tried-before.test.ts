import { formatTimestamp } from 'daybook'
import { expect, it } from 'vitest'
import { createAttempts } from '../../../src/recording/batches.js'
import { createAvailability } from '../../../src/recording/availability.js'
import { createJournaling } from '../../../src/recording/journaling.js'
import type { JournalEntry } from '../../../src/store/journal.js'
import { fakeStore } from '../fake-store.js'
import { memoryJournal } from '../memory-journal.js'

/*
 * Bounds of the times of events that an earlier attempt may have stored.
 */

const draft = (type: string) => ({
  suffix: '8000000000000000',
  username: null,
  system: true,
  type,
  source: null,
  attributes: {},
  json: '{}',
})

it('a replay searches for events since the oldest attempt of its entries', async () => {
  const entries: JournalEntry[] = [undefined, 20, 10, 30].map((since, n) => ({
    draft: draft(`entry ${n}`),
    recordedAt: n,
    since,
  }))
  const journaling = createJournaling(memoryJournal(Infinity, entries), () => 40)
  const bounds: unknown[] = []
  const replay = (count: number): Promise<void> =>
    journaling.replay(count, 5, async (drafts, since) => {
      bounds.push([drafts.map(({ type }) => type), since])
      return () => {}
    })
  await replay(1)
  await replay(3)
  expect(bounds).toEqual([
    [['entry 0'], undefined],
    [['entry 1', 'entry 2', 'entry 3'], 10],
  ])
  journaling.close()
})

it('an older event from an earlier attempt does not lower the bound of later events', async () => {
  const times = [3_000_000, 2_000_000]
  const store = fakeStore()
  const append: typeof store.append = async (drafts, options) => {
    const events = await store.append(drafts, options)
    const created_at = formatTimestamp(times.shift()!)
    return events.map((event) => ({ ...event, created_at }))
  }
  const attempts = createAttempts(
    {
      store: { ...store, append },
      availability: createAvailability(),
      retriedLater: new Set(),
      now: () => 9_000_000,
    },
    undefined,
  )
  const { signal } = new AbortController()
  await attempts.run([draft('newest')], { signal })
  expect(attempts.lowerBound()).toBe(3_000_000)
  await attempts.run([draft('stored earlier')], { signal })
  expect(attempts.lowerBound()).toBe(3_000_000)
})
