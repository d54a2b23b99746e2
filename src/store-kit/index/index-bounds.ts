/** Limits of the index, which hold for any events. */
export interface IndexBounds {
  /** Number of names with a column in one part. */
  readonly names: number
  /** Number of listed values of one event. */
  readonly values: number
  /** Approximate memory of a part while it grows: it ends once it has as much. */
  readonly bytes: number
  /** Approximate memory of all events that are in no segment yet. Beyond it, events are read one by one. */
  readonly unsealedBytes: number
}

const MIB = 2 ** 20

export const INDEX_BOUNDS: IndexBounds = {
  names: 2048,
  values: 2000,
  bytes: 64 * MIB,
  unsealedBytes: 256 * MIB,
}
