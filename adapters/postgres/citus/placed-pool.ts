import { callbackify } from 'node:util'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { PostgresPool, PostgresPoolClient } from '../connection/client.js'
import { withConnection } from '../connection/connection.js'
import type { Node } from './nodes.js'

const FIND_MS = 10_000

export interface PlacedPoolOptions {
  /** A pool of connections to the server that the options name. */
  readonly entry: PostgresPool
  /**
   * The node that holds the log, asked on a connection of `entry`. May create the log. `undefined` if the server holds it
   * itself.
   */
  readonly place: ((client: PostgresPoolClient) => Promise<Node | undefined>) | undefined
  /** The same of a log that exists, asked on a connection to any node. */
  readonly find: (client: PostgresPoolClient) => Promise<Node | undefined>
}

/**
 * A pool of connections to the server that holds the log. On Citus that is a node, to which the log may have been moved
 * from another one. The node is looked up with the first connection, and whenever a connection has ended.
 */
export interface PlacedPool extends PostgresPool {
  /** Resolves to the node that holds the log, or to `undefined` if the server of the options holds it. */
  node(): Promise<Node | undefined>
  /** Connections that may change tables, where those of this pool must not: to the coordinator of Citus. */
  definer(): PostgresPool | undefined
  /** Calls the listener whenever the log is found on another node than before; returns a function that stops that. */
  watchMoves(listener: () => void): () => void
}

/** A pool whose server holds the log, or a {@link PlacedPool}. */
export type LogPool = PostgresPool & Partial<Pick<PlacedPool, 'definer'>>

const takeFrom = (pool: PostgresPool): Promise<PostgresPoolClient> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client) resolve(client)
      else reject(error ?? new Error('the pool gave no connection'))
    })
  })

async function askOn(
  pool: PostgresPool,
  ask: PlacedPoolOptions['find'],
): Promise<Node | undefined> {
  using wait = timeoutSignal(FIND_MS)
  try {
    return await withConnection(pool, wait.signal, ask)
  } catch (error) {
    // The caller's time limit decides whether to try again.
    throw wait.signal.aborted
      ? new Error('no node has said where the log is', { cause: error })
      : error
  }
}

export function openPlacedPool({ entry, place, find }: PlacedPoolOptions): PlacedPool {
  const listeners = new Set<() => void>()
  let isAtEntry = place === undefined
  let node: Node | undefined
  /** The losses of the node when it was looked up; -1 if that failed. */
  let losses = -1

  const moveTo = (found: Node): void => {
    const isMoved = node !== undefined && node !== found
    node = found
    if (isMoved) for (const listener of listeners) listener()
  }

  /** Every node knows where the log is, so that a coordinator that is away delays nothing. */
  const locate = async (): Promise<void> => {
    const before = node?.losses() ?? 0
    try {
      const known = node && (await askOn(node.pool, find).catch(() => undefined))
      const found = known ?? (await askOn(entry, place!))
      if (found) moveTo(found)
      else isAtEntry = node === undefined
      // Losses of the search itself do not count, unless the node is another one now.
      losses = node === undefined ? before : node.losses()
    } catch (error) {
      losses = -1
      if (!node) throw error
    }
  }

  let locating: Promise<void> | undefined
  const current = async (): Promise<Node | undefined> => {
    if (!isAtEntry && (!node || node.losses() !== losses))
      await (locating ??= locate().finally(() => void (locating = undefined)))
    return node
  }

  const take = async (): Promise<PostgresPoolClient> => {
    const { pool } = (await current()) ?? { pool: entry }
    try {
      return await takeFrom(pool)
    } catch (error) {
      losses = -1
      throw error
    }
  }

  return {
    connect(callback) {
      callbackify(take)((error, client) => callback(error ?? undefined, client))
    },
    node: current,
    definer: () => (node ? entry : undefined),
    watchMoves(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
