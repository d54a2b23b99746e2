import { ask, type PostgresPoolClient } from './client.js'
import { isStatementError } from './failures.js'

/**
 * The timelines of the servers that a process has used. A standby that is promoted begins a new timeline, with a higher
 * number: https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES. A server with a lower
 * one, such as a primary that comes back after a failover, must not take any more events.
 */
export interface Timelines {
  /**
   * Resolves with the timeline of the connection; 0 if it was a standby at first, or if the server does not tell.
   * Rejects if this process has used a server that replaced the one of the connection.
   */
  check(client: PostgresPoolClient): Promise<number>
  /** The cluster of a connection that was checked, the same for a primary and its standbys; '' if the server does not tell. */
  cluster(client: PostgresPoolClient): string
}

/** The cluster is the same for a primary and its standbys. Both functions need no privilege. */
const TIMELINE = `SELECT system_identifier,
    CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END
  FROM pg_control_system()`

interface Place {
  readonly cluster: string
  readonly timeline: number
}

export function createTimelines(): Timelines {
  const places = new WeakMap<PostgresPoolClient, Place>()
  /** The highest timeline of each cluster. */
  const newest = new Map<string, number>()

  const readPlace = async (client: PostgresPoolClient): Promise<Place> => {
    const rows = await ask(client, TIMELINE).catch((error: unknown) => {
      if (!isStatementError(error)) throw error
      return []
    })
    const [cluster, hex] = rows[0] ?? []
    return { cluster: cluster ?? '', timeline: hex ? Number.parseInt(hex, 16) : 0 }
  }

  return {
    async check(client) {
      const place = places.get(client) ?? (await readPlace(client))
      places.set(client, place)
      const { cluster, timeline } = place
      const highest = Math.max(timeline, newest.get(cluster) ?? 0)
      newest.set(cluster, highest)
      if (0 < timeline && timeline < highest)
        throw new Error(
          `the server is on timeline ${timeline}, but a standby has taken over with timeline ${highest}`,
        )
      return timeline
    },
    cluster: (client) => places.get(client)?.cluster ?? '',
  }
}
