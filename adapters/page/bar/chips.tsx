import { useEffect, useState } from 'preact/hooks'
import { changeQuery, fault, query, search } from '../data/address.js'
import { afterRender } from '../ui/after-render.js'
import { countEvents } from '../data/api.js'
import { counts } from '../data/counts.js'
import { isolated } from '../data/isolated.js'
import { lazy } from '../ui/lazy.js'
import { negated, orMissing } from '../data/negation.js'
import { ownValue } from '../data/own-property.js'
import {
  attributeWord,
  describeConjunct,
  escapeInvisible,
  phraseText,
  requiredAttribute,
} from '../data/phrases.js'
import {
  apiQueryWith,
  conditionOn,
  type Conjunct,
  replaceConjunct,
  withoutConjunct,
} from '../data/query.js'
import { texts } from '../ui/texts.js'
import { openBuilder } from '../ui/query-commands.js'
import { chipClass, RemoveButton } from './chip-parts.js'
import { Phrases } from '../ui/phrases.js'
import { recordRecentQueries } from './recent-queries.js'

recordRecentQueries()

/** The number of events that a filter excludes because they lack its attribute. `undefined` until known. */
function useDropped(conjunct: Conjunct): number | undefined {
  const attribute = requiredAttribute(conjunct)
  const [fetched, setFetched] = useState<number>()
  const facet = attribute === undefined ? undefined : ownValue(counts.value?.facets, attribute)
  const known = facet?.exact ? facet.missing : undefined
  const isWanted = attribute !== undefined && known === undefined && counts.value !== undefined
  useEffect(() => {
    if (!isWanted) return
    const controller = new AbortController()
    const others = withoutConjunct(query.value, conjunct)
    const lacking = apiQueryWith(others, [conditionOn(attribute, 'null')])
    countEvents(lacking, {}, controller.signal).then(
      ({ total, exact }) => setFetched(exact.total ? total : undefined),
      () => undefined,
    )
    return () => controller.abort()
  }, [isWanted, search.value])
  return known ?? (isWanted ? fetched : undefined)
}

const focusChip = (list: Element | null, at: number): void =>
  afterRender(() => {
    const bodies = list?.querySelectorAll<HTMLElement>('.chip-body, input') ?? []
    bodies[Math.max(0, Math.min(at, bodies.length - 1))]?.focus()
  })

/** Moves the focus to the previous or next chip, or to the field after the last. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  if (step === undefined) return
  const chip = event.currentTarget as HTMLElement
  const all = [...chip.closest('ul')!.querySelectorAll<HTMLElement>('.chip-body, input')]
  event.preventDefault()
  all[all.indexOf(chip) + step]?.focus()
}

function Chip({ conjunct, index }: { conjunct: Conjunct; index: number }) {
  const phrases = describeConjunct(conjunct, texts.words)
  const dropped = useDropped(conjunct)
  const remove = (): void => changeQuery((query) => withoutConjunct(query, conjunct))
  const replace = (by: Conjunct): void =>
    changeQuery((query) => replaceConjunct(query, conjunct, by))

  function onKeyDown(event: KeyboardEvent): void {
    moveFocus(event)
    const list = (event.currentTarget as HTMLElement).closest('ul')
    if (event.key === 'Backspace' || event.key === 'Delete') remove()
    else if (event.key === '!') replace(negated(conjunct))
    else return
    event.preventDefault()
    focusChip(list, event.key === 'Backspace' ? index - 1 : index)
  }

  const attribute = escapeInvisible(attributeWord(requiredAttribute(conjunct) ?? '', texts.words))
  return (
    <li class={chipClass(conjunct)}>
      <button
        type="button"
        class="chip-body"
        onClick={() => openBuilder(index)}
        onKeyDown={onKeyDown}
      >
        <Phrases of={phrases} />
        {dropped !== undefined && dropped > 0 && (
          <span class="join dropped">
            {texts.bar.dropped(texts.common.number(dropped), isolated(attribute))}
          </span>
        )}
      </button>
      {dropped !== undefined && dropped > 0 && (
        <button
          type="button"
          class="link chip-keep"
          aria-label={`${phraseText(phrases)} ${texts.bar.orMissing}`}
          onClick={() => replace(orMissing(conjunct))}
        >
          {texts.bar.orMissing}
        </button>
      )}
      <RemoveButton filter={phraseText(phrases)} remove={remove} tabIndex={-1} />
    </li>
  )
}

const InvalidChips = lazy(() => import('./invalid-chips.js'), 'InvalidChips')

/** One chip for each filter of the query. */
export function Chips() {
  if (fault.value) return <InvalidChips />
  return (
    <>
      {query.value.where.map((conjunct, index) => (
        <Chip key={JSON.stringify(conjunct)} conjunct={conjunct} index={index} />
      ))}
    </>
  )
}
