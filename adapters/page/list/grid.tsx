import { useSignalEffect } from '@preact/signals'
import { Fragment } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { openId } from '../data/address.js'
import { dayKey, formatDay, formatPlural } from '../data/format.js'
import { counts } from '../data/counts.js'
import { texts } from '../ui/texts.js'
import { ColumnHeaders } from './column-headers.js'
import { customColumns, shownColumns } from './custom-columns.js'
import { loadInView } from './scroll-loading.js'
import {
  activeId,
  folded,
  forgetHeights,
  hasClockChange,
  mounted,
  positions,
  heightAfterRows,
  renderSpareRows,
  totalsOfDays,
} from './layout.js'
import { isCut, loadedWindow, isStale, scrollTarget, shownSorts, totalRows } from './loading.js'
import { activeColumn, hoveredCell, tabRow } from './row-focus.js'
import { isByTime, isNewestFirst } from './paging.js'
import { pointerHandlers, useSelectionTracking } from './row-pointer.js'
import type { Item } from './positions.js'
import { rowParts, Row } from './row.js'
import { restoreScroll, storeAnchor } from './scroll-anchor.js'
import { useGridKeys } from './grid-keys.js'
import { isPhone, watchViewport } from './viewport.js'

const MINUTE_MS = 60_000

/** Empty space in place of items that are not rendered. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null
  return <div class="gap" role="presentation" style={{ height: `${height}px` }} />
}

/** Renders again at the next midnight at the latest. */
function useToday(): string {
  const [today, set] = useState(() => dayKey(new Date()))
  useEffect(() => {
    const timer = setInterval(() => set(dayKey(new Date())), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  return today
}

function Day({ item }: { item: Item & { kind: 'day' } }) {
  const total = totalsOfDays.value.get(item.day)
  const isToday = item.day === useToday()
  const name = formatDay(new Date(item.time))
  return (
    <div class="day" role="row">
      <span role="gridcell" aria-colspan={shownColumns().length}>
        <b>{isToday ? texts.list.today(name) : name}</b>
        {total !== undefined && ` · ${texts.common.events(total)}`}
      </span>
    </div>
  )
}

function Rows() {
  const { items, offsets } = positions.value
  const first = tabRow()
  let end = 0
  return (
    <>
      {mounted.value.map((index) => {
        const item = items[index]!
        const gap = offsets[index]! - end
        end = offsets[index + 1]!
        if (item.kind === 'day')
          return (
            <Fragment key={item.day}>
              <Gap height={gap} />
              <Day item={item} />
            </Fragment>
          )
        const { event, row, twin } = item
        const isActive = event.id === first
        const column = event.id === activeId.value ? activeColumn.value : undefined
        const pointed = hoveredCell.value?.id === event.id ? hoveredCell.value.column : undefined
        return (
          <Fragment key={event.id}>
            <Gap height={gap} />
            <Row
              event={event}
              row={row}
              twin={twin}
              isActive={isActive}
              isOpen={event.id === openId.value}
              quickColumn={pointed ?? column}
              isTimeFocused={column === 'time'}
            />
          </Fragment>
        )
      })}
      <Gap height={offsets.at(-1)! - end + heightAfterRows.value} />
    </>
  )
}

const useViewport = (box: { readonly current: HTMLElement | null }): void => {
  useEffect(() => watchViewport(box.current!, storeAnchor), [])
  useEffect(renderSpareRows, [])
  useEffect(() => forgetHeights(), [isPhone.value])
  useSignalEffect(loadInView)
}

/** The number of rows including the header, for `aria-rowcount`; -1 if unknown or estimated. */
function rowCount(): number {
  const { hasFirst, hasLast, events } = loadedWindow.value
  if (hasFirst && hasLast && !isCut.value) return events.length + 1
  return totalRows.value === undefined || !counts.value?.exact.total ? -1 : totalRows.value + 1
}

/** The events as a virtual grid: only rows near the viewport are rendered. */
export function Grid() {
  const box = useRef<HTMLDivElement>(null)
  useViewport(box)
  useSelectionTracking(box)
  useEffect(() => {
    // Until this code is loaded, each event has a separate row.
    if (!folded.value)
      import('./folding.js').then((folding) => folding.foldRows()).catch(() => undefined)
    // Until this code is loaded, cells have no filters and no marks.
    import('./quick.js').then((loaded) => (rowParts.value = loaded)).catch(() => undefined)
  }, [])
  const onKeyDown = useGridKeys()
  // Subscribes to all signals that move rows, scroll, or change the focus. `restoreScroll` runs after each render.
  void mounted.value
  void positions.value
  void heightAfterRows.value
  void scrollTarget.value
  void activeId.value
  void activeColumn.value
  useLayoutEffect(() => restoreScroll(box.current!))
  const sorts = shownSorts.value
  const custom = customColumns.value
  return (
    <div
      class={`list${isStale.value ? ' stale' : ''}${isByTime(sorts) ? '' : ' dated'}${custom ? ' chosen' : ''}${hasClockChange.value ? ' clock-change' : ''}`}
      style={{ '--columns': custom?.tracks, '--when': custom?.timeName && '208px' }}
      role="grid"
      aria-label={isNewestFirst(sorts) ? texts.list.newestFirst : texts.list.sorted}
      aria-rowcount={rowCount()}
      aria-colcount={shownColumns().length}
      aria-busy={isStale.value}
      onKeyDown={onKeyDown}
    >
      <ColumnHeaders />
      <div
        class="rows"
        id="events"
        role="rowgroup"
        tabIndex={-1}
        aria-label={texts.list.events}
        ref={box}
        {...pointerHandlers}
      >
        <Rows />
        {isCut.value && (
          <div class="day" role="row">
            <span role="gridcell" aria-colspan={shownColumns().length}>
              {texts.list.firstOnly(
                formatPlural(loadedWindow.value.events.length, 'event', 'events'),
              )}
            </span>
          </div>
        )}
      </div>
    </div>
  )
}
