import { signal } from '@preact/signals'

/** A dialog of the page. At most one is open. */
export type Dialog =
  | 'builder'
  | 'range'
  | 'zone'
  | 'export'
  | 'keys'
  | 'filters'
  | 'report'
  | 'more'

/** The open dialog. */
export const dialog = signal<Dialog | undefined>(undefined)

/** Index, among the conjuncts of the query, of the one that the builder focuses first. */
export const builderAt = signal<number | undefined>(undefined)
