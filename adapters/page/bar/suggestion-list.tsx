import { computed } from '@preact/signals'
import { describeIn } from '../../../src/describing/describe-in.js'
import { sentenceText } from '../../../src/describing/sentence-text.js'
import type { EventTypes } from '../../../src/event/event-types.js'
import { types } from '../data/account.js'
import { changeQuery, goToText } from '../data/address.js'
import {
  filterableAttributes,
  filterOptionsLoaded,
  loadFilterOptions,
} from '../data/filter-options.js'
import { withConjunct } from '../data/query.js'
import { sentences, texts } from '../ui/texts.js'
import { isolated } from '../data/isolated.js'
import { Phrases } from '../ui/phrases.js'
import { rangeText } from '../ui/range-text.js'
import { barTexts } from './bar-texts.js'
import { parsePasted } from './pasted-query.js'
import { recentQueries } from './recent-queries.js'
import { showSinceNewest } from './since-newest.js'
import type { DescribedType, Suggestion } from './suggestion.js'
import { suggest } from './suggestions.js'
import { typedAt } from './typed-at.js'

export { parsePasted }

/** Loads the attributes and values to suggest. */
export const loadSuggestions = loadFilterOptions

/** Resolves once suggestions know attributes and values. */
export const suggestionsLoaded = filterOptionsLoaded

const describe = (
  type: string,
  { description = '', sentence = '' }: EventTypes[string],
): string => {
  const event = { id: '', created_at: '', username: null, system: true, type, source: null }
  const described = describeIn(
    { ...event, attributes: {} },
    { language: sentences, types: types.value },
  )
  return [sentenceText(described), sentence, description].join('\n')
}

const describedTypes = computed((): readonly DescribedType[] =>
  Object.entries(types.value).map(([type, definition]) => ({
    type,
    text: describe(type, definition),
  })),
)

/** The suggestions for a text. */
export const suggestionsFor = (text: string): readonly Suggestion[] =>
  suggest(
    text,
    {
      attributes: filterableAttributes.value,
      recent: recentQueries.value,
      types: describedTypes.value,
      typedAt: typedAt(),
      rangeText,
    },
    texts.words,
  )

/** Carries out a suggestion. Returns the text to continue with; `undefined` if the input is complete. */
export function accept({ take }: Suggestion): string | undefined {
  if ('text' in take) return take.text
  if ('search' in take) goToText(take.search)
  else if ('sinceType' in take) showSinceNewest(take.sinceType).catch(() => undefined)
  else {
    const { conjuncts, range } =
      'conjunct' in take ? { conjuncts: [take.conjunct], range: undefined } : take
    changeQuery((query) => ({
      ...conjuncts.reduce(withConjunct, query),
      range: range ?? query.range,
    }))
  }
  return undefined
}

/** The API name to show; empty if the phrases already end with it. */
const apiName = ({ apiName = '', phrases }: Suggestion): string =>
  phrases.at(-1)?.text === apiName ? '' : apiName

function Remark(option: Suggestion) {
  const { count, unknown = [] } = option
  if (unknown.length > 0) return <>{barTexts.unknown(unknown.map(isolated).join(', '))}</>
  return <>{count === undefined ? apiName(option) : texts.common.events(count)}</>
}

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
          aria-disabled={option.problem !== undefined}
          // Keeps the focus in the field.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => take(option)}
        >
          <span class={option.problem && 'problem-text'}>
            {option.problem ? (
              barTexts.problems[option.problem.key](isolated(option.problem.text))
            ) : (
              <Phrases of={option.phrases} />
            )}
          </span>
          <code>
            <Remark {...option} />
          </code>
        </li>
      ))}
    </ul>
  )
}
