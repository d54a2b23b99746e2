import { signal } from '@preact/signals'
import type { ComponentChild, VNode } from 'preact'
import type { AuditEvent } from '../../../src/event/event.js'
import type { Conjunct } from '../data/query.js'
import { type Column, COLUMNS } from './column-names.js'

/** The parts of rows, or of the headers, that users can move and hide. */
export type OwnCells = Readonly<Record<'who' | 'what' | 'type' | 'source', VNode>>

/** The columns that the user or the address has chosen. Their code is only loaded for such a choice. */
export interface CustomColumns {
  /** All columns, with time and level. */
  readonly shown: readonly Column[]
  /** The tracks of the grid after time and level. */
  readonly tracks: string
  /** The name of the attribute in the time column, if this is not `created_at`. */
  readonly timeName: string | undefined
  timeOf(event: AuditEvent): ComponentChild
  cells(event: AuditEvent, own: OwnCells, quickColumn: Column | undefined): ComponentChild
  headers(own: OwnCells): ComponentChild
  /** The filter for *is* and *is not* of an attribute. */
  conjunct(event: AuditEvent, column: Column, not: boolean): Conjunct | undefined
}

export const customColumns = signal<CustomColumns | undefined>(undefined)

/** The columns in the order of the cells of a row. */
export const shownColumns = (): readonly Column[] => customColumns.value?.shown ?? COLUMNS
