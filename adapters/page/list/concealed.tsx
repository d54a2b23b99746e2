import { goTo, query } from '../data/address.js'
import { ApiError } from '../data/api.js'
import { isolated } from '../data/isolated.js'
import { type Conjunct, isGrouping, type PageQuery } from '../data/query.js'
import { personalTexts } from '../personal/personal-texts.js'
import { texts } from '../ui/texts.js'
import { StatusMessage } from './status-message.js'

const namesIn = (conjunct: Conjunct): readonly string[] =>
  isGrouping(conjunct)
    ? [...conjunct.conditions, ...conjunct.groupings].flatMap(namesIn)
    : [...conjunct.attributes, ...(conjunct.joinedName === undefined ? [] : [conjunct.joinedName])]

function queryWithout(name: string, whole: PageQuery): PageQuery {
  const isShown = (used: readonly string[]): boolean => !used.includes(name)
  return {
    ...whole,
    where: whole.where.filter((conjunct) => isShown(namesIn(conjunct))),
    sorts: whole.sorts.filter(({ attribute }) => isShown([attribute])),
  }
}

interface ConcealedNameProps {
  readonly name: string
  readonly error: Error | undefined
}

/** Shown for a query that names an attribute which the user may not see, or whose values are encrypted. */
export function ConcealedName({ name, error }: ConcealedNameProps) {
  const { concealed } = texts.states
  const isSealed = error instanceof ApiError && error.problem?.code === 'SEALED_ATTRIBUTE'
  const shown = isolated(name)
  return (
    <StatusMessage>
      <h2>{isSealed ? personalTexts.sealedTitle(shown) : concealed.title(shown)}</h2>
      <p>{isSealed ? personalTexts.sealedText : concealed.text}</p>
      <div class="actions">
        <button
          type="button"
          class="btn main"
          onClick={() => goTo(queryWithout(name, query.value))}
        >
          {concealed.leaveOut}
        </button>
      </div>
    </StatusMessage>
  )
}
