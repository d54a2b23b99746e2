import {
  highlightedBar,
  buckets,
  dropSelection,
  selection,
  zoomOut,
  zoomTo,
} from './chart-state.js'
import { barAt, shiftRange, type BarRange, barRange } from './timeline.js'

interface Drag {
  readonly at: number
  /** The x position where the pointer was pressed. */
  readonly x: number
  /** The selection being moved; `undefined` while a new one is drawn. */
  readonly moving: BarRange | undefined
  isUnderWay: boolean
}

let drag: Drag | undefined

/** Pixels of movement that still count as a click. */
const CLICK_TOLERANCE = 4

/** Time to wait, after a click, for the second one of a double click. */
const DOUBLE_CLICK_MS = 250

let click: ReturnType<typeof setTimeout> | undefined

/** The horizontal position of the pointer in the element, 0 to 1. */
export function pointerPosition({ clientX, currentTarget }: MouseEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return (clientX - left) / width
}

const barOf = (event: MouseEvent): number => barAt(buckets.value.length, pointerPosition(event))

const holds = (moving: BarRange | undefined, bar: number): boolean =>
  moving !== undefined && moving.from <= bar && bar <= moving.to

function zoomSoon(moving: BarRange): void {
  clearTimeout(click)
  click = setTimeout(() => zoomTo(moving), DOUBLE_CLICK_MS)
}

/** Drops the selection, even during a drag. */
export function cancelDrag(): void {
  drag = undefined
  dropSelection()
}

/** Pointer handlers of the bars: drag selects or moves the selection, click zooms in, double click zooms out. */
export const pointerHandlers = {
  onPointerDown(event: PointerEvent): void {
    if (event.button !== 0 || buckets.value.length === 0) return
    const at = barOf(event)
    const moving = holds(selection.value, at) ? selection.value : undefined
    if (!moving) dropSelection()
    drag = { at, x: event.clientX, moving, isUnderWay: false }
    ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
  },

  onPointerMove(event: PointerEvent): void {
    const bars = buckets.value.length
    if (bars === 0) return
    const bar = barOf(event)
    highlightedBar.value = bar
    if (!drag || (!drag.isUnderWay && Math.abs(event.clientX - drag.x) < CLICK_TOLERANCE)) return
    drag.isUnderWay = true
    const { at, moving } = drag
    selection.value = moving ? shiftRange(moving, bar - at, bars) : barRange(at, bar)
  },

  onPointerUp(): void {
    if (!drag) return
    const { at, moving, isUnderWay } = drag
    drag = undefined
    if (!isUnderWay) zoomSoon(moving ?? barRange(at, at))
    else if (!moving && selection.value) zoomTo(selection.value)
  },

  onPointerCancel: cancelDrag,

  onPointerLeave(): void {
    if (!drag) highlightedBar.value = undefined
  },

  onDblClick(): void {
    clearTimeout(click)
    zoomOut()
  },
}
