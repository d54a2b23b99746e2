import { positions, rowAtOffset } from './layout.js'
import { canJump, failure, loadAtRow, loadNext, loadPrevious } from './loading.js'
import { ROW_HEIGHT, viewport } from './viewport.js'

/* Loads what the reader scrolls to. */

/** So far before its end more is asked for. */
const NEAR = 60 * ROW_HEIGHT

/** What is farther off is loaded on its own. */
const FAR = 150 * ROW_HEIGHT

/** Somebody who drags the scroll bar has not arrived before he rests. */
const REST_MS = 120

let rest: ReturnType<typeof setTimeout> | undefined

function jump(): void {
  const { top, height } = viewport.value
  const { offsets } = positions.value
  if (top > offsets.at(-1)! || top + height < offsets[0]!) void loadAtRow(rowAtOffset(top))
}

/** Asks for what is missing around the viewport; reads signals, as an effect of which it is to be run. */
export function loadInView(): void {
  const { top, height } = viewport.value
  const { offsets } = positions.value
  const [first, end] = [offsets[0]!, offsets.at(-1)!]
  clearTimeout(rest)
  if (failure.value) return
  const isFar = top > end + FAR || top + height < first - FAR
  if (isFar && canJump.value) {
    rest = setTimeout(jump, REST_MS)
    return
  }
  if (top + height > end - NEAR) void loadNext()
  if (top < first + NEAR) void loadPrevious()
}
