/** What a store knows about its own condition. */
export interface StoreHealth {
  /** False if the database refuses writes, such as a standby. @default true */
  readonly writable?: boolean | undefined
  /** Sentences about what may lose acknowledged events, or has lost some. @default [] */
  readonly warnings?: readonly string[] | undefined
  /** Missing if the store has no index, or updates it whenever it stores events. */
  readonly index?: IndexHealth | undefined
  /** Missing if the store keeps nothing on disk. */
  readonly disk?: DiskHealth | undefined
}

export interface IndexHealth {
  /** Events that are not in the index yet. A store may stop counting above `4 * batch`. */
  readonly waiting: number
  /** Parts of the index that are damaged, and not built anew yet. */
  readonly damaged: number
  /** Number of events that are indexed together. Up to as many wait in normal operation. */
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
