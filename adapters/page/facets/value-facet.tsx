import { useState } from 'preact/hooks'
import { types } from '../data/account.js'
import { query } from '../data/address.js'
import { chooseFacets, counts, facetNames, openFacet } from '../data/counts.js'
import { Icon } from '../ui/icon.js'
import { useEscape } from '../ui/keyboard.js'
import { own } from '../data/own-property.js'
import { texts } from '../ui/texts.js'
import { choiceOf } from './facet-choice.js'
import { FacetRow } from './facet-row.js'
import { fewRows, rowsWith } from './facet-rows.js'

/** Most values of an opened facet in the document; the rest is found by a part of it. */
const MOST = 200

/** From so many on a list is searched. */
const SEARCHED = 10

const labels: Readonly<Record<string, string>> = texts.facets.names

/** These are always there. */
const FIXED = new Set(['type', 'username'])

function Heading({ name }: { name: string }) {
  const label = own(labels, name)
  return (
    <h2>
      {label}
      {name !== 'type' && <code>{name}</code>}
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

/** The values of an attribute: a few, and all of them once it is opened. */
export function ValueFacet({ name }: { name: string }) {
  const [text, search] = useState('')
  const isOpen = openFacet.value === name
  const close = (): void => {
    search('')
    openFacet.value = undefined
  }
  useEscape(isOpen, close)
  const facet = own(counts.value?.facets, name)
  if (!facet) return null
  const choice = choiceOf(query.value, name)
  const { total } = counts.value!
  const isType = name === 'type'
  const known = isType ? Object.keys(types.value) : []
  const { shown, more } = isOpen
    ? rowsWith(text, facet, choice, { total, known, most: MOST })
    : fewRows(facet, choice, total)
  const most = Math.max(facet.missing, ...facet.values.map(({ count }) => count))
  const find = (isType ? texts.facets.findTypes : texts.facets.find)(facet.distinct)
  return (
    <section class="facet">
      <Heading name={name} />
      {(isType || (isOpen && facet.distinct > SEARCHED)) && (
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
      <ul>
        {shown.map(({ value, count }) => (
          <FacetRow
            key={String(value)}
            facet={name}
            value={value}
            count={count}
            most={most}
            choice={choice}
          />
        ))}
      </ul>
      {shown.length === 0 && (
        <p class="none">{text === '' ? texts.facets.notSet : texts.facets.none(text)}</p>
      )}
      {isOpen && more > 0 && <p class="none">{texts.facets.unshown(more)}</p>}
      {(isOpen || more > 0) && (
        <button
          type="button"
          class="link more"
          aria-expanded={isOpen}
          onClick={isOpen ? close : () => (openFacet.value = name)}
        >
          {isOpen && texts.facets.fewer}
          {!isOpen && (isType ? texts.facets.allTypes(facet.distinct) : texts.facets.more(more))}
        </button>
      )}
    </section>
  )
}
