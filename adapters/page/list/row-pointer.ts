import { useEffect } from 'preact/hooks'
import { openEvent } from '../data/address.js'
import type { Column } from './cells.js'
import { shownColumns } from './custom-columns.js'
import { activate, activeColumn, eventById, storeFocus, hoveredCell } from './row-focus.js'
import { isRowHovered, isSelecting } from './interaction.js'
import { endPress, isLongPress, startPress } from './long-press.js'
import { copySelectedRows } from './copy-rows.js'

/* Pointer and focus handlers of rows, delegated to their container to keep rows cheap. */

interface Place {
  readonly id: string
  readonly column: Column | undefined
  readonly cell: HTMLElement | null
}

function positionOf(target: EventTarget | null): Place | undefined {
  if (!(target instanceof Element)) return undefined
  const row = target.closest<HTMLElement>('.row[data-id]')
  if (!row) return undefined
  const cell = target.closest<HTMLElement>('[role=gridcell]')
  const column = cell ? shownColumns()[[...row.children].indexOf(cell)] : undefined
  return { id: row.dataset['id']!, column, cell }
}

function point(event: PointerEvent): void {
  if (event.pointerType !== 'mouse') return
  const at = positionOf(event.target)
  isRowHovered.value = at !== undefined
  const known = hoveredCell.value
  if (known?.id === at?.id && known?.column === at?.column) return
  hoveredCell.value = at?.column && { id: at.id, column: at.column }
  const hovered = at?.column === 'time' ? eventById(at.id) : undefined
  if (hovered)
    import('./exact-time.js').then(
      ({ exactTimeOf }) => (at!.cell!.title = exactTimeOf(hovered)),
      // If this code cannot be loaded, the cell has no tooltip.
      () => undefined,
    )
}

function leave(): void {
  isRowHovered.value = false
  hoveredCell.value = undefined
}

const hasSelection = (): boolean => getSelection()?.isCollapsed === false

function openTab(id: string): void {
  const address = new URL(location.href)
  address.hash = `event=${encodeURIComponent(id)}`
  window.open(address, '_blank', 'noopener')
}

function press(event: MouseEvent): void {
  const at = positionOf(event.target)
  // Links and buttons have their own action, and selecting text must not open the event.
  if (!at || (event.target as Element).closest('a, button') || hasSelection()) return
  if (isLongPress()) return
  if (event.metaKey || event.ctrlKey || event.button === 1) {
    openTab(at.id)
    return
  }
  activeColumn.value = undefined
  activate(at.id, false)
  openEvent(at.id)
}

function focus({ target }: FocusEvent): void {
  const at = positionOf(target)
  if (at && (target as Element).matches('.row, [role=gridcell]')) storeFocus(at.id, at.column)
}

function touch(event: PointerEvent): void {
  const at = event.pointerType === 'touch' ? positionOf(event.target) : undefined
  if (at) startPress(at.id)
}

export const pointerHandlers = {
  onPointerDown: touch,
  onPointerUp: endPress,
  onPointerCancel: endPress,
  onPointerOver: point,
  onPointerLeave: leave,
  onClick: press,
  onAuxClick: (event: MouseEvent): void => {
    if (event.button === 1) press(event)
  },
  onFocusIn: focus,
  onCopy: copySelectedRows,
}

/** Keeps `isSelecting` up to date. */
export function useSelectionTracking(box: { readonly current: HTMLElement | null }): void {
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
