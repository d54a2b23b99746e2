/** Limits of the index, which hold for any events. */
export interface IndexBounds {
  /** Number of names with a column in one part. */
  readonly names: number
  /** Number of listed values of one event. More than an event of 1 MiB can have, so that no filter has to read such events. */
  readonly values: number
  /** Maximum memory of a part while it grows, approximately: it ends there. */
  readonly bytes: number
  /** Approximate memory of all events that are in no segment yet. Beyond it, events are read one by one. */
  readonly unsealedBytes: number
  /**
   * Number of values of large unsealed events that are listed: their part in the work of a process's first query. Filters
   * on attributes check the other large events.
   */
  readonly listedValues: number
  /** Size of attributes from which an event is large, in characters of JSON. */
  readonly largeSize: number
}

const MIB = 2 ** 20

/** The stored bytes of attributes after which unsealed events are sealed. In memory they take a multiple of that. */
export const maxStoredBytes = ({ bytes }: IndexBounds): number => Math.ceil(bytes / 4)

export const INDEX_BOUNDS: IndexBounds = {
  names: 2048,
  values: MIB,
  bytes: 64 * MIB,
  unsealedBytes: 256 * MIB,
  listedValues: 200_000,
  largeSize: 4096,
}
