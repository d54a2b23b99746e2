import { useEffect } from 'preact/hooks'
import type { Level } from '../../../src/event/level.js'
import { Mark } from '../ui/icon.js'
import { escapeInvisible } from '../data/phrases.js'
import {
  filterableAttributes,
  isUnfiltered,
  loadValues,
  countedTotal,
  valueCounts,
} from '../data/filter-options.js'
import { texts } from '../ui/texts.js'
import type { Option, Part } from './options.js'
import { activeIndex, choose, markOption, options, pickedRow, picking, typed } from './state.js'

export const LISTBOX_ID = 'builder-options'

export const optionId = (index: number): string => `${LISTBOX_ID}-${index}`

const LABELS: Readonly<Record<Part, string>> = {
  attribute: texts.builder.attributes,
  predicate: texts.builder.predicates,
  value: texts.builder.values,
}

/** The text, with the typed part in bold. */
function HighlightedText({ text }: { text: string }) {
  const at = text.toLowerCase().indexOf(typed.value.toLowerCase())
  const end = at + typed.value.length
  if (at === -1) return <span>{escapeInvisible(text)}</span>
  return (
    <span>
      {escapeInvisible(text.slice(0, at))}
      <b>{escapeInvisible(text.slice(at, end))}</b>
      {escapeInvisible(text.slice(end))}
    </span>
  )
}

function hint(option: Option, part: Part): string {
  if (part === 'predicate') return option.value
  if (option.isLevel) return texts.builder.ours
  const types = option.types
    ?.map((type) => texts.builder.types[type] ?? type)
    .join(` ${texts.words.or} `)
  const events = option.count === undefined ? undefined : texts.common.events(option.count)
  return [types, events].filter(Boolean).join(', ')
}

/** The count and the most frequent values of the marked attribute. */
function AttributePreview({ name }: { name: string }) {
  const facet = valueCounts.value.get(name)
  const attribute = filterableAttributes.value.find((other) => other.name === name)
  useEffect(() => {
    const controller = new AbortController()
    // Skips attributes that are only passed with the arrow keys.
    const timer = setTimeout(() => void loadValues(name, controller.signal), 150)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [name])
  const total = countedTotal.value
  const isComparable = facet?.exact === true && isUnfiltered(name)
  const count =
    attribute?.count ?? (isComparable && total !== undefined ? total - facet.missing : undefined)
  const { number } = texts.common
  const isCounted = count !== undefined && total !== undefined
  return (
    <div class="attribute-preview">
      <h3>{name}</h3>
      {isCounted && <p>{texts.builder.setOn(number(count), number(total))}</p>}
      <ul>
        {attribute?.values.slice(0, 6).map(({ value, count }) => (
          <li key={value}>
            <bdi>{escapeInvisible(value)}</bdi>
            {count !== undefined && <span class="number">{number(count)}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The options, below the row whose field is open. */
export function Picker() {
  const { part } = picking.value!
  const all = options.value
  const groups = [...new Set(all.map(({ group }) => group))]
  const marked = all[activeIndex.value]
  const isOfLevels = part === 'value' && pickedRow.value?.isLevel === true
  useEffect(() => {
    document.getElementById(optionId(activeIndex.value))?.scrollIntoView({ block: 'nearest' })
  }, [activeIndex.value])
  const withPeek = part === 'attribute' && marked && !marked.isLevel && marked.group !== 'typed'
  if (all.length === 0) return null
  return (
    <div class={withPeek ? 'picker' : 'picker single'}>
      <div id={LISTBOX_ID} role="listbox" aria-label={LABELS[part]}>
        {groups.map((group) => (
          <ul
            key={group}
            role="group"
            aria-label={group === '' ? LABELS[part] : texts.builder.from[group]}
          >
            {group !== '' && (
              <li role="presentation" class="heading">
                {texts.builder.from[group]}
              </li>
            )}
            {all.map((option, index) =>
              option.group === group ? (
                <li
                  key={`${option.value} ${option.isLevel}`}
                  id={optionId(index)}
                  class={isOfLevels ? `level-${option.value}` : undefined}
                  role="option"
                  aria-selected={index === activeIndex.value}
                  // Keeps the focus in the field.
                  onPointerDown={(event) => event.preventDefault()}
                  onPointerMove={() => part !== 'value' && markOption(index)}
                  onClick={() => choose(option)}
                >
                  {isOfLevels && <Mark level={option.value as Level} />}
                  <HighlightedText text={option.text} />
                  <code>{hint(option, part)}</code>
                </li>
              ) : null,
            )}
          </ul>
        ))}
      </div>
      {withPeek && <AttributePreview name={marked.value} />}
    </div>
  )
}
