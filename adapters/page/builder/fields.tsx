import type { Level } from '../../../src/event/level.js'
import { Icon, Mark } from '../ui/icon.js'
import { ANY_TEXT } from '../data/free-text.js'
import { attributeWord, predicateWord, escapeInvisible } from '../data/phrases.js'
import { texts } from '../ui/texts.js'
import { type Row, takesValue } from './model.js'
import type { Part } from './options.js'
import { LISTBOX_ID, optionId } from './picker.js'
import {
  activeIndex,
  addRowAfter,
  choose,
  closePicker,
  fieldId,
  markOption,
  openPicker,
  options,
  picking,
  removeValue,
  take,
  toggleJoin,
  type,
  typed,
} from './state.js'

const LABELS: Readonly<Record<Part, string>> = {
  attribute: texts.builder.attribute,
  predicate: texts.builder.predicate,
  value: texts.builder.value,
}

function onKeyDown(event: KeyboardEvent, row: Row, part: Part, isOpen: boolean): void {
  if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const count = options.value.length
  const option = isOpen ? options.value[activeIndex.value] : undefined
  if (step !== undefined) {
    if (!isOpen) openPicker(row.id, part)
    else if (count > 0)
      markOption((Math.max(activeIndex.value, step === 1 ? -1 : 0) + step + count) % count)
  } else if (event.key === 'Enter') {
    if (option) choose(option)
    else addRowAfter(row)
  } else if (event.key === 'Tab') {
    // Accepts the typed text. The browser moves the focus.
    if (option && typed.value !== '') take(option)
    closePicker()
    return
  } else if (event.key === 'Backspace' && part === 'value' && typed.value === '') {
    const last = row.values.at(-1)
    if (last !== undefined) removeValue(row, last)
  } else return
  event.preventDefault()
}

/** A text field with options. */
function Combo({ row, part, shown }: { row: Row; part: Part; shown: string }) {
  const isOpen = picking.value?.id === row.id && picking.value.part === part
  return (
    <input
      id={fieldId(row.id, part)}
      type="text"
      role="combobox"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      aria-label={LABELS[part]}
      aria-expanded={isOpen && options.value.length > 0}
      aria-autocomplete="list"
      aria-controls={isOpen ? LISTBOX_ID : undefined}
      aria-activedescendant={
        isOpen && activeIndex.value >= 0 ? optionId(activeIndex.value) : undefined
      }
      placeholder={isOpen ? shown : undefined}
      value={isOpen ? typed.value : shown}
      onFocus={() => openPicker(row.id, part)}
      onClick={() => !isOpen && openPicker(row.id, part)}
      onBlur={() => isOpen && closePicker()}
      onInput={(event) => type(event.currentTarget.value, row.id, part)}
      onKeyDown={(event) => onKeyDown(event, row, part, isOpen)}
    />
  )
}

export function AttributeField({ row }: { row: Row }) {
  const { isLevel, attribute } = row
  const shown = attribute === ANY_TEXT ? attributeWord(attribute, texts.words) : attribute
  return (
    <span class="field combo mono">
      <Combo row={row} part="attribute" shown={isLevel ? texts.words.level : shown} />
      <Icon name="down" />
    </span>
  )
}

export function PredicateField({ row }: { row: Row }) {
  const { predicate, values, isLevel, attribute } = row
  const isList = isLevel && values.length > 1
  const named = isList ? (predicate === 'eq' ? 'in' : 'not_in') : predicate
  return (
    <span class="field combo">
      <Combo row={row} part="predicate" shown={predicateWord(named, attribute, texts.words)} />
      <Icon name="down" />
    </span>
  )
}

export function ValueField({ row }: { row: Row }) {
  if (!takesValue(row.predicate)) return <span />
  const { values, isLevel, join } = row
  return (
    <span class="field combo mono">
      {values.length > 1 && !isLevel && (
        <button
          type="button"
          class="and-or"
          aria-pressed={join === 'all'}
          onClick={() => toggleJoin(row)}
        >
          {join === 'any' ? texts.builder.anyOf : texts.builder.allOf}
        </button>
      )}
      {values.map((value) => (
        <span key={value} class={isLevel ? `token level-${value}` : 'token'}>
          {isLevel && <Mark level={value as Level} />}
          <bdi>{escapeInvisible(value)}</bdi>
          <button
            type="button"
            class="remove"
            tabIndex={-1}
            aria-label={texts.builder.removeValue(value)}
            onClick={() => removeValue(row, value)}
          >
            ×
          </button>
        </span>
      ))}
      <Combo row={row} part="value" shown="" />
    </span>
  )
}
