import { computed, signal } from '@preact/signals'
import type { PredicateName } from '../../../src/filter/predicates.js'
import { goTo, query } from '../data/address.js'
import { ANY_TEXT } from '../data/free-text.js'
import { afterRender } from '../ui/after-render.js'
import { filterableAttributes, loadFilterOptions } from '../data/filter-options.js'
import { texts } from '../ui/texts.js'
import { builderAt, dialog } from '../ui/dialog.js'
import { addAfter, changeRow, rowsOf } from './edits.js'
import {
  emptyRow,
  type Group,
  isFinished,
  isGroup,
  readGroup,
  type Row,
  takesValue,
  writeGroup,
} from './model.js'
import { type Option, optionsFor, type Part } from './options.js'

/** The filters being edited. */
export const editedGroup = signal<Group>(readGroup([]))

/** The field whose picker is open. */
export const picking = signal<{ readonly id: number; readonly part: Part } | undefined>(undefined)

/** The text typed into that field. */
export const typed = signal('')

/** The option that the user has marked since the text was typed. */
const markedOption = signal<Option | undefined>(undefined)

export const pickedRow = computed(() =>
  rowsOf(editedGroup.value).find(({ id }) => id === picking.value?.id),
)

export const options = computed((): readonly Option[] => {
  const row = pickedRow.value
  return row && picking.value
    ? optionsFor(picking.value.part, row, typed.value, {
        attributes: filterableAttributes.value,
        words: texts.words,
      })
    : []
})

/**
 * The index of the marked option; -1 for none. It is the option that the user has marked, which stays marked when
 * more options are loaded, or else the option that fits the text. No value is marked until something is typed, so
 * that Enter goes to the next row.
 */
export const activeIndex = computed((): number => {
  const marked = markedOption.value
  const at = marked ? options.value.findIndex((option) => isSameOption(option, marked)) : -1
  return at === -1 ? fittingIndex() : at
})

const isSameOption = (one: Option, other: Option): boolean =>
  one.value === other.value && one.isLevel === other.isLevel

function fittingIndex(): number {
  const part = picking.value?.part
  const row = pickedRow.value
  const chosen = part === 'attribute' ? row?.attribute : row?.predicate
  const text = typed.value.toLowerCase()
  if (part === 'value' && text === '') return -1
  const tests: readonly ((option: Option) => boolean)[] =
    text === ''
      ? [({ value }) => value === chosen]
      : [
          ({ value }) => value.toLowerCase() === text,
          (option) => option.text.toLowerCase().startsWith(text),
        ]
  return tests.map((test) => options.value.findIndex(test)).find((index) => index !== -1) ?? 0
}

export function markOption(index: number): void {
  markedOption.value = options.value[index]
}

export const fieldId = (id: number, part: Part): string => `row-${id}-${part}`

export function focusField(id: number, part: Part): void {
  afterRender(() => document.getElementById(fieldId(id, part))?.focus())
}

/** Reads the query's filters into the draft, and focuses the first field to edit. */
export function start(): void {
  const at = builderAt.value
  const root = readGroup(query.value.where)
  const chosen = at === undefined ? undefined : (root.members[at] ?? root)
  const row = chosen && (isGroup(chosen) ? rowsOf(chosen)[0] : chosen)
  const added = emptyRow()
  editedGroup.value = row ? root : { ...root, members: [...root.members, added] }
  closePicker()
  loadFilterOptions()
  focusField(
    row?.id ?? added.id,
    row ? (takesValue(row.predicate) ? 'value' : 'predicate') : 'attribute',
  )
}

export const openPicker = (id: number, part: Part): void => type('', id, part)

export function closePicker(): void {
  picking.value = undefined
  typed.value = ''
}

export function type(text: string, id: number, part: Part): void {
  picking.value = { id, part }
  typed.value = text
  markedOption.value = undefined
}

const change = (row: Row, part: Partial<Row>): void => {
  editedGroup.value = changeRow(editedGroup.value, row.id, part)
}

const TAKE: Readonly<Record<Part, (row: Row, option: Option) => void>> = {
  attribute(row, { value, isLevel = false }) {
    // Values belong to their attribute. Levels, and the search in all texts, have only two predicates.
    const isSame = row.attribute === value && row.isLevel === isLevel
    const isText = value === ANY_TEXT
    const isOther = isLevel || row.isLevel || isText || row.attribute === ANY_TEXT
    const predicate = isOther ? (isText ? 'cont' : 'eq') : row.predicate
    if (!isSame) change(row, { attribute: isLevel ? '' : value, isLevel, predicate, values: [] })
  },
  predicate(row, { value }) {
    const predicate = value as PredicateName
    if (predicate !== row.predicate) change(row, { predicate })
  },
  value(row, { value }) {
    change(row, { values: [...row.values, value] })
    typed.value = ''
    markedOption.value = undefined
  },
}

/** The field to focus after an option is applied; the same field if there is no next field. */
const NEXT: Readonly<Record<Part, (option: Option) => Part>> = {
  attribute: () => 'predicate',
  predicate: ({ value }) => (takesValue(value as PredicateName) ? 'value' : 'predicate'),
  value: () => 'value',
}

/** Applies an option without moving the focus; returns the field to focus next. */
export function take(option: Option): { readonly id: number; readonly part: Part } | undefined {
  const row = pickedRow.value
  const { part } = picking.value ?? {}
  if (!row || !part) return undefined
  if (part !== 'value') closePicker()
  TAKE[part](row, option)
  return { id: row.id, part: NEXT[part](option) }
}

/** Applies an option, and moves the focus to the next field. */
export function choose(option: Option): void {
  const next = take(option)
  if (next) focusField(next.id, next.part)
}

export const toggleJoin = (row: Row): void =>
  change(row, { join: row.join === 'any' ? 'all' : 'any' })

export function removeValue(row: Row, value: string): void {
  change(row, { values: row.values.filter((other) => other !== value) })
}

/** Adds a row after this row, if this row is complete. */
export function addRowAfter(row: Row): void {
  if (!isFinished(row)) return
  const added = emptyRow()
  editedGroup.value = addAfter(editedGroup.value, row.id, added)
  focusField(added.id, 'attribute')
}

/** The query with the draft's filters. */
export const draftQuery = computed(() => ({ ...query.value, where: writeGroup(editedGroup.value) }))

export const cancel = (): void => {
  dialog.value = undefined
}

export function apply(): void {
  const next = draftQuery.value
  cancel()
  goTo(next)
}
