import type { AuditEvent } from 'daybook'
import { parseQuery } from 'daybook'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import type { Steps } from '../../../src/filter/steps.js'
import { createTimeSlices, filterInTurns } from '../../../src/filter/time-slices.js'
import { entityTag, entityTagInTurns } from '../../../src/http/finalize-response.js'
import { createChunks } from '../../../src/http/stream/chunks.js'
import { joinParts } from '../../../src/http/utf8.js'
import { BEGINNING, pollAll } from '../../../src/tail/poll.js'
import { createRing } from '../../../src/tail/ring.js'
import { eventId } from '../../../src/event/event-id.js'
import { formatTimestamp, parseTimestamp } from '../../../src/event/timestamp.js'
import { plainEvent } from '../../support/plain-events.js'

/** The number of the turn of the event loop. */
let turn = 0

beforeEach(() => {
  turn = 0
  let immediate = setImmediate(function count() {
    turn += 1
    immediate = setImmediate(count)
  })
  // Each look at the clock finds the time slice over.
  let time = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 5))
  onTestFinished(() => {
    clock.mockRestore()
    clearImmediate(immediate)
  })
})

const START = parseTimestamp('2026-01-01T00:00:00Z')!

const events = Array.from({ length: 6 }, (_, n) =>
  plainEvent({
    id: eventId(START + n, '8000000000000000'),
    created_at: formatTimestamp(START + n),
    attributes: { n, text: 'a'.repeat(300_000) },
  }),
)

/** Matches every second event, in 10 steps; collects the turns of the steps. */
function inSteps() {
  const turns: number[] = []
  function* steps(isMatch: boolean): Steps<boolean> {
    for (let step = 0; step < 10; step++) {
      turns.push(turn)
      yield
    }
    return isMatch
  }
  const matches = ({ attributes }: AuditEvent): Steps<boolean> =>
    steps((attributes['n'] as number) % 2 === 0)
  return { matches, turns }
}

const expectTurns = (turns: readonly number[], count: number): void => {
  expect(turns).toHaveLength(count)
  expect(new Set(turns).size).toBe(count)
}

const numbersOf = (some: readonly AuditEvent[]): unknown[] =>
  some.map(({ attributes }) => attributes['n'])

it('items are filtered in turns of the event loop', async () => {
  const { matches, turns } = inSteps()
  expect(numbersOf(await filterInTurns(events, matches))).toEqual([0, 2, 4])
  expectTurns(turns, 60)
})

it('a filter on long texts takes several turns', async () => {
  const { where } = parseQuery({
    filter: { text_matches_any: Array.from({ length: 100 }, (_, i) => `%${i}x_y%z`) },
  })
  expect(await filterInTurns(events.slice(0, 1), compileFilterInSteps(where))).toEqual([])
  expect(turn).toBeGreaterThan(50)
})

it('a poll of a tail filters in turns of the event loop', async () => {
  const { matches, turns } = inSteps()
  const list = () => Promise.resolve({ events, truncated: false })
  const range = { after: BEGINNING, upTo: events.at(-1)!.created_at }
  const found = await pollAll({ list }, { where: undefined, matches }, range, {})
  expect(numbersOf(found.events)).toEqual([0, 2, 4])
  expect(found.cursor).toBe(range.upTo)
  expectTurns(turns, 60)
})

it('a batch of a stream is filtered in several turns of the event loop, once for equal views', async () => {
  const ring = createRing('', { batchBytes: Infinity })
  ring.add(events.map((event) => ({ event, revision: undefined })))
  const batch = ring.after('')!
  const chunks = createChunks(() => 'frame;')
  const { matches, turns } = inSteps()
  const view = { key: 'a', where: undefined, matches }
  const both = await Promise.all([chunks.ofBatch(batch, view, ''), chunks.ofBatch(batch, view, '')])
  for (const chunk of [...both, await chunks.ofBatch(batch, view, '')]) {
    expect(numbersOf(chunk!.events)).toEqual([0, 2, 4])
    expect(Buffer.from(chunk!.bytes).toString()).toBe('frame;frame;frame;')
  }
  expectTurns(turns, 60)
})

it('a document is written in turns of the event loop', async () => {
  const turns: number[] = []
  const at = (part: number): string => {
    turns.push(turn)
    return `${part} 😀,`
  }
  const bytes = await joinParts({ length: 20, at })
  expect(Buffer.from(bytes as Uint8Array).toString()).toBe(
    Array.from({ length: 20 }, (_, part) => `${part} 😀,`).join(''),
  )
  expectTurns(turns, 20)
})

it('a large document is hashed in turns of the event loop', async () => {
  const text = 'é'.repeat(5_000_000)
  expect(await entityTagInTurns(text)).toBe(entityTag(text))
  expect(await entityTagInTurns(Buffer.from(text))).toBe(entityTag(text))
  expect(turn).toBeGreaterThanOrEqual(18)
})

it('a time slice ends with the error of its pause', async () => {
  const slices = createTimeSlices(() => Promise.reject(new Error('ended')))
  function* steps(): Steps<void> {
    yield
  }
  await expect(slices.finish(steps())).rejects.toThrow('ended')
})
