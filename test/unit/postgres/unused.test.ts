import { AuditLog } from 'daybook'
import { type PostgresPool, postgresStore } from 'daybook/postgres'
import { expect, it, onTestFinished, vi } from 'vitest'

it('a store that nothing uses opens no connection', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const connect = vi.fn(() => Promise.reject(new Error('connect ECONNREFUSED')))
  const pool = { connect, query: connect, on() {}, removeListener() {}, options: {} }
  const store = postgresStore({ pool: pool as unknown as PostgresPool })
  const audit = new AuditLog({ store, types: {} })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(connect).not.toHaveBeenCalled()
  vi.useRealTimers()
  await audit.close()
  expect(connect).not.toHaveBeenCalled()
})
