import { computed, effect, untracked } from '@preact/signals'
import type { ComponentChild, VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { logOf } from '../data/api.js'
import { PERSONAL } from '../../../src/event/personal.js'
import { personalNotes } from '../personal/notes.js'
import { notesText } from '../personal/note-text.js'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import { zone } from '../data/address.js'
import { dayKey, formatClock, locale } from '../data/format.js'
import { valueCondition } from '../data/query.js'
import type { Column } from '../list/cells.js'
import { SortHeader } from '../list/column-headers.js'
import { type CustomColumns, customColumns, type OwnCells } from '../list/custom-columns.js'
import { forgetHeights } from '../list/layout.js'
import { shownSorts } from '../list/loading.js'
import { isByTime } from '../list/paging.js'
import { Quick } from '../list/row.js'
import { isPhone } from '../list/viewport.js'
import { attributeReader, valuesText } from './attribute-text.js'
import { isolated } from '../data/isolated.js'
import { ColumnHeader } from './column-header.js'
import {
  choice,
  type ChosenColumn,
  type Choice,
  dragged,
  LOG,
  titleOf,
  widthOf,
} from './column-state.js'
import { columnsTexts } from './columns-texts.js'

const idOf = ({ own, name }: ChosenColumn): Column => own ?? `.${name}`

const trackOf = (column: ChosenColumn, i: number): string => {
  if (column.own === 'what') return 'minmax(160px, 1fr)'
  const drag = dragged.value
  return `minmax(48px, ${drag?.at === i ? drag.width : widthOf(column)}px)`
}

const dated = computed(
  () =>
    new Intl.DateTimeFormat(locale, {
      timeZone: zone.value,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    }),
)

/** A time in an attribute. It includes the date unless the row is below the heading of that day. */
function timeText(text: string, { created_at }: AuditEvent): ComponentChild {
  const microseconds = parseTimestamp(text)
  if (microseconds === undefined) return text
  const time = new Date(microseconds / 1000)
  const { time: clock, ms, offset } = formatClock(time.toISOString())
  const isOfDay = isByTime(shownSorts.value) && dayKey(time) === dayKey(created_at)
  return (
    <>
      {isOfDay ? clock : dated.value.format(time)}
      <span class="milliseconds">{ms}</span>
      {offset}
    </>
  )
}

/** True if the list has the cell of the column. */
const hasOwnCell = (
  column: ChosenColumn,
): column is ChosenColumn & { readonly own: keyof OwnCells } =>
  column.own !== undefined && column.own !== LOG

const logCell = (event: AuditEvent): readonly JsonValue[] => {
  const log = logOf(event)
  return log === undefined ? [] : [log]
}

/** The notes about encrypted values in words; another attribute of this name as it is. */
function personalCell(event: AuditEvent): readonly JsonValue[] {
  const notes = personalNotes(event)
  return notes.length > 0 ? [notesText(notes)] : attributeReader(PERSONAL)(event)
}

function readerOf({ own, name }: ChosenColumn) {
  if (own === LOG) return logCell
  return name === PERSONAL ? personalCell : attributeReader(name)
}

function headerOf(column: ChosenColumn, own: OwnCells): VNode {
  if (hasOwnCell(column)) return own[column.own]
  // Nothing sorts by log.
  if (column.own === LOG) return <span role="columnheader">{titleOf(column)}</span>
  return <SortHeader attribute={column.name} text={visibleText(column.name)} />
}

/** Rows are grouped by the day of `created_at`. While they are, the header of another time says so. */
const timeHeader = (name: string): string =>
  isByTime(shownSorts.value) ? columnsTexts.timeHeader(name) : name

/** Cells of the list for the chosen columns. */
function customOf({ time, columns }: Choice): CustomColumns {
  const readers = new Map(
    columns.flatMap((column) =>
      hasOwnCell(column) ? [] : [[idOf(column), readerOf(column)] as const],
    ),
  )
  const readTime = time === undefined ? undefined : attributeReader(time)
  const attributeCell = (
    event: AuditEvent,
    column: ChosenColumn,
    quickColumn: Column | undefined,
  ) => {
    const id = idOf(column)
    const text = valuesText(readers.get(id)!(event))
    if (isPhone.value && text === '') return null
    return (
      <span key={id} class="attribute" role="gridcell" tabIndex={-1}>
        <span class="phone-only">
          <bdi>{visibleText(titleOf(column))}</bdi>:{' '}
        </span>
        <bdi>{text}</bdi>
        {quickColumn === id && <Quick event={event} column={id} />}
      </span>
    )
  }
  const attributes = columns.filter((column) => !hasOwnCell(column))
  return {
    shown: ['time', 'level', ...columns.map(idOf)],
    tracks: columns.map(trackOf).join(' '),
    timeName: time && timeHeader(isolated(visibleText(time))),
    timeOf(event) {
      if (!readTime) return undefined
      const text = valuesText(readTime(event).slice(0, 1))
      return text === '' ? '–' : timeText(text, event)
    },
    // On phones the list's own cells have fixed places, and attributes are further lines.
    cells: (event, own, quickColumn) =>
      isPhone.value
        ? [
            ...Object.values(own),
            ...attributes.map((column) => attributeCell(event, column, undefined)),
          ]
        : columns.map((column) =>
            hasOwnCell(column) ? own[column.own] : attributeCell(event, column, quickColumn),
          ),
    headers: (own) =>
      columns.map((column, at) => (
        <ColumnHeader key={idOf(column)} at={at} column={column}>
          {headerOf(column, own)}
        </ColumnHeader>
      )),
    conjunct(event, column, not) {
      // No filter can select a log.
      if (column === LOG) return undefined
      const [value] = readers.get(column)?.(event) ?? []
      if (value === null || typeof value === 'object') return undefined
      const text = value === undefined ? null : String(value)
      // Conditions with a blank value are left out of queries.
      return text?.trim() === '' ? undefined : valueCondition(column.slice(1), text, not)
    },
  }
}

/** Gives the chosen columns to the list while it is mounted. */
export function Columns() {
  useEffect(() => {
    const end = effect(() => {
      customColumns.value = customOf(choice.value)
    })
    const endHeights = effect(() => {
      void choice.value
      untracked(forgetHeights)
    })
    return () => {
      end()
      endHeights()
      customColumns.value = undefined
      forgetHeights()
    }
  }, [])
  return null
}
