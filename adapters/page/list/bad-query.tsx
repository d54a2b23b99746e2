import { goTo, goToText, query, search } from '../data/address.js'
import { isEditing } from '../ui/query-commands.js'
import { isolated } from '../data/isolated.js'
import { repairedQuery } from '../data/invalid-query.js'
import { faultOf, queryTokens, type Token } from '../data/query-tokens.js'
import { useKeys } from '../ui/keyboard.js'
import { texts } from '../ui/texts.js'
import { StatusMessage } from './status-message.js'

/** The query with its invalid part underlined. */
function Underlined({ tokens }: { tokens: readonly Token[] }) {
  return <>{tokens.map(({ text, isBad }, index) => (isBad ? <u key={index}>{text}</u> : text))}</>
}

/** Shown for an invalid query: the invalid part, and the nearest valid name. */
export function BadQuery({ error }: { error: Error }) {
  const { part, suggestion } = faultOf(error)
  const better = repairedQuery(search.value, error)
  const words = texts.states.badQuery
  const tokens = queryTokens(search.value, faultOf(error))
  const invalid = tokens.find(({ isBad }) => isBad)?.text ?? ''
  const message = error instanceof RangeError ? words.range(error.message) : error.message
  const why = suggestion === undefined ? `${words.nothing}: ${message}` : words.nothing
  useKeys({
    Enter: ({ target }) => {
      if (target === document.body && better !== undefined) goToText(better)
    },
  })
  return (
    <StatusMessage>
      <h2>{words.title[part](isolated(invalid))}</h2>
      <p>{why}</p>
      <p class="problem">
        <Underlined tokens={tokens} />
        {suggestion !== undefined && (
          <>
            <br />
            {words.nearest(suggestion)}
          </>
        )}
      </p>
      <div class="actions">
        {better !== undefined && (
          <button type="button" class="btn main" onClick={() => goToText(better)}>
            {words.use(suggestion!)} <kbd aria-hidden="true">Enter</kbd>
          </button>
        )}
        <button type="button" class="btn" onClick={() => (isEditing.value = true)}>
          {words.edit}
        </button>
        <button type="button" class="btn quiet" onClick={() => goTo(query.value)}>
          {words.back}
        </button>
      </div>
    </StatusMessage>
  )
}
