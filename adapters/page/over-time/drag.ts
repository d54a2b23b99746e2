import { aimed, buckets, dropSelection, selection, zoomOut, zoomTo } from './chart-state.js'
import { barAt, moved, type Stretch, stretchOf } from './timeline.js'

interface Drag {
  readonly at: number
  /** Where the pointer went down. */
  readonly x: number
  /** What is moved; otherwise it is being selected. */
  readonly stretch: Stretch | undefined
  isUnderWay: boolean
}

let drag: Drag | undefined

/** Pixels within which a hand does not hold still. */
const STILL = 4

/** A click waits for the second one that would undo it. */
const DOUBLE_CLICK_MS = 250

let click: ReturnType<typeof setTimeout> | undefined

/** How far along the element the pointer is, 0 to 1. */
export function placeIn({ clientX, currentTarget }: MouseEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return (clientX - left) / width
}

const barOf = (event: MouseEvent): number => barAt(buckets.value.length, placeIn(event))

const holds = (stretch: Stretch | undefined, bar: number): boolean =>
  stretch !== undefined && stretch.from <= bar && bar <= stretch.to

function zoomSoon(stretch: Stretch): void {
  clearTimeout(click)
  click = setTimeout(() => zoomTo(stretch), DOUBLE_CLICK_MS)
}

/** Drops what is selected, also while it is being dragged. */
export function cancelDrag(): void {
  drag = undefined
  dropSelection()
}

/** What a pointer does to the bars: drag to select, drag the selection to move it, click, click twice. */
export const pointing = {
  onPointerDown(event: PointerEvent): void {
    if (event.button !== 0 || buckets.value.length === 0) return
    const at = barOf(event)
    const stretch = holds(selection.value, at) ? selection.value : undefined
    if (!stretch) dropSelection()
    drag = { at, x: event.clientX, stretch, isUnderWay: false }
    ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
  },

  onPointerMove(event: PointerEvent): void {
    const bars = buckets.value.length
    if (bars === 0) return
    const bar = barOf(event)
    aimed.value = bar
    if (!drag || (!drag.isUnderWay && Math.abs(event.clientX - drag.x) < STILL)) return
    drag.isUnderWay = true
    const { at, stretch } = drag
    selection.value = stretch ? moved(stretch, bar - at, bars) : stretchOf(at, bar)
  },

  onPointerUp(): void {
    if (!drag) return
    const { at, stretch, isUnderWay } = drag
    drag = undefined
    if (!isUnderWay) zoomSoon(stretch ?? stretchOf(at, at))
    else if (!stretch && selection.value) zoomTo(selection.value)
  },

  onPointerCancel: cancelDrag,

  onPointerLeave(): void {
    if (!drag) aimed.value = undefined
  },

  onDblClick(): void {
    clearTimeout(click)
    zoomOut()
  },
}
