/** Condition of a store from its own view. */
export interface StoreHealth {
  /** False if the database refuses writes, such as a standby. @default true */
  readonly writable?: boolean | undefined
  /** Sentences about conditions that may lose acknowledged events, or have lost some. @default [] */
  readonly warnings?: readonly string[] | undefined
  /** Missing if the store has no index, or updates it whenever it stores events. */
  readonly index?: IndexHealth | undefined
  /** Missing if the store keeps nothing on disk. */
  readonly disk?: DiskHealth | undefined
  /** Missing if the store reads from no replicas. */
  readonly replicas?: ReplicasHealth | undefined
}

export interface ReplicasHealth {
  /** Maximum allowed lag. A replica with a larger lag does not answer. Missing if any lag is allowed. */
  readonly maxLagMs?: number | undefined
  readonly servers: readonly ReplicaHealth[]
}

/** The condition of a replica. */
export interface ReplicaHealth {
  /** Host and port of the replica, or its place in the list. */
  readonly name: string
  /** False if it did not answer. */
  readonly reachable: boolean
  /** True if it replays the log of the primary; false while replay is paused or the connection is lost, and for a server that is no standby. */
  readonly replaying: boolean
  /** Bytes of the write-ahead log that it lacks. */
  readonly lagBytes?: number
  /** The age of the oldest event that it lacks, in milliseconds; 0 if it has all events. */
  readonly lagMs?: number
  /** Reason why reads of this process skip the replica. */
  readonly skipped?: string
  /** Reason why the replica did not answer. */
  readonly error?: string
}

export interface IndexHealth {
  /** Events that are not in the index yet. A store may stop counting above `4 * batch`. */
  readonly waiting: number
  /** Number of damaged parts of the index that are not rebuilt yet. */
  readonly damaged: number
  /** Number of events that are indexed together. Up to this number wait in normal operation. */
  readonly batch: number
  /** Number of events that may wait for the index before recording also waits. Missing if recording never waits. */
  readonly maxWaiting?: number | undefined
  /** Total time that recording in this process has waited for the index, in milliseconds. */
  readonly recordingDelayedMs?: number | undefined
}

export interface DiskHealth {
  /** Bytes that the log takes. */
  readonly sizeBytes: number
  /** Free bytes for this process where the log is. Missing if the store cannot find out. */
  readonly freeBytes?: number | undefined
}
