import { useEffect, useState } from 'preact/hooks'
import { goTo, query, search } from '../data/address.js'
import { countEvents } from '../data/api.js'
import { Phrases } from '../ui/phrases.js'
import { rangeText, shortRangeText } from '../ui/range-text.js'
import { liveState } from './live-updates.js'
import { describeConjunct } from '../data/phrases.js'
import { apiQuery, type PageQuery } from '../data/query.js'
import { shortNumber } from '../ui/count-text.js'
import { texts } from '../ui/texts.js'
import { leaveEmptyDefault } from './range-of-events.js'
import { type RelaxedQuery, relaxedQueries } from './relaxed-queries.js'
import { EmptyLog } from './empty-log.js'
import { StatusMessage } from './status-message.js'

/** The number of events that match a query, or a lower bound; `undefined` until counted. */
function useTotal(counted: PageQuery): { total: number; exact: boolean } | undefined {
  const [total, setTotal] = useState<{ total: number; exact: boolean }>()
  useEffect(() => {
    const controller = new AbortController()
    setTotal(undefined)
    countEvents(apiQuery({ ...counted, sorts: [] }), {}, controller.signal).then(
      ({ total, exact }) => setTotal({ total, exact: exact.total }),
      () => undefined,
    )
    return () => controller.abort()
  }, [search.value])
  return total
}

const currentRangeText = (): string => {
  const { range } = query.value
  return 'last' in range ? shortRangeText(range) : rangeText(range)
}

function RelaxedQueryItem({ way }: { way: RelaxedQuery }) {
  const total = useTotal(way.query)
  const { without, insteadOf, leaveOut, widen } = texts.states.empty
  return (
    <li>
      <span class="chip">
        <span class="chip-body">
          {way.conjunct ? (
            <>
              {without} <Phrases of={describeConjunct(way.conjunct, texts.words)} />
            </>
          ) : (
            insteadOf(rangeText(way.query.range), currentRangeText())
          )}
        </span>
      </span>
      <span class="number">{total && shortNumber(total.total, total.exact)}</span>
      <button type="button" class="btn small" onClick={() => goTo(way.query)}>
        {way.conjunct ? leaveOut : widen}
      </button>
    </li>
  )
}

/** True if a text of the filters has another Unicode form. The log treats that form as another text. */
function hasForms(where: PageQuery['where']): boolean {
  const text = JSON.stringify(where)
  return text.normalize('NFC') !== text.normalize('NFD')
}

const EVERYTHING: PageQuery = { where: [], sorts: [], range: {} }

/** Shown when nothing matches: how many events each filter excludes. */
export function NoMatches() {
  const all = useTotal(EVERYTHING)
  const ways = relaxedQueries(query.value)
  const { where, range } = query.value
  const words = texts.states.empty
  useEffect(() => {
    // After a failure, the message below stays.
    leaveEmptyDefault().catch(() => undefined)
  }, [])
  if (all?.exact && all.total === 0) return <EmptyLog />
  return (
    <StatusMessage art>
      <h2>{words.title(where.length, 'last' in range || Boolean(range.from ?? range.to))}</h2>
      {hasForms(where) && <p>{words.forms}</p>}
      {ways.length > 0 && (
        <>
          <p>{words.change}</p>
          <ul class="relaxed-queries">
            {ways.map((way) => (
              <RelaxedQueryItem key={JSON.stringify(way.query)} way={way} />
            ))}
          </ul>
        </>
      )}
      {liveState.value === 'live' && <p>{words.live}</p>}
    </StatusMessage>
  )
}
