import { activeId, anchorAt, storeHeight, positions, applyHeights } from './layout.js'
import { loadedWindow, scrollTarget, TOP } from './loading.js'
import { activeColumn, eventById, takeFocusRequest } from './row-focus.js'
import { shownColumns } from './custom-columns.js'
import { isAtTop, isPhone, scrollRowsBy, scrollToTop, viewport } from './viewport.js'

/* Keeps the rows in view in place when rows are added above them. */

let anchor: ReturnType<typeof anchorAt>

/** Stores the first row in view as the anchor. The top of the list needs no anchor. */
export function storeAnchor(): void {
  anchor = isAtTop.value && loadedWindow.value.hasFirst ? undefined : anchorAt(viewport.value.top)
}

/** On phones, row heights depend on the text and must be measured. */
function measureRows(rows: HTMLElement): void {
  if (!isPhone.value) return
  let isChanged = false
  for (const element of rows.querySelectorAll<HTMLElement>('.row[data-id]')) {
    const event = eventById(element.dataset['id'])
    if (event && storeHeight(event, element.offsetHeight)) isChanged = true
  }
  if (isChanged) applyHeights()
}

/** Free pixels above and below a row. The day heading needs them, and on phones the bar and the toolbar. */
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
  const cell = column && (row.children[shownColumns().indexOf(column)] as HTMLElement)
  const target = cell ?? row
  target.focus({ preventScroll: true })
}

/** Called after a render. Scrolls to `scrollTarget` if it is set, else to the anchor. Then moves the focus if this was requested. */
export function restoreScroll(rows: HTMLElement): void {
  measureRows(rows)
  if (scrollTarget.value !== undefined) {
    goToPlace(rows, scrollTarget.value)
    scrollTarget.value = undefined
  } else if (anchor) {
    const { offsets, indexById } = positions.value
    const index = indexById.get(anchor.id)
    const moved = index === undefined ? 0 : offsets[index]! - anchor.offset
    if (moved !== 0) scrollRowsBy(rows, moved)
  }
  storeAnchor()
  if (takeFocusRequest()) focusActive(rows)
}
