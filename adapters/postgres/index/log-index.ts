import { createSerial } from '../../../src/async/serial.js'
import { LRUCache } from 'lru-cache'
import type { Damage } from '../../../src/store/damage.js'
import { segmentDamage } from '../../../src/store-kit/damages.js'
import type { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { Moment } from './recent-events.js'
import { readRefreshed } from './refresh-statements.js'
import type { SealedState } from './sealed-state.js'
import {
  type Coverage,
  createServerIndex,
  type IndexTuning,
  type ServerIndex,
} from './server-index.js'

/**
 * The index of a log: segments in the database, and in memory the events that are in no segment yet. What
 * was read from one server is not used for the snapshots of another, such as a standby that took over.
 */
export interface LogIndex {
  /** The statement that `refresh` needs the rows of. With `isAhead`, it reads few events, as they may not be needed. */
  statement(isAhead?: boolean): string
  /**
   * Adds the new part of the snapshot. `rows` is the result of `statement` in the snapshot, if it was run already.
   * Returns `outdated` if a newer snapshot of the same server was added and events that this one needs are no
   * longer in memory.
   */
  refresh(moment: Moment, rows?: readonly TextRow[]): Promise<Coverage | 'outdated'>
  /** The segments of the snapshot that has this state, without parts in memory. Reads no event. */
  sealed(state: SealedState): Coverage
  /** Reads the events of a damaged segment one by one from now on. */
  setAside(damaged: DamagedSegment): void
}

/** Called whenever a segment is found damaged; `damage` is left out if this process has not used the segment yet. */
export type OnDamaged = (segment: number, damage: Damage | undefined) => void

/** The servers that are kept, so that snapshots may come from several replicas in turn. */
const MAX_SERVERS = 3

/**
 * Segments that are remembered as damaged. A server that has taken over may use an id again: the events of that segment
 * are then read one by one, which is right, but slower.
 */
const MAX_ASIDE = 10_000

export function createLogIndex(
  names: Names,
  tuning: IndexTuning,
  onDamaged: OnDamaged = () => {},
): LogIndex {
  let stage = 0
  // `max` would allocate all entries at once.
  const aside = new LRUCache<number, true>({ maxSize: MAX_ASIDE, sizeCalculation: () => 1 })
  const createIndex = (): ServerIndex =>
    createServerIndex(names, tuning, {
      nextStage: () => (stage += 1),
      isAside: (id) => aside.has(id),
      onUntrusted: (row) =>
        onDamaged(row.id, segmentDamage(row, 'the checksum of its row is wrong')),
    })
  const servers = new LRUCache<string, ServerIndex>({ max: MAX_SERVERS })
  /** The index of the server that the latest snapshot is of. */
  let latest = createIndex()

  const useServer = (server: string): ServerIndex => {
    latest = servers.get(server) ?? createIndex()
    servers.set(server, latest)
    return latest
  }

  const refresh = async (
    moment: Moment,
    rows?: readonly TextRow[],
  ): Promise<Coverage | 'outdated'> => {
    moment.checkTime()
    const given = readRefreshed(rows ?? (await moment.ask(latest.statement())))
    return useServer(given.server).refresh(given, moment)
  }

  const inOrder = createSerial()
  return {
    statement: (isAhead) => latest.statement(isAhead),
    sealed: (state) => useServer(state.server).sealed(state),
    setAside({ segment, message }) {
      aside.set(segment, true)
      const row = latest.segment(segment)
      onDamaged(segment, row && segmentDamage(row, message))
    },
    // One after another, as each continues where the one before has ended.
    refresh: (moment, rows) => inOrder(() => refresh(moment, rows)),
  }
}
