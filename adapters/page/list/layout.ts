import { computed, effect, signal } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { counts } from '../data/counts.js'
import { dayKey, zone } from '../data/format.js'
import { dayTotals } from './row-estimate.js'
import { MAX_ROWS, rowsAfter } from './loaded-window.js'
import { canJump, held, shownSorts, totalRows } from './loading.js'
import { isByTime } from './paging.js'
import { itemAt, itemsBetween, itemsOf, mountedItems, positionsOf } from './positions.js'
import { onScreen } from './interaction.js'
import { isPhone, PHONE_DAY_HEIGHT, PHONE_ROW_HEIGHT, ROW_HEIGHT, viewport } from './viewport.js'

/* Where everything of the list is, and which of it has elements. */

const MINUTE = 16
const MOST_MINUTES = 5000

/** The day of a time; zones differ by whole minutes, and asking the zone is dear. */
const days = computed(() => {
  const known = new Map<string, string>()
  void zone.value
  return (time: string): string => {
    const minute = time.slice(0, MINUTE)
    const day = known.get(minute) ?? dayKey(time)
    if (known.size > MOST_MINUTES) known.clear()
    known.set(minute, day)
    return day
  }
})

let heights = new WeakMap<AuditEvent, number>()
const measured = signal(0)

/** Takes what a row's element measures; `settle` then makes it count. */
export function measure(event: AuditEvent, height: number): boolean {
  if (heights.get(event) === height) return false
  heights.set(event, height)
  return true
}

export function settle(): void {
  measured.value++
}

export function forgetHeights(): void {
  heights = new WeakMap()
  settle()
}

const items = computed(() => {
  const { events, before } = held.value
  return itemsOf(events, before, isByTime(shownSorts.value) ? days.value : undefined)
})

const rowHeight = computed(() => (isPhone.value ? PHONE_ROW_HEIGHT : ROW_HEIGHT))

export const positions = computed(() => {
  void measured.value
  const phone = isPhone.value
  return positionsOf(items.value, held.value.before * rowHeight.value, (item) => {
    if (!phone) return ROW_HEIGHT
    if (item.kind === 'day') return PHONE_DAY_HEIGHT
    return heights.get(item.event) ?? PHONE_ROW_HEIGHT
  })
})

/** Pixels behind the last item. */
export const restHeight = computed(
  () => rowsAfter(held.value, canJump.value ? totalRows.value : undefined) * rowHeight.value,
)

const inView = computed(() => {
  const { top, height } = viewport.value
  return itemsBetween(positions.value, top, top + height)
})

const firstInView = computed(() => inView.value?.[0])
const lastInView = computed(() => inView.value?.[1])

const SPARE = 10

/** Rows beyond the view; none before the first are painted. */
const spare = signal(0)

export function spareRows(): void {
  spare.value = SPARE
}

/** The row in the tab order: it keeps its element wherever it is. */
export const activeId = signal<string | undefined>(undefined)

export const mounted = computed(() => {
  const [first, last] = [firstInView.value, lastInView.value]
  const view = first === undefined || last === undefined ? undefined : ([first, last] as const)
  return mountedItems(positions.value, view, spare.value, activeId.value)
})

/** The row that a reader at this place has before him, with where it begins. */
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

/** The row at an offset beyond what is held, among all rows of the list. */
export const rowAtOffset = (offset: number): number => {
  const total = totalRows.value ?? 0
  return Math.round((offset / rowHeight.value) * Math.max(1, total / MAX_ROWS))
}

/** How many events the days have, where the counts tell. */
export const totalsOfDays = computed(() =>
  dayTotals(counts.value?.buckets?.buckets ?? [], days.value),
)

/** Tells what is on screen. */
export function followScreen(): void {
  effect(() => {
    const [first, last] = [firstInView.value, lastInView.value]
    const { items } = positions.value
    const events = items
      .slice(first ?? 0, (last ?? -1) + 1)
      .flatMap((item) => (item.kind === 'row' ? [item.event.created_at] : []))
    const [one, other] = [events[0], events.at(-1)]
    if (!isByTime(shownSorts.value) || one === undefined || other === undefined)
      onScreen.value = undefined
    else onScreen.value = one < other ? { from: one, to: other } : { from: other, to: one }
  })
}
