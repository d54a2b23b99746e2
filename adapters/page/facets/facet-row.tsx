import { visibleText } from '../../../src/describing/visible-text.js'
import { changeQuery } from '../data/address.js'
import { counts } from '../data/counts.js'
import { shortNumber } from '../ui/count-text.js'
import { Icon, Mark } from '../ui/icon.js'
import { ownValue } from '../data/own-property.js'
import type { PageQuery } from '../data/query.js'
import type { Level } from '../../../src/event/level.js'
import { texts } from '../ui/texts.js'
import {
  type Choice,
  excludeValue,
  type FacetValue,
  onlyValue,
  stateOf,
  toggleValue,
} from './facet-choice.js'

const missingTexts: Readonly<Record<string, string>> = texts.facets.missing

function textOf(facet: string, value: FacetValue): string {
  if (value === null) return ownValue(missingTexts, facet) ?? texts.facets.notSet
  return value.trim() === '' ? texts.facets.blank : visibleText(value)
}

type Change = (query: PageQuery, attribute: string, value: FacetValue) => PageQuery

/** One value of a facet. A click toggles it; *only* deselects all other values, *not* excludes this value. */
export function FacetRow({
  facet,
  value,
  count,
  maxCount,
  choice,
}: {
  facet: string
  value: FacetValue
  count: number | undefined
  /** The largest count in the facet. */
  maxCount: number
  choice: Choice
}) {
  const text = textOf(facet, value)
  const state = stateOf(choice, value)
  const isLevel = facet === 'level'
  const isExact = ownValue(counts.value?.facets, facet)?.exact
  // The API ignores filters with a blank value.
  const isBlank = value?.trim() === ''
  const change = (how: Change) => () => changeQuery((query) => how(query, facet, value))
  return (
    <li class="value-row">
      <button
        type="button"
        class={isLevel ? `value level-${value}` : 'value'}
        role="checkbox"
        aria-checked={state}
        title={text}
        disabled={isBlank}
        onClick={change(toggleValue)}
      >
        <span class="box">
          {state !== 'false' && <Icon name={state === 'true' ? 'check' : 'minus'} />}
        </span>
        {isLevel && <Mark level={value as Level} />}
        <span class={facet === 'type' ? 'name mono' : 'name'}>
          <bdi>{text}</bdi>
        </span>
        {count !== undefined && <span class="number">{shortNumber(count, isExact)}</span>}
        <svg class="share" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">
          <rect width={((count ?? 0) / Math.max(1, maxCount)) * 100} height="2" />
        </svg>
      </button>
      {!isBlank && (
        <span class="value-actions">
          <button
            type="button"
            aria-label={texts.facets.onlyValue(text)}
            onClick={change(onlyValue)}
          >
            {texts.facets.only}
          </button>
          <button
            type="button"
            aria-label={texts.facets.notValue(text)}
            onClick={change(excludeValue)}
          >
            {texts.facets.not}
          </button>
        </span>
      )}
    </li>
  )
}
