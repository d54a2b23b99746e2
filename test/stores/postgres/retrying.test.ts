import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { openPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { holdOrderLock, waitingForOrder } from '../../support/order-lock.js'
import { useSchemas } from '../../support/schemas.js'

const { database, schema, openStore } = useSchemas('retrying')

afterEach(() => void vi.restoreAllMocks())

it('a process that was suspended for a minute appends within the deadline', async () => {
  const store = openStore()
  await store.append([draft({ n: 0 })])
  const now = performance.now.bind(performance)
  // Meanwhile the server's clock advanced.
  vi.spyOn(performance, 'now').mockImplementation(() => now() - 60_000)
  const [event] = await store.append([draft({ n: 1 })], { deadline: performance.now() + 30_000 })
  expect(await store.get(event!.id)).toEqual(event)
  await store.close()
})

it('the primary is looked for while a statement is not answered', async () => {
  let searches = 0
  const findPrimary = async (): Promise<void> => void searches++
  const store = openPostgresStore(
    { connectionString: database().url, schema: schema() },
    { findPrimary },
  )
  await store.append([draft({ n: 0 })])
  searches = 0
  const release = await holdOrderLock(database().pool, schema())
  const appending = store.append([draft({ n: 1 })])
  while (searches === 0) await delay(50)
  await release()
  await appending
  await store.close()
})

/** The setting is of Postgres 17. */
async function hasTransactionTimeout(): Promise<boolean> {
  const { rows } = await database().pool.query(
    `SELECT FROM pg_settings WHERE name = 'transaction_timeout'`,
  )
  return rows.length > 0
}

it('a transaction that exceeds transaction_timeout is retried', async (test) => {
  if (!(await hasTransactionTimeout())) test.skip('this server has no transaction_timeout')
  const first = openStore()
  await first.append([draft({ n: 0 })])
  await first.close()
  const limited = new URL(database().url)
  limited.searchParams.set('options', '-c transaction_timeout=200ms')
  const store = openStore({ connectionString: limited.href })
  const release = await holdOrderLock(database().pool, schema())
  const appending = store.append([draft({ n: 1 })], { deadline: performance.now() + 20_000 })
  let isSettled = false
  appending.catch(() => {}).finally(() => (isSettled = true))
  const waiting = new Set<number>()
  while (waiting.size < 2 && !isSettled) {
    for (const pid of await waitingForOrder(database().pool, schema())) waiting.add(pid)
    await delay(5)
  }
  await release()
  const [event] = await appending
  expect(await store.get(event!.id)).toEqual(event)
  await store.close()
})
