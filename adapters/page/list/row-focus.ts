import { batch, signal, untracked } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { openEvent, openId } from '../data/address.js'
import type { Column } from './cells.js'
import { shownColumns } from './custom-columns.js'
import { activeId, anchorAt } from './layout.js'
import {
  loadedWindow,
  loadAround,
  loadNext,
  loadPrevious,
  scrollTarget,
  shownSorts,
} from './loading.js'
import { isByTime } from './paging.js'
import { viewport } from './viewport.js'

/* Navigation in the list: the focused row and cell, and the open event. */

/** The focused cell of the active row; `undefined` for the row itself. */
export const activeColumn = signal<Column | undefined>(undefined)

/** A cell of a row. */
export interface Cell {
  readonly id: string
  readonly column: Column
}

/** The cell under the pointer. */
export const hoveredCell = signal<Cell | undefined>(undefined)

/** True to focus the active row after the next render. */
let isFocusDue = false

export function takeFocusRequest(): boolean {
  const due = isFocusDue
  isFocusDue = false
  return due
}

export const eventById = (id: string | undefined): AuditEvent | undefined =>
  loadedWindow.value.events.find((event) => event.id === id)

/** The row in the tab order: the last focused row, else the first row in view. */
export const tabRow = (): string | undefined =>
  eventById(activeId.value)?.id ?? anchorAt(viewport.value.top)?.id

export function activate(id: string, focus = true): void {
  batch(() => {
    activeId.value = id
    scrollTarget.value = id
    isFocusDue = focus
  })
}

/** Focuses the row of an event if it is loaded, for panels that close. */
export function focusRow(id: string | undefined): void {
  if (id !== undefined && eventById(id)) activate(id)
}

/** Stores the row and cell that received the focus. */
export function storeFocus(id: string, column: Column | undefined): void {
  batch(() => {
    activeId.value = id
    activeColumn.value = column
  })
}

function neighbour(id: string | undefined, step: number): AuditEvent | undefined {
  const { events } = loadedWindow.value
  const at = events.findIndex((event) => event.id === id)
  if (at < 0) return events[0]
  return events[Math.min(events.length - 1, Math.max(0, at + step))]
}

/** Opens the event `step` rows below the open one. */
export function openNext(step: 1 | -1): void {
  const next = neighbour(openId.value, step)
  if (!next || next.id === openId.value) {
    void (step > 0 ? loadNext() : loadPrevious())
    return
  }
  activate(next.id, false)
  openEvent(next.id)
}

/** Moves the focus by some rows. Returns true if it moved. */
export function moveRow(step: number): boolean {
  const from = tabRow()
  const isInList = document.activeElement?.closest('.row') !== null
  const next = isInList ? neighbour(from, step) : eventById(from)
  if (!next || (isInList && next.id === from)) return false
  activate(next.id)
  return true
}

/** Moves the focus to the next cell. The row itself comes before the first cell. */
export function moveColumn(step: 1 | -1): void {
  const columns = shownColumns()
  const at = activeColumn.value === undefined ? -1 : columns.indexOf(activeColumn.value)
  activeColumn.value = columns[Math.min(columns.length - 1, at + step)]
  isFocusDue = true
}

/** The cell for *is* and *is not*: the cell under the pointer, else the focused cell. */
export function targetCell(): { readonly event: AuditEvent; readonly column: Column } | undefined {
  const inFocus = activeId.value === undefined ? undefined : document.activeElement?.closest('.row')
  const cell =
    hoveredCell.value ??
    (inFocus ? { id: activeId.value!, column: activeColumn.value ?? 'type' } : undefined)
  const event = eventById(cell?.id)
  return event && { event, column: cell!.column }
}

/** Scrolls to a time. Loads the rows around it if needed. */
export function scrollToTime(time: string): void {
  if (!isByTime(shownSorts.value)) return
  const { events, hasFirst, hasLast } = loadedWindow.value
  const isDescending = shownSorts.value.length === 0 || shownSorts.value[0]!.direction === 'desc'
  const at = events.findIndex(({ created_at }) =>
    isDescending ? created_at <= time : created_at >= time,
  )
  const isWithin = at > 0 || (at === 0 && hasFirst) || (at < 0 && hasLast)
  if (isWithin) scrollTarget.value = (events[at] ?? events.at(-1))?.id
  else untracked(() => void loadAround(time))
}
