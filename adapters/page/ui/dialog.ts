import { signal } from '@preact/signals'

/** A dialog of the page. At most one dialog is open. */
export type Dialog =
  | 'builder'
  | 'range'
  | 'zone'
  | 'export'
  | 'keys'
  | 'filters'
  | 'report'
  | 'more'
  | 'ledger'

/** The open dialog. */
export const dialog = signal<Dialog | undefined>(undefined)

/** Index of the conjunct of the query that the builder focuses first. */
export const builderAt = signal<number | undefined>(undefined)
