import { AuditLog, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'

/*
 * The number of messages for which the store waits, one after another. Messages that are sent together count once.
 */

let database: TestDatabase
beforeAll(async () => {
  database = await postgresDatabase()
  const audit = new AuditLog({
    store: postgresStore({ connectionString: database.url }),
    types: {},
  })
  await audit.recordCustom('test:first', { n: 0 })
  await audit.close()
})
afterAll(() => database.remove())

let trips = 0
const { query } = pg.Client.prototype
const waiting = new WeakMap<pg.Client, number>()
beforeAll(() => {
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const sent = (query as (...args: unknown[]) => Promise<unknown>).apply(this, args)
    const { text } = args[0] as { readonly text?: string }
    if (text === undefined) return sent
    const before = waiting.get(this) ?? 0
    if (before === 0) trips++
    waiting.set(this, before + 1)
    const answer = (): void => void waiting.set(this, waiting.get(this)! - 1)
    sent.then(answer, answer)
    return sent
  } as typeof query
})
afterAll(() => void (pg.Client.prototype.query = query))

const CALLS: readonly (readonly [name: string, call: (audit: AuditLog) => Promise<unknown>])[] = [
  ['record', (audit) => audit.recordCustom('test:trip', { n: 1 })],
  ['list', (audit) => audit.list()],
  ['a list by a filter', (audit) => audit.list('filter[n_eq]=1')],
  ['count', (audit) => audit.count('filter[type_eq]=test:first')],
]

/** Of the first call of a process, and of a later one. */
const LISTED = { list: [10, 2], 'a list by a filter': [10, 2], count: [14, 4] }
const EXPECTED = {
  own: { record: [10, 1], ...LISTED },
  // The driver sends the commit that confirms the event only after the first answer.
  borrowed: { record: [11, 2], ...LISTED },
}

/** Opens a store whose timers never fire, because they would send statements beside the calls. */
function openStore(own: { readonly connectionString: string } | { readonly pool: pg.Pool }) {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  try {
    return createPostgresStore(own, { checkMs: 600_000 }).store
  } finally {
    vi.useRealTimers()
  }
}

async function countTrips(
  store: EventStore,
  call: (audit: AuditLog) => Promise<unknown>,
): Promise<readonly number[]> {
  const audit = new AuditLog({ store, types: {} })
  try {
    const taken: number[] = []
    for (let n = 0; n < 5; n++) {
      trips = 0
      await call(audit)
      taken.push(trips)
    }
    const [first, ...later] = taken
    return [first!, Math.min(...later)]
  } finally {
    await audit.close()
  }
}

it.each(['own', 'borrowed'] as const)('calls on %s connections take no more', async (kind) => {
  const found: Record<string, readonly number[]> = {}
  for (const [name, call] of CALLS) {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    const store = openStore(kind === 'own' ? { connectionString: database.url } : { pool })
    found[name] = await countTrips(store, call)
    await pool.end()
  }
  expect(found).toEqual(EXPECTED[kind])
})
