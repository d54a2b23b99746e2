import { openEvent, openId } from '../data/address.js'
import { useKeys } from '../ui/keyboard.js'
import { showWaiting, togglePause } from './live-updates.js'
import { loadedWindow } from './loading.js'
import { activeId } from './layout.js'
import { activate, activeColumn, targetCell, moveColumn, moveRow, openNext } from './row-focus.js'
import { rowParts } from './row.js'
import { ROW_HEIGHT, viewport } from './viewport.js'

const step = (by: 1 | -1): void => {
  if (openId.value === undefined) moveRow(by)
  else openNext(by)
}

function filter(not: boolean): void {
  const at = targetCell()
  if (at) rowParts.value?.filterBy(at.event, at.column, not)
}

const pageRows = (): number => Math.max(1, Math.floor(viewport.value.height / ROW_HEIGHT) - 2)

const end = (at: 0 | -1): void => {
  const id = loadedWindow.value.events.at(at)?.id
  if (id !== undefined) activate(id)
}

function openActive(event: KeyboardEvent): void {
  if ((event.target as Element).closest('a, button') || activeId.value === undefined) return
  openEvent(activeId.value)
}

/** Keys that work while the focus is on a row. */
const KEYS: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
  ArrowDown: () => moveRow(1),
  ArrowUp: (event) => {
    if (!moveRow(-1)) focusHead(event.currentTarget as HTMLElement)
  },
  ArrowLeft: () => moveColumn(-1),
  ArrowRight: () => moveColumn(1),
  PageDown: () => moveRow(pageRows()),
  PageUp: () => moveRow(-pageRows()),
  Home: () => end(0),
  End: () => end(-1),
  Enter: openActive,
}

const focusHead = (grid: HTMLElement): void =>
  grid.querySelector<HTMLElement>('[role=columnheader] button')?.focus()

/** Arrow keys in the column headers: between the buttons, and down to the rows. */
function moveInHead(event: KeyboardEvent): void {
  const grid = event.currentTarget as HTMLElement
  const buttons = [...grid.querySelectorAll<HTMLElement>('[role=columnheader] button')]
  const at = buttons.indexOf(event.target as HTMLElement)
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  if (by !== undefined) buttons[Math.max(0, at + by)]?.focus()
  else if (event.key === 'ArrowDown') end(0)
  else return
  event.preventDefault()
}

function onKeyDown(event: KeyboardEvent): void {
  const target = event.target as Element
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
  if (target.closest('.head')) {
    moveInHead(event)
    return
  }
  const act = target.closest('.row') && KEYS[event.key]
  if (!act || (event.key === 'Enter' && target.closest('a, button'))) return
  act(event)
  event.preventDefault()
}

/** Binds the list's global shortcuts; returns the handler for keys pressed inside the grid. */
export function useGridKeys(): (event: KeyboardEvent) => void {
  const onBody = (act: () => void) => (event: KeyboardEvent) => {
    if (event.target !== document.body) return
    act()
    event.preventDefault()
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: onBody(() => step(1)),
    ArrowUp: onBody(() => step(-1)),
    i: () => filter(false),
    m: () => void import('./pick-event.js').then((late) => late.pickFocused()),
    x: () => filter(true),
    g: () => {
      showWaiting()
      activeColumn.value = undefined
    },
    '.': showWaiting,
    l: togglePause,
  })
  return onKeyDown
}
