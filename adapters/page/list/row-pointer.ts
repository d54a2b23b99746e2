import { useEffect } from 'preact/hooks'
import { openEvent } from '../data/address.js'
import { COLUMNS, type Column } from './cells.js'
import { activate, activeColumn, eventById, noteFocus, pointedCell } from './row-focus.js'
import { isPointed, isSelecting } from './interaction.js'
import { momentOf } from './row.js'
import { copySelectedRows } from './copy-rows.js'

/* What pointer and focus do on rows. Handled where all of them are, so that rows stay cheap. */

interface Place {
  readonly id: string
  readonly column: Column | undefined
  readonly cell: HTMLElement | null
}

function placeOf(target: EventTarget | null): Place | undefined {
  if (!(target instanceof Element)) return undefined
  const row = target.closest<HTMLElement>('.row[data-id]')
  if (!row) return undefined
  const cell = target.closest<HTMLElement>('[role=gridcell]')
  const column = cell ? COLUMNS[[...row.children].indexOf(cell)] : undefined
  return { id: row.dataset['id']!, column, cell }
}

function point(event: PointerEvent): void {
  if (event.pointerType !== 'mouse') return
  const at = placeOf(event.target)
  isPointed.value = at !== undefined
  const known = pointedCell.value
  if (known?.id === at?.id && known?.column === at?.column) return
  pointedCell.value = at?.column && { id: at.id, column: at.column }
  const hovered = at?.column === 'time' ? eventById(at.id) : undefined
  if (hovered) at!.cell!.title = momentOf(hovered)
}

function leave(): void {
  isPointed.value = false
  pointedCell.value = undefined
}

const hasSelection = (): boolean => getSelection()?.isCollapsed === false

function openTab(id: string): void {
  const address = new URL(location.href)
  address.hash = `event=${encodeURIComponent(id)}`
  window.open(address, '_blank', 'noopener')
}

function press(event: MouseEvent): void {
  const at = placeOf(event.target)
  // A link or button does its own, and who selects text does not mean to open.
  if (!at || (event.target as Element).closest('a, button') || hasSelection()) return
  if (event.metaKey || event.ctrlKey || event.button === 1) {
    openTab(at.id)
    return
  }
  activeColumn.value = undefined
  activate(at.id, false)
  openEvent(at.id)
}

function focus({ target }: FocusEvent): void {
  const at = placeOf(target)
  if (at && (target as Element).matches('.row, [role=gridcell]')) noteFocus(at.id, at.column)
}

export const pointerHandlers = {
  onPointerOver: point,
  onPointerLeave: leave,
  onClick: press,
  onAuxClick: (event: MouseEvent): void => {
    if (event.button === 1) press(event)
  },
  onFocusIn: focus,
  onCopy: copySelectedRows,
}

/** Tells whether text of the list is selected. */
export function useSelecting(box: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const read = (): void => {
      const { anchorNode } = getSelection() ?? {}
      isSelecting.value = hasSelection() && box.current!.contains(anchorNode ?? null)
    }
    document.addEventListener('selectionchange', read)
    return () => {
      document.removeEventListener('selectionchange', read)
      isSelecting.value = false
      leave()
    }
  }, [])
}
