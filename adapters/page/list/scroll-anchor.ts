import { activeId, anchorAt, measure, positions, settle } from './layout.js'
import { held, place, TOP } from './loading.js'
import { activeColumn, eventById, takeFocusDue } from './row-focus.js'
import { COLUMNS } from './cells.js'
import { isAtTop, isPhone, scrollRowsBy, scrollToTop, viewport } from './viewport.js'

/* Nothing moves under the reader: what he has before him stays where it is, whatever comes above it. */

let anchor: ReturnType<typeof anchorAt>

/** Keeps in mind what the reader has before him. At the very top that is the top itself. */
export function noteAnchor(): void {
  anchor = isAtTop.value && held.value.hasFirst ? undefined : anchorAt(viewport.value.top)
}

/** On a phone rows are as high as their text. */
function measureRows(rows: HTMLElement): void {
  if (!isPhone.value) return
  let isChanged = false
  for (const element of rows.querySelectorAll<HTMLElement>('.row[data-id]')) {
    const event = eventById(element.dataset['id'])
    if (event && measure(event, element.offsetHeight)) isChanged = true
  }
  if (isChanged) settle()
}

/** What must be free above and below a row: the day's heading, or on a phone bar and dock. */
const MARGINS = { desk: [40, 0], phone: [150, 70] } as const

function scrollTo(rows: HTMLElement, id: string): void {
  const { offsets, indexById } = positions.value
  const index = indexById.get(id)
  if (index === undefined) return
  const { top, height } = viewport.value
  const [above, below] = MARGINS[isPhone.value ? 'phone' : 'desk']
  const [begin, end] = [offsets[index]! - above, offsets[index + 1]! + below]
  const isFar = end < top || begin > top + height
  if (isFar) scrollRowsBy(rows, begin - height / 3 - top)
  else if (begin < top) scrollRowsBy(rows, begin - top)
  else if (end > top + height) scrollRowsBy(rows, end - top - height)
}

function goToPlace(rows: HTMLElement, id: string): void {
  if (id !== TOP) scrollTo(rows, id)
  else if (viewport.value.top > 0) scrollToTop(rows)
}

function focusActive(rows: HTMLElement): void {
  const row = rows.querySelector<HTMLElement>(`[data-id="${CSS.escape(activeId.value ?? '')}"]`)
  if (!row) return
  const column = activeColumn.value
  const cell = column && (row.children[COLUMNS.indexOf(column)] as HTMLElement)
  const target = cell ?? row
  target.focus({ preventScroll: true })
}

/** Once elements are as they should be: scrolls to where it is wanted, or back to what was in view. */
export function keepPlace(rows: HTMLElement): void {
  measureRows(rows)
  if (place.value !== undefined) {
    goToPlace(rows, place.value)
    place.value = undefined
  } else if (anchor) {
    const { offsets, indexById } = positions.value
    const index = indexById.get(anchor.id)
    const moved = index === undefined ? 0 : offsets[index]! - anchor.offset
    if (moved !== 0) scrollRowsBy(rows, moved)
  }
  noteAnchor()
  if (takeFocusDue()) focusActive(rows)
}
