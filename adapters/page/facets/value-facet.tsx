import { useState } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { Facet } from '../../../src/store/counts.js'
import { types } from '../data/account.js'
import { query } from '../data/address.js'
import { chooseFacets, concealedFacets, counts, facetNames, openFacet } from '../data/counts.js'
import { Icon } from '../ui/icon.js'
import { useEscape } from '../ui/keyboard.js'
import { ownValue } from '../data/own-property.js'
import { isolated } from '../data/isolated.js'
import { useRoving } from '../ui/roving.js'
import { texts } from '../ui/texts.js'
import { choiceOf } from './facet-choice.js'
import { FacetRow } from './facet-row.js'
import { facetTexts } from './facet-texts.js'
import { collapsedRows, expandedRows } from './facet-rows.js'

/** Maximum number of values in an open facet. The search finds other values. */
const MAX_ROWS = 200

/** Facets with more values than this have a search field. */
const SEARCH_THRESHOLD = 10

const labels: Readonly<Record<string, string>> = texts.facets.names

/** Facets that cannot be removed. */
const FIXED = new Set(['type', 'username'])

function Heading({ name }: { name: string }) {
  const label = ownValue(labels, name)
  return (
    <h2>
      {label}
      {name !== 'type' && <code title={visibleText(name)}>{visibleText(name)}</code>}
      {!FIXED.has(name) && (
        <button
          type="button"
          class="link"
          aria-label={texts.facets.remove(name)}
          onClick={() => chooseFacets(facetNames.value.filter((other) => other !== name))}
        >
          <Icon name="x" />
        </button>
      )}
    </h2>
  )
}

/** Reason why no value is shown. Only complete figures prove that no value exists. */
function noneText(text: string, { exact, values, distinct }: Facet): string {
  if (text === '') return exact ? texts.facets.notSet : texts.common.counting
  return exact && values.length === distinct
    ? texts.facets.none(isolated(text))
    : texts.facets.noneOf(isolated(text), values.length)
}

/** The values of an attribute: the most frequent ones, or all once opened. */
export function ValueFacet({ name }: { name: string }) {
  const [text, search] = useState('')
  const isOpen = openFacet.value === name
  const close = (): void => {
    search('')
    openFacet.value = undefined
  }
  useEscape(isOpen, close)
  const roving = useRoving<HTMLUListElement>('li')
  if (concealedFacets.value.has(name))
    return (
      <section class="facet">
        <Heading name={name} />
        <p class="none">{facetTexts.concealed}</p>
      </section>
    )
  const facet = ownValue(counts.value?.facets, name)
  if (!facet) return null
  const choice = choiceOf(query.value, name)
  const total = counts.value!.exact.total ? counts.value!.total : undefined
  const isType = name === 'type'
  const known = isType ? Object.keys(types.value) : []
  const { shown, more } = isOpen
    ? expandedRows(text, facet, choice, { total, known, max: MAX_ROWS })
    : collapsedRows(facet, choice, total)
  const maxCount = Math.max(facet.missing, ...facet.values.map(({ count }) => count))
  /** Marks the number of the text as a lower bound if not all values were counted. */
  const marked = (text: string): string => (facet.exact ? text : text.replace(/\d/, '≥$&'))
  const find = marked((isType ? texts.facets.findTypes : texts.facets.find)(facet.distinct))
  return (
    <section class="facet">
      <Heading name={name} />
      {(isType || (isOpen && facet.distinct > SEARCH_THRESHOLD)) && (
        <input
          class="facet-find"
          placeholder={find}
          aria-label={find}
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            search(currentTarget.value)
            openFacet.value = name
          }}
        />
      )}
      <ul {...roving}>
        {shown.map(({ value, count }) => (
          <FacetRow
            key={String(value)}
            facet={name}
            value={value}
            count={count}
            maxCount={maxCount}
            choice={choice}
          />
        ))}
      </ul>
      {shown.length === 0 && <p class="none">{noneText(text, facet)}</p>}
      {isOpen && more > 0 && <p class="none">{marked(texts.facets.unshown(more))}</p>}
      {(isOpen || more > 0) && (
        <button
          type="button"
          class="link more"
          aria-expanded={isOpen}
          onClick={isOpen ? close : () => (openFacet.value = name)}
        >
          {isOpen && texts.facets.fewer}
          {!isOpen &&
            marked(isType ? texts.facets.allTypes(facet.distinct) : texts.facets.more(more))}
        </button>
      )}
    </section>
  )
}
