import { filterable, loadSeen } from '../data/filter-options.js'
import { texts } from '../ui/texts.js'
import { Phrases } from '../ui/phrases.js'
import { readPasted } from './pasted-query.js'
import { recent } from './recent-queries.js'
import { suggest, type Suggestion } from './suggestions.js'

export { readPasted }

/** Asks for what is seen in the events, so that it can be offered. */
export const prepareOffers = loadSeen

/** What is offered for a text. */
export const offersFor = (text: string): readonly Suggestion[] =>
  suggest(text, { attributes: filterable.value, recent: recent.value }, texts.words)

/** Where it is not what is read already. */
const apiName = ({ apiName = '', phrases }: Suggestion): string =>
  phrases.at(-1)?.text === apiName ? '' : apiName

/** What is offered under the field `id`. */
export function Offers({
  id,
  options,
  active,
  take,
}: {
  id: string
  options: readonly Suggestion[]
  active: number
  take: (option: Suggestion) => void
}) {
  return (
    <ul
      class="drop suggestions"
      id={`${id}-options`}
      role="listbox"
      aria-label={texts.bar.suggestions}
    >
      {options.map((option, index) => (
        <li
          key={index}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          // The field keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => take(option)}
        >
          <span>
            <Phrases of={option.phrases} />
          </span>
          <code>
            {option.count === undefined ? apiName(option) : texts.common.events(option.count)}
          </code>
        </li>
      ))}
    </ul>
  )
}
