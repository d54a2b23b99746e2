import { describeConjunct, type Phrase } from '../data/phrases.js'
import { ALL_TIME, apiQuery, type Conjunct, type PageQuery, parsePageQuery } from '../data/query.js'
import { queryTokens, readableQuery } from '../data/query-tokens.js'
import { Phrases } from '../ui/phrases.js'
import { QueryText } from '../ui/query-text.js'
import { texts } from '../ui/texts.js'
import { managementTexts as words } from './management-texts.js'

/** The filter of a subscription to a query: without time range and order. */
export const filterOf = (query: PageQuery): string =>
  apiQuery({ ...query, range: ALL_TIME, sorts: [] })

/** The conditions of a filter; `undefined` for a filter that this page cannot read. */
function conjunctsOf(filter: string): readonly Conjunct[] | undefined {
  try {
    const { where, range } = parsePageQuery(filter)
    return 'from' in range && (range.from !== undefined || range.to !== undefined)
      ? undefined
      : where
  } catch {
    return undefined
  }
}

/** A filter in plain words, and as the API takes it. */
export function FilterText({ filter }: { filter: string }) {
  const where = conjunctsOf(filter)
  if (filter === '') return <>{words.subscriptions.allEvents}</>
  const phrases = where?.flatMap((conjunct, index): Phrase[] => [
    ...(index > 0 ? [{ kind: 'join', text: texts.common.and } as const] : []),
    ...describeConjunct(conjunct, texts.words),
  ])
  return (
    <>
      {phrases && (
        <span class="managed-filter">
          <Phrases of={phrases} />
        </span>
      )}
      <code class="raw-live">
        <QueryText tokens={queryTokens(readableQuery(filter), undefined)} />
      </code>
    </>
  )
}
