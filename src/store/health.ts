/** Condition of a store, as it knows it. */
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
  /** A replica that is further behind does not answer; missing if any lag is allowed. */
  readonly maxLagMs?: number | undefined
  readonly servers: readonly ReplicaHealth[]
}

/** The condition of a server that is only read from. */
export interface ReplicaHealth {
  /** Its host and port, or its place in the list. */
  readonly name: string
  /** False if it did not answer. */
  readonly reachable: boolean
  /** True if it replays the log of the primary; false while replay is paused or the connection is lost, and for a server that is no standby. */
  readonly replaying: boolean
  /** Bytes of the write-ahead log that it lacks. */
  readonly lagBytes?: number
  /** The age of the oldest event that it lacks, in milliseconds; 0 if it has all events. */
  readonly lagMs?: number
  /** Why reads of this process skip it at present. */
  readonly skipped?: string
  /** Why it did not answer. */
  readonly error?: string
}

export interface IndexHealth {
  /** Events that are not in the index yet. A store may stop counting above `4 * batch`. */
  readonly waiting: number
  /** Parts of the index that are damaged, and not built anew yet. */
  readonly damaged: number
  /** Number of events that are indexed together. Up to this number wait in normal operation. */
  readonly batch: number
  /** While more events wait for the index, recording waits for it too. Missing if recording never does. */
  readonly maxWaiting?: number | undefined
  /** How long recording in this process has waited for the index so far, in milliseconds. */
  readonly recordingDelayedMs?: number | undefined
}

export interface DiskHealth {
  /** Bytes that the log takes. */
  readonly sizeBytes: number
  /** Bytes that this process may still write where the log is. Missing if the store cannot know it. */
  readonly freeBytes?: number | undefined
}
