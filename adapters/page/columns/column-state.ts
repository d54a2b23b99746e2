import { computed, signal } from '@preact/signals'
import { showsSeveralLogs } from '../data/config.js'
import { joinNames, members, setMember, splitNames } from '../data/address.js'
import { columnsChoice } from '../data/preferences.js'
import { store } from '../data/storage.js'
import { texts } from '../ui/texts.js'
import { columnsTexts } from './columns-texts.js'

/*
 * The chosen columns, as the member `columns` of the address and as a preference: names separated by commas, each with its
 * width after a colon if it has one. `@name` is the attribute of the time column.
 */

export const OWN = ['who', 'what', 'type', 'source'] as const

/** The column with the key of the log, as in exports. Only pages of several logs have it. */
export const LOG = 'log_key'

export type OwnName = (typeof OWN)[number] | typeof LOG

/** The own columns of this page. */
export const ownNames: readonly OwnName[] = showsSeveralLogs ? [LOG, ...OWN] : OWN

/** A column: a column of the list, or an attribute. */
export interface ChosenColumn {
  readonly own: OwnName | undefined
  /** The attribute, or the name of a column of the list itself. */
  readonly name: string
  /** Width in pixels. */
  readonly width: number | undefined
}

export interface Choice {
  /** The attribute of the time column; `undefined` for `created_at`. */
  readonly time: string | undefined
  readonly columns: readonly ChosenColumn[]
}

export const MAX_COLUMNS = 12
export const MIN_WIDTH = 48
export const MAX_WIDTH = 800
const ATTRIBUTE_WIDTH = 140

const ownNamed = (name: string): OwnName | undefined =>
  [LOG, ...OWN].find((own): own is OwnName => own === name)

export const columnNamed = (text: string): ChosenColumn => ({
  own: ownNamed(text),
  name: text.replace(/^\./, ''),
  width: undefined,
})

export const DEFAULT_CHOICE: Choice = { time: undefined, columns: OWN.map(columnNamed) }

export const clampWidth = (width: number): number =>
  Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)))

export const isSame = (one: ChosenColumn, other: ChosenColumn): boolean =>
  one.own === other.own && one.name === other.name

function readColumn(text: string): ChosenColumn {
  const [, name = text, width] = /^(.*):(\d+)$/.exec(text) ?? []
  return {
    ...columnNamed(name),
    width: width === undefined ? undefined : clampWidth(Number(width)),
  }
}

/** Reads the text of the member. The result always has the column of the sentence, and no column twice. */
export function readChoice(text: string): Choice {
  const items = splitNames(text)
  const time = items.find((item) => item.startsWith('@'))?.slice(1)
  const columns: ChosenColumn[] = []
  for (const column of items.filter((item) => !item.startsWith('@')).map(readColumn)) {
    const isOfPage = column.own === undefined || ownNames.includes(column.own)
    if (isOfPage && !columns.some((other) => isSame(other, column))) columns.push(column)
  }
  if (columns.length === 0) return { ...DEFAULT_CHOICE, time: time || undefined }
  const kept = columns.slice(0, MAX_COLUMNS)
  const sentence = columnNamed('what')
  return {
    time: time || undefined,
    columns: kept.some((one) => isSame(one, sentence)) ? kept : [...kept, sentence],
  }
}

function columnText({ own, name, width }: ChosenColumn): string {
  // A dot marks an attribute whose name looks like an own column or like another kind of item.
  const isPlain = own !== undefined || (!ownNamed(name) && !/^[.@]/.test(name))
  // A name that looks like a name with a width gets a width, so that it is read correctly.
  const shown = width ?? (/:\d+$/.test(name) ? ATTRIBUTE_WIDTH : undefined)
  return `${isPlain ? '' : '.'}${name}${shown === undefined ? '' : `:${shown}`}`
}

/** The inverse of {@link readChoice}; empty for the default columns. */
export function choiceText({ time, columns }: Choice): string {
  const names = columns.map(columnText)
  const isDefault = names.join() === OWN.join()
  return joinNames([...(time ? [`@${time}`] : []), ...(isDefault ? [] : names)])
}

export const choice = computed(() => readChoice(members.columns.value ?? columnsChoice.value ?? ''))

/** Shows these columns, and stores them in this browser. */
export function choose(next: Choice): void {
  const text = choiceText(next)
  columnsChoice.value = text
  store('daybook.columns', text)
  setMember('columns', text === '' ? undefined : text)
}

export const resetColumns = (): void => choose(DEFAULT_CHOICE)

/** The width of a column while it is dragged. */
export const dragged = signal<{ readonly at: number; readonly width: number } | undefined>(
  undefined,
)

const WIDTHS: Readonly<Record<OwnName, number>> = {
  [LOG]: 120,
  who: 84,
  what: 0,
  type: 220,
  source: 150,
}
export const widthOf = ({ own, width }: ChosenColumn): number =>
  width ?? (own ? WIDTHS[own] : ATTRIBUTE_WIDTH)

export const withWidth = (before: Choice, at: number, width: number): Choice => ({
  ...before,
  columns: before.columns.map((column, i) =>
    i === at ? { ...column, width: clampWidth(width) } : column,
  ),
})

/** The heading of a column. */
export function titleOf({ own, name }: ChosenColumn): string {
  if (own === LOG) return columnsTexts.log
  return own ? texts.list.columns[own] : name
}

/** The attributes that are columns. */
export const attributeColumns = computed(() =>
  choice.value.columns.flatMap(({ own, name }) => (own ? [] : [name])),
)
