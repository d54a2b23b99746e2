import { afterEach, expect, it, vi } from 'vitest'
import { readWithRetry } from '../../../adapters/postgres/log/calls.js'
import type { PostgresLog } from '../../../adapters/postgres/log/log.js'

afterEach(() => void vi.useRealTimers())

it('stops to retry after 10 seconds if each attempt fails at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const failure = new Error('Cannot use a pool after calling end on the pool')
  let attempts = 0
  const use = () => Promise.reject(attempts++ < 5 ? failure : new TypeError('it does not stop'))
  const log = { use } as unknown as PostgresLog
  const reading = readWithRetry(log, undefined, () => Promise.resolve())
  const settled = expect(reading).rejects.toMatchObject({ code: 'STORE_FAILED', cause: failure })
  await vi.advanceTimersByTimeAsync(10_000)
  await settled
})
