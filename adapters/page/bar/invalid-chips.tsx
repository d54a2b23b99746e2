import { fault, goToText, search } from '../data/address.js'
import { describeConjunct, phraseText } from '../data/phrases.js'
import { texts } from '../ui/texts.js'
import { chipClass, RemoveButton } from './chip-parts.js'
import { type QueryPart, queryParts, repairedQuery, withoutPart } from '../data/invalid-query.js'
import { Phrases } from '../ui/phrases.js'
import { queryTokens, readableQuery } from '../data/query-tokens.js'

function InvalidChip({ part, remove }: { part: QueryPart; remove: () => void }) {
  const tokens = queryTokens(readableQuery(part.text), part.fault)
  const text = (kind: string): string =>
    tokens.flatMap((token) => (token.kind === kind ? [token.text] : [])).join(' ')
  const better = repairedQuery(search.value, fault.value!)
  const key = part.fault?.suggestion
  return (
    <li class={part.fault?.part === 'value' ? 'chip bad bad-value' : 'chip bad'}>
      <span class="chip-body">
        <bdi>{text('attribute')}</bdi>{' '}
        <span class="pred">{text('predicate').replace(/^_/, '')}</span> <b>{text('value')}</b>
      </span>
      {better !== undefined && key !== undefined && (
        <button type="button" class="link chip-keep" onClick={() => goToText(better)}>
          {texts.bar.nearest(key)}
        </button>
      )}
      <RemoveButton filter={readableQuery(part.text)} remove={remove} />
    </li>
  )
}

/** The chips of an invalid query: its valid filters, and its invalid parts marked as such. */
export function InvalidChips() {
  const parts = queryParts(search.value)
  return (
    <>
      {parts.map((part) => {
        const remove = (): void => goToText(withoutPart(parts, part))
        if (part.fault) return <InvalidChip key={part.text} part={part} remove={remove} />
        return part.conjuncts.map((conjunct) => {
          const phrases = describeConjunct(conjunct, texts.words)
          return (
            <li key={part.text} class={chipClass(conjunct)}>
              <span class="chip-body">
                <Phrases of={phrases} />
              </span>
              <RemoveButton filter={phraseText(phrases)} remove={remove} />
            </li>
          )
        })
      })}
    </>
  )
}
