import { setTimeout as delay } from 'node:timers/promises'
import { callbackify } from 'node:util'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import { CONNECTING, type EndedPool, loadDriver, watchPool } from '../connection/pools.js'
import { isTransient } from '../connection/failures.js'
import type { Host } from './hosts.js'
import { askInTime, type FindPrimary, IN_TIME, probe } from './server-probe.js'
import type { Timelines } from './timelines.js'

/** How long to wait for other servers once one accepts writes: one of them may have replaced it. */
const OTHERS_MS = 250
/** While the pool is used, it looks for a server that has replaced the primary this often: the old one may go on. */
const SEARCH_EVERY_MS = 5000

/** The query of `target_session_attrs=read-write` in libpq. */
const REFUSES_WRITES = `SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only')::boolean`

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'it failed')

/** The SQLSTATE of a client that cannot connect. */
const CANNOT_CONNECT = '08001'

/** Transient, unless all servers have failed for a reason that stays. */
function noPrimary(hosts: readonly Host[], probes: readonly PromiseSettledResult<void>[]): unknown {
  const failures = probes.flatMap((one): unknown[] =>
    one.status === 'rejected' ? [one.reason] : [],
  )
  if (!failures.some(isTransient)) return failures[0]
  const reasons = hosts.map(({ name }, i) => `${name}: ${messageOf(failures[i])}`)
  const error = new AggregateError(failures, `no server accepts writes: ${reasons.join('; ')}`)
  return Object.assign(error, { code: CANNOT_CONNECT })
}

/** The timeline of the server. Rejects if it does not accept writes, or has been replaced. */
async function readPrimary(client: PostgresPoolClient, timelines: Timelines): Promise<number> {
  const [row] = await ask(client, REFUSES_WRITES)
  if (row![0] === 't') throw new Error('it is a standby')
  if (row![1] === 't') throw new Error('it is read-only')
  return timelines.check(client)
}

type CheckServer = (client: PostgresPoolClient) => Promise<number>

/** Which of the hosts accepts writes. */
interface Primary {
  /** Its connection string; `undefined` before the first search. */
  current(): string | undefined
  /** Asks all hosts. Concurrent calls share a search. */
  find(): Promise<void>
}

function createPrimary(hosts: readonly Host[], check: CheckServer): Primary {
  let current: string | undefined

  const find = async (): Promise<void> => {
    const found: { readonly host: Host; readonly timeline: number }[] = []
    const probes = hosts.map(async (host) => {
      const timeline = await probe({ connectionString: host.connectionString }, check)
      found.push({ host, timeline })
    })
    const all = Promise.allSettled(probes)
    const others = Promise.any(probes).then(
      () => delay(OTHERS_MS),
      () => {},
    )
    await Promise.race([all, others])
    const [best] = found.toSorted((a, b) => b.timeline - a.timeline)
    if (!best) throw noPrimary(hosts, await all)
    current = best.host.connectionString
  }

  let finding: Promise<void> | undefined
  return {
    current: () => current,
    find: () => (finding ??= find().finally(() => (finding = undefined))),
  }
}

/**
 * A pool of connections to the host that accepts writes. It is looked for with the first connection, and
 * whenever a new connection fails or leads to a standby. If several accept writes, the one with the highest timeline
 * counts.
 */
export function openFailoverPool(
  hosts: readonly Host[],
  timelines: Timelines,
  max?: number,
): EndedPool & { readonly find: FindPrimary } {
  const { Pool, Client } = loadDriver()
  const check: CheckServer = (client) => readPrimary(client, timelines)
  const primary = createPrimary(hosts, check)

  class PrimaryClient extends Client {
    constructor(options: object) {
      super({ ...options, ...IN_TIME, connectionString: primary.current() })
    }
  }

  const pool = new Pool({
    ...CONNECTING,
    max,
    Client: PrimaryClient,
    verify: callbackify((client: PostgresPoolClient) => askInTime(client, check)),
  })
  const end = watchPool(pool)

  const take = (): Promise<PostgresPoolClient> =>
    new Promise((resolve, reject) => {
      pool.connect((error, client) => {
        if (client) resolve(client)
        else reject(error ?? new Error('the pool gave no connection'))
      })
    })

  let searchedAt = performance.now()
  const searchNowAndThen = (): void => {
    if (performance.now() - searchedAt < SEARCH_EVERY_MS) return
    searchedAt = performance.now()
    // Connections to a server that was replaced are broken.
    primary.find().catch(() => {})
  }

  const takeFromPrimary = async (): Promise<PostgresPoolClient> => {
    searchNowAndThen()
    if (primary.current() !== undefined) {
      try {
        return await take()
      } catch (error) {
        if (!isTransient(error)) throw error
      }
    }
    await primary.find()
    return take()
  }

  return {
    connect(callback) {
      callbackify(takeFromPrimary)((error, client) => callback(error ?? undefined, client))
    },
    end,
    find: () => primary.find(),
  }
}
