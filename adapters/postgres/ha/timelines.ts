import { ask, disconnect, type PostgresPoolClient } from '../connection/client.js'
import { isStatementError } from '../connection/failures.js'

/**
 * The timelines of the servers that a process has used. A standby that is promoted begins a new timeline, with a higher
 * number: https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES. A server with a lower
 * one, such as a primary that comes back after a failover, must not take any more events.
 */
export interface Timelines {
  /**
   * Resolves with the timeline of the connection; 0 for a standby, or if the server does not tell. Rejects if this
   * process has used a server that replaced the one of the connection. Connections to servers that the one of this
   * connection has replaced are broken: a server that does not answer would not end them. With `isMoved`, the connection
   * leads to another server than before.
   */
  check(client: PostgresPoolClient, isMoved?: boolean): Promise<number>
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

async function readPlace(client: PostgresPoolClient): Promise<Place> {
  const rows = await ask(client, TIMELINE).catch((error: unknown) => {
    if (!isStatementError(error)) throw error
    return []
  })
  const [cluster, hex] = rows[0] ?? []
  return { cluster: cluster ?? '', timeline: hex ? Number.parseInt(hex, 16) : 0 }
}

/** A standby may be promoted while it is connected. */
const mayChange = ({ cluster, timeline }: Place): boolean => cluster !== '' && timeline === 0

const endings = new WeakMap<PostgresPoolClient, Set<() => void>>()

/** Calls `act` when the connection has ended. A pool of the host may be shared by many logs, which add one listener. */
function onEnd(client: PostgresPoolClient, act: () => void): void {
  const known = endings.get(client)
  if (known) return void known.add(act)
  const acts = new Set([act])
  endings.set(client, acts)
  client.on('end', () => {
    for (const one of acts) one()
  })
}

export function createTimelines(): Timelines {
  const places = new Map<PostgresPoolClient, Place>()
  /** The highest timeline of each cluster. */
  const newest = new Map<string, number>()

  const isReplaced = ({ cluster, timeline }: Place): boolean =>
    0 < timeline && timeline < (newest.get(cluster) ?? 0)

  const note = (client: PostgresPoolClient, place: Place): void => {
    if (!places.has(client)) onEnd(client, () => places.delete(client))
    places.set(client, place)
    if (place.timeline <= (newest.get(place.cluster) ?? 0)) return
    newest.set(place.cluster, place.timeline)
    for (const [other, known] of places) if (isReplaced(known)) disconnect(other)
  }

  const checkPlace = (place: Place): number => {
    if (isReplaced(place))
      throw new Error(
        `the server is on timeline ${place.timeline}, but a standby has taken over with timeline ${newest.get(place.cluster)}`,
      )
    return place.timeline
  }

  const read = async (client: PostgresPoolClient): Promise<number> => {
    const place = await readPlace(client)
    note(client, place)
    return checkPlace(place)
  }

  return {
    async check(client, isMoved = false) {
      const place = isMoved ? undefined : places.get(client)
      return place && !mayChange(place) ? checkPlace(place) : read(client)
    },
    cluster: (client) => places.get(client)?.cluster ?? '',
  }
}
