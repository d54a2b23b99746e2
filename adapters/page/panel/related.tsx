import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { sourceLabelIn } from '../../../src/describing/source-label.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { levelOf } from '../../../src/event/level.js'
import { openEvent, search } from '../data/address.js'
import { countEvents, listEvents } from '../data/api.js'
import { formatSecond } from '../data/format.js'
import { Mark, markOf } from '../ui/icon.js'
import { isolated } from '../data/isolated.js'
import { useKeys } from '../ui/keyboard.js'
import { apiQuery } from '../data/query.js'
import { sentenceOf, SentenceBody } from '../ui/sentence.js'
import { shortNumber } from '../ui/count-text.js'
import { sentences, texts } from '../ui/texts.js'
import { pickEvent } from '../list/pick-event.js'
import { historyQueryOf, openHistory } from './open-history.js'
import { relatedTexts as words } from './related-texts.js'
import { earlierQuery, goBack, showRelated } from './way-back.js'
import {
  beforeAndAfter,
  centredOn,
  type Relation,
  type RelatedQuery,
  relationsOf,
  MAX_PER_SIDE,
} from './related-queries.js'

// Delay before counting, so that paging through events does not count for each event.
const WAIT_MS = 250

/** The open relation. It stays open when another event is shown. */
const openRelation = signal<Relation | undefined>(undefined)

interface Count {
  readonly total: number
  readonly exact: boolean
}

type Counts = Readonly<Partial<Record<Relation, Count>>>

function useCounts(event: AuditEvent, relations: readonly RelatedQuery[]): Counts {
  const [counts, set] = useState<Counts>({})
  useEffect(() => {
    set({})
    const controller = new AbortController()
    const count = async ({ relation, query }: RelatedQuery): Promise<void> => {
      const { total, exact } = await countEvents(apiQuery(query), {}, controller.signal)
      set((before) => ({ ...before, [relation]: { total, exact: exact.total } }))
    }
    // A failure is ignored, because the tab works without its number.
    const timer = setTimeout(() => void Promise.allSettled(relations.map(count)), WAIT_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [event.id])
  return counts
}

function useRow(event: AuditEvent, related: RelatedQuery): readonly AuditEvent[] | undefined {
  const [row, set] = useState<readonly AuditEvent[] | undefined>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const { before, after } = beforeAndAfter(related, event)
    const list = (query: string) => listEvents(query, MAX_PER_SIDE, controller.signal)
    Promise.all([list(before), list(after)]).then(
      ([older, newer]) => set(centredOn(older.events, event, newer.events)),
      () => undefined,
    )
    return () => controller.abort()
  }, [event.id, related.relation])
  return row
}

function RelatedEvent({ event, isThis }: { event: AuditEvent; isThis: boolean }) {
  const sentence = sentenceOf(event)
  const open = (click: MouseEvent): void => {
    if (click.ctrlKey || click.metaKey || click.shiftKey) return
    click.preventDefault()
    openEvent(event.id)
  }
  return (
    <li>
      <a
        class={`level-${levelOf(event.type)}`}
        href={`?${search.value}#event=${encodeURIComponent(event.id)}`}
        aria-current={isThis ? 'true' : undefined}
        onClick={open}
      >
        <time dateTime={event.created_at}>{formatSecond(new Date(event.created_at))}</time>
        <Mark level={markOf(event.type)} />
        <span>
          {sentence.who !== null && (
            <>
              <b>
                <bdi>{visibleText(sentence.who)}</bdi>
              </b>{' '}
            </>
          )}
          <SentenceBody sentence={sentence} />
        </span>
      </a>
    </li>
  )
}

function Row({ event, related }: { event: AuditEvent; related: RelatedQuery }) {
  const row = useRow(event, related)
  return (
    <ol>
      {(row ?? [event]).map((other) => (
        <RelatedEvent key={other.id} event={other} isThis={other.id === event.id} />
      ))}
      <li class="related-all">
        <button type="button" class="link" onClick={() => showRelated(related.query)}>
          {texts.panel.inTheList}
        </button>
      </li>
    </ol>
  )
}

function nameOf(relation: Relation, event: AuditEvent): string {
  const { same, aroundUser } = texts.panel
  if (relation === 'source')
    return same(sourceLabelIn(sentences, event)?.kind ?? texts.panel.source)
  if (relation === 'user') return aroundUser(isolated(visibleText(event.username ?? '')))
  if (relation === 'session') return words.session
  return texts.panel.relations[relation]
}

/** Leads to the history of the event's resource, and to a comparison with another event. */
function Ways({ event }: { event: AuditEvent }) {
  return (
    <>
      {historyQueryOf(event) !== undefined && (
        <button type="button" class="way" onClick={() => openHistory(event)}>
          {words.history}
        </button>
      )}
      <button type="button" class="way" onClick={() => pickEvent(event.id)}>
        {words.compare}
      </button>
    </>
  )
}

/** Related events: of the same source, change, request, trace, session, user or type. */
export function Related({ event }: { event: AuditEvent }) {
  const relations = relationsOf(event)
  const counts = useCounts(event, relations)
  const chosen = relations.find(({ relation }) => relation === openRelation.value)
  useKeys({
    n: () => (openRelation.value = chosen ? undefined : relations[0]!.relation),
    h: () => openHistory(event),
  })
  return (
    <section class={chosen ? 'related open' : 'related'} aria-label={texts.panel.related}>
      <div class="related-tabs">
        <span>{texts.panel.around}</span>
        {relations.map(({ relation }) => (
          <button
            key={relation}
            type="button"
            aria-expanded={relation === chosen?.relation}
            onClick={() =>
              (openRelation.value = relation === chosen?.relation ? undefined : relation)
            }
          >
            {nameOf(relation, event)} <Total count={counts[relation]} />
          </button>
        ))}
        <Ways event={event} />
      </div>
      {earlierQuery.value !== undefined && (
        <button type="button" class="link way-back" onClick={goBack}>
          {words.back}
        </button>
      )}
      {chosen && <Row key={chosen.relation} event={event} related={chosen} />}
    </section>
  )
}

function Total({ count }: { count: Count | undefined }) {
  if (!count) return null
  return <span class="number">{shortNumber(count.total, count.exact)}</span>
}
