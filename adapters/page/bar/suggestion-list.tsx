import { filterableAttributes, loadFilterOptions } from '../data/filter-options.js'
import { texts } from '../ui/texts.js'
import { Phrases } from '../ui/phrases.js'
import { parsePasted } from './pasted-query.js'
import { recentQueries } from './recent-queries.js'
import { suggest, type Suggestion } from './suggestions.js'

export { parsePasted }

/** Loads the attributes and values to suggest. */
export const loadSuggestions = loadFilterOptions

/** The suggestions for a text. */
export const suggestionsFor = (text: string): readonly Suggestion[] =>
  suggest(
    text,
    { attributes: filterableAttributes.value, recent: recentQueries.value },
    texts.words,
  )

/** The API name to show; empty if the phrases already end with it. */
const apiName = ({ apiName = '', phrases }: Suggestion): string =>
  phrases.at(-1)?.text === apiName ? '' : apiName

/** The list of suggestions below the field `id`. */
export function SuggestionList({
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
      class="dropdown suggestions"
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
          // Keeps the focus in the field.
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
