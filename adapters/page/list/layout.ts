import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { areCountsStale, counts } from '../data/counts.js'
import { zone } from '../data/address.js'
import { dayKey, offsetsOf } from '../data/format.js'
import { dayTotals } from './row-estimate.js'
import { MAX_LIST_ROWS, rowsAfter } from './loaded-window.js'
import { canJump, loadedWindow, shownSorts, totalRows } from './loading.js'
import { isByTime } from './paging.js'
import {
  itemAt,
  itemsBetween,
  itemsOf,
  mountedItems,
  positionsOf,
  type Twins,
} from './positions.js'
import { timesOnScreen } from './interaction.js'
import { isPhone, PHONE_DAY_HEIGHT, PHONE_ROW_HEIGHT, ROW_HEIGHT, viewport } from './viewport.js'

/* The position of every item of the list, and which items are rendered. */

const MINUTE_LENGTH = 16
const MAX_CACHED_MINUTES = 5000

/** Returns the day of a time. Cached per minute: formatting is slow, and zone offsets are whole minutes. */
const days = computed(() => {
  const known = new Map<string, string>()
  void zone.value
  return (time: string): string => {
    const minute = time.slice(0, MINUTE_LENGTH)
    const day = known.get(minute) ?? dayKey(time)
    if (known.size > MAX_CACHED_MINUTES) known.clear()
    known.set(minute, day)
    return day
  }
})

let heights = new WeakMap<AuditEvent, number>()
const measured = signal(0)

/** Stores the measured height of a row. Returns true if it changed. Then `applyHeights` must be called. */
export function storeHeight(event: AuditEvent, height: number): boolean {
  if (heights.get(event) === height) return false
  heights.set(event, height)
  return true
}

export function applyHeights(): void {
  measured.value++
}

export function forgetHeights(): void {
  heights = new WeakMap()
  applyHeights()
}

/** Set once the code that folds rows is loaded. */
export const folded = signal<ReadonlySignal<Twins> | undefined>(undefined)

const items = computed(() => {
  const { events, before } = loadedWindow.value
  return itemsOf(
    events,
    before,
    isByTime(shownSorts.value) ? days.value : undefined,
    folded.value?.value,
  )
})

const rowHeight = computed(() => (isPhone.value ? PHONE_ROW_HEIGHT : ROW_HEIGHT))

export const positions = computed(() => {
  void measured.value
  const phone = isPhone.value
  return positionsOf(items.value, loadedWindow.value.before * rowHeight.value, (item) => {
    if (!phone) return ROW_HEIGHT
    if (item.kind === 'day') return PHONE_DAY_HEIGHT
    return heights.get(item.event) ?? PHONE_ROW_HEIGHT
  })
})

/** The height in pixels of the rows after the loaded ones. */
export const heightAfterRows = computed(
  () =>
    rowsAfter(loadedWindow.value, canJump.value ? totalRows.value : undefined) * rowHeight.value,
)

const inView = computed(() => {
  const { top, height } = viewport.value
  return itemsBetween(positions.value, top, top + height)
})

const firstInView = computed(() => inView.value?.[0])
const lastInView = computed(() => inView.value?.[1])

const SPARE_ROWS = 10

/** Rows rendered beyond the viewport; 0 until the first paint. */
const spare = signal(0)

export function renderSpareRows(): void {
  spare.value = SPARE_ROWS
}

/** The event of the row in the tab order. This row stays rendered even when it is out of view. */
export const activeId = signal<string | undefined>(undefined)

export const mounted = computed(() => {
  const [first, last] = [firstInView.value, lastInView.value]
  const view = first === undefined || last === undefined ? undefined : ([first, last] as const)
  return mountedItems(positions.value, view, spare.value, activeId.value)
})

/** The first row at or after an offset, with the offset of its top. */
export function anchorAt(
  offset: number,
): { readonly id: string; readonly offset: number } | undefined {
  const { items, offsets } = positions.value
  for (let i = itemAt(positions.value, offset); i < items.length; i++) {
    const item = items[i]!
    if (item.kind === 'row') return { id: item.event.id, offset: offsets[i]! }
  }
  return undefined
}

/** The row number at an offset outside of the loaded rows. */
export const rowAtOffset = (offset: number): number => {
  const total = totalRows.value ?? 0
  return Math.round((offset / rowHeight.value) * Math.max(1, total / MAX_LIST_ROWS))
}

/** The number of events of each day for which the counts are exact. */
export const totalsOfDays = computed(() =>
  dayTotals(
    (!areCountsStale.value && counts.value?.exact.buckets && counts.value.buckets?.buckets) || [],
    days.value,
  ),
)

const timesInView = computed(() =>
  positions.value.items
    .slice(firstInView.value ?? 0, (lastInView.value ?? -1) + 1)
    .flatMap((item) => (item.kind === 'row' ? [item.event.created_at] : [])),
)

/** The offsets from UTC of the rows on screen: `UTC−4`, or `UTC−5 / UTC−4` if clocks change between them. */
export const offsetsInView = computed(() => offsetsOf(timesInView.value).join(' / '))

/** True if clocks change between the loaded rows, so that the time column needs more room. */
export const hasClockChange = computed(
  () => offsetsOf(loadedWindow.value.events.map(({ created_at }) => created_at)).length > 1,
)

/** Keeps `timesOnScreen` up to date. */
export function trackTimesOnScreen(): void {
  effect(() => {
    const [one, other] = [timesInView.value[0], timesInView.value.at(-1)]
    if (!isByTime(shownSorts.value) || one === undefined || other === undefined)
      timesOnScreen.value = undefined
    else timesOnScreen.value = one < other ? { from: one, to: other } : { from: other, to: one }
  })
}
