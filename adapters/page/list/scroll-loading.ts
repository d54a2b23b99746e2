import { positions, rowAtOffset } from './layout.js'
import { canJump, failure, loadAtRow, loadNext, loadPrevious } from './loading.js'
import { ROW_HEIGHT, viewport } from './viewport.js'

/* Loads rows as the user scrolls. */

/** The next page is loaded within this distance, in pixels, of the end of the loaded rows. */
const LOAD_DISTANCE = 60 * ROW_HEIGHT

/** Beyond this distance the loaded rows are replaced instead of extended. */
const JUMP_DISTANCE = 150 * ROW_HEIGHT

/** Debounce for dragging the scroll bar. */
const SCROLL_DEBOUNCE_MS = 120

let jumpTimer: ReturnType<typeof setTimeout> | undefined

function jump(): void {
  const { top, height } = viewport.value
  const { offsets } = positions.value
  if (top > offsets.at(-1)! || top + height < offsets[0]!) void loadAtRow(rowAtOffset(top))
}

/** Loads missing rows around the viewport. Must run as an effect, because it reads signals. */
export function loadInView(): void {
  const { top, height } = viewport.value
  const { offsets } = positions.value
  const [first, end] = [offsets[0]!, offsets.at(-1)!]
  clearTimeout(jumpTimer)
  if (failure.value) return
  const isFar = top > end + JUMP_DISTANCE || top + height < first - JUMP_DISTANCE
  if (isFar && canJump.value) {
    jumpTimer = setTimeout(jump, SCROLL_DEBOUNCE_MS)
    return
  }
  if (top + height > end - LOAD_DISTANCE) void loadNext()
  if (top < first + LOAD_DISTANCE) void loadPrevious()
}
