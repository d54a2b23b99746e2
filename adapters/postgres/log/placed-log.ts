import { invalidOption } from '../../../src/errors.js'
import type { PostgresPool, PostgresPoolClient } from '../connection/client.js'
import type { Node } from '../citus/nodes.js'
import type { Timelines } from '../ha/timelines.js'
import { openPlacedPool, type PlacedPool } from '../citus/placed-pool.js'
import { CITUS } from '../citus/citus.js'
import type { Names } from '../schema/names.js'
import { findNode, isOnCitus } from '../citus/placement.js'
import { migrateSchema } from '../schema/schema.js'
import { createListening, type Listening } from './listening.js'
import type { PostgresStoreOptions, ResolvedOptions } from './options.js'

/**
 * A pool of connections to the server that holds the log, which is a node of Citus if Citus places the log. Creates
 * and migrates such a log, unless the options forbid it, because a node cannot do that.
 */
export function openPlacedLog(
  { pool, sessionPool, citus, nodes, partitions, replicas }: ResolvedOptions,
  names: Names,
  { migrate, readOnly }: PostgresStoreOptions,
): PlacedPool {
  const mayCreate = migrate !== 'never' && !readOnly
  const find = async (client: PostgresPoolClient): Promise<Node | undefined> => {
    const address = await findNode(client, names)
    return address === undefined ? undefined : nodes?.open(address)
  }
  const place = async (client: PostgresPoolClient): Promise<Node | undefined> => {
    if (!(await isOnCitus(client, names, mayCreate))) return undefined
    if (!nodes)
      throw invalidOption(
        'on Citus, the store needs a connectionString instead of a pool: it connects to the nodes itself',
      )
    if (sessionPool)
      throw invalidOption('on Citus, the store does not use a listenConnectionString')
    if (replicas.all.length > 0)
      throw invalidOption('on Citus, the store does not read from replicas')
    if (mayCreate) await migrateSchema(client, names, partitions, CITUS)
    return find(client)
  }
  return openPlacedPool({ entry: pool, place: citus ? place : undefined, find })
}

/** One connection to each node, for all logs that are on it. */
const listeningOn = new WeakMap<Node, Listening>()

interface ListeningParts {
  /** The pool of the options. */
  readonly entry: PostgresPool
  readonly atEntry: Listening
  readonly timelines: Timelines
}

/** Listens on the node that holds the log, or by `atEntry` if the server of the options holds it. */
export function createPlacedListening(
  pool: PlacedPool,
  { entry, atEntry, timelines }: ListeningParts,
): Listening {
  return {
    pool: atEntry.pool === entry ? pool : atEntry.pool,
    pooling: atEntry.pooling,
    async listen(log, signal) {
      const node = await pool.node()
      if (!node) return atEntry.listen(log, signal)
      const listening = listeningOn.get(node) ?? createListening(node.pool, timelines)
      listeningOn.set(node, listening)
      let isMoved = false
      let stop: (() => void) | undefined
      // The node from which a log was moved sends no notifications of that log.
      const unwatch = pool.watchMoves(() => {
        isMoved = true
        unwatch()
        if (!stop) return
        stop()
        log.onLost()
      })
      try {
        stop = await listening.listen(log, signal)
      } catch (error) {
        unwatch()
        throw error
      }
      const listened = stop
      if (isMoved) {
        listened()
        throw new Error('the log was moved')
      }
      return () => {
        unwatch()
        if (!isMoved) listened()
      }
    },
  }
}
