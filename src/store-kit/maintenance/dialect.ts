import type { Sql } from '../sql.js'

/** The names of the tables that both stores have. */
export interface IndexTables {
  readonly events: string
  /** The state of the index, one row. */
  readonly indexState: string
  readonly attributeNames: string
  readonly segments: string
  /** A row for each chunk, with its segment and its name. */
  readonly chunkKeys: string
  readonly late: string
  readonly removed: string
}

/** SQL of a store where it differs from that of the other. */
export interface Dialect {
  readonly tables: IndexTables
  /** A table with one column `value`, made of a parameter that `list` has encoded. */
  readonly values: string
  /** A condition: the column has one of the values of such a parameter. */
  readonly isIn: (column: string) => string
  readonly list: (values: ArrayLike<number>) => unknown
  /** A table with one column `value`, the elements of a parameter, which is a JSON array. */
  readonly jsonElements: string
  /** Follows a SELECT whose rows no other transaction may change before the end of this one. */
  readonly forUpdate: string
  /** Makes other transactions that take this lock wait. */
  readonly lockNames?: string | undefined
  /** Makes the id of a segment. @default the database does so */
  readonly newSegmentId?: string | undefined
  /** Makes a statement return a row for each row that it changes. A crash may undo it. */
  readonly undurable: (text: string) => string
  /** The number of a segment's chunks that its column `chunks` leaves out. */
  readonly uncountedChunks: string
  /** True if a crash may lose chunks, and keep a later commit. */
  readonly canLoseChunks: boolean
  /** True if segments have the digest `starts`. */
  readonly hasStarts: boolean
  /** The highest id that a late event has now. Those that are added later have higher ids, or are not in the snapshot. */
  readonly newestLate: string
  /** Assigns the columns of the row of the index that only this store has. */
  readonly assignSealed?: (change: SealedChange) => Sql
  /** The error of a log whose row of the index is not as it was written. */
  readonly damagedState: () => Error
}

/** A change of which events are sealed, for a store that counts them. */
export interface SealedChange {
  /** The number of events that are sealed now; negative for events that are to be sealed again. */
  readonly count: number
  /** All late events up to this id were listed when the events were read. */
  readonly lateTo: number | null
}
