import { type PostgresPool, postgresStore } from 'daybook/postgres'
import { expect, it, onTestFinished, vi } from 'vitest'

it('a store that nothing uses opens no connection', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const connect = vi.fn(() => Promise.reject(new Error('connect ECONNREFUSED')))
  const pool = { connect, query: connect, on() {}, removeListener() {}, options: {} }
  const store = postgresStore({ pool: pool as unknown as PostgresPool })
  await vi.advanceTimersByTimeAsync(60_000)
  vi.useRealTimers()
  await store.close()
  expect(connect).not.toHaveBeenCalled()
})
