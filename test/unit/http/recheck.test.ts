import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { whileAllowed } from '../../../src/http/events/recheck.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const PERIOD_MS = 1000

function openChunks(signal = new AbortController().signal) {
  let asked = 0
  const mayContinue = (): Promise<boolean> => Promise.resolve(++asked > 0)
  const chunks = whileAllowed(
    async () =>
      (async function* () {
        for (;;) yield 'chunk'
      })(),
    { mayContinue, periodMs: PERIOD_MS, signal },
  )
  return { chunks, asked: () => asked }
}

it('asks once a period, also if nothing is read', async () => {
  const { asked } = openChunks()
  await vi.advanceTimersByTimeAsync(5 * PERIOD_MS)
  expect(asked()).toBe(5)
})

it('stops asking once the reader has ended the chunks', async () => {
  const { chunks, asked } = openChunks()
  const reader = await chunks
  await reader.next()
  await reader.return()
  await vi.advanceTimersByTimeAsync(5 * PERIOD_MS)
  expect([asked(), vi.getTimerCount()]).toEqual([0, 0])
})

it.each(['before', 'after'])(
  'does not ask if the request ended %s the chunks began',
  async (when) => {
    const request = new AbortController()
    if (when === 'before') request.abort()
    const { asked } = openChunks(request.signal)
    request.abort()
    await vi.advanceTimersByTimeAsync(5 * PERIOD_MS)
    expect([asked(), vi.getTimerCount()]).toEqual([0, 0])
  },
)

it('yields no chunk after a refusal, even if the chunks do not end by themselves', async () => {
  const answers = [true, false]
  const chunks = await whileAllowed(
    async () =>
      (async function* () {
        for (;;) yield 'chunk'
      })(),
    {
      mayContinue: () => Promise.resolve(answers.shift()!),
      periodMs: PERIOD_MS,
      signal: new AbortController().signal,
    },
  )
  expect((await chunks.next()).done).toBe(false)
  await vi.advanceTimersByTimeAsync(PERIOD_MS)
  expect((await chunks.next()).done).toBe(false)
  await vi.advanceTimersByTimeAsync(PERIOD_MS)
  expect((await chunks.next()).done).toBe(true)
})
