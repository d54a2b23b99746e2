import { useEffect, useRef } from 'preact/hooks'
import { sourceLabelIn } from '../../../src/describing/source-label.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { JsonValue } from '../../../src/event/event.js'
import { managed, openEvent, openManaged, zone } from '../data/address.js'
import { formatNumber } from '../data/format.js'
import { formatFull } from '../data/more-formats.js'
import { focusRow } from '../list/row-focus.js'
import { HISTORY_PLACE, origin } from '../panel/open-history.js'
import { hiddenNotes } from '../personal/notes.js'
import { personalTexts } from '../personal/personal-texts.js'
import { useEscape } from '../ui/keyboard.js'
import { isolated } from '../data/isolated.js'
import { useLocalTime } from '../ui/local-time.js'
import { copyText } from '../ui/copy-text.js'
import { copyLink } from '../list/copy-commands.js'
import { LinkTool, PanelTools } from '../ui/panel-tools.js'
import { sentences } from '../ui/texts.js'
import { Entry } from './entry.js'
import { historyTexts as words } from './history-texts.js'
import { atTime, type HistoryLoading, type LoadedHistory, timeOf, useHistory } from './loading.js'
import type { Change } from './read-history.js'
import { StateValues } from './state-values.js'

function close(): void {
  openManaged(undefined)
  focusRow(origin.value)
}

/** Returns to the event from whose panel the history was opened, if there is one. */
const back = (): void => openEvent(origin.value)

const showAt = (query: string, time: string | undefined): void =>
  openManaged(HISTORY_PLACE + atTime(query, time))

const shownValue = (text: string): string => isolated(visibleText(text))

/** The resource of the history, in words. */
function resourceText(query: string, history: LoadedHistory | undefined): string {
  const parameters = [...new URLSearchParams(atTime(query, undefined))]
  const newest = history?.newest?.event
  const label = newest && sourceLabelIn(sentences, newest)
  if (label && parameters[0]?.[0] === 'source') return `${label.kind} ${shownValue(label.name)}`
  return parameters
    .map(([name, value]) =>
      name === 'source'
        ? shownValue(value)
        : `${shownValue(name.slice(9, -1))} ${shownValue(value)}`,
    )
    .join(', ')
}

/** The field for the time of the shown state, in the time zone of the page. */
function AsOf({ query }: { query: string }) {
  const time = timeOf(query)
  const asOf = useLocalTime(time)
  function submit(event: Event): void {
    event.preventDefault()
    if (asOf.time !== time) showAt(query, asOf.time)
  }
  return (
    <form class="as-of" onSubmit={submit}>
      <label>
        {words.asOf}{' '}
        <input
          type="datetime-local"
          step="1"
          required
          value={asOf.wall.value}
          title={words.zone(zone.value)}
          onInput={(event) => (asOf.wall.value = event.currentTarget.value)}
        />
      </label>
      {asOf.note}
      <button type="submit" class="btn small">
        {words.show}
      </button>
      {time !== undefined && (
        <button type="button" class="btn small" onClick={() => showAt(query, undefined)}>
          {words.now}
        </button>
      )}
    </form>
  )
}

function StateText({ change }: { change: Change | undefined }) {
  if (!change) return <p class="hint">{words.notYet}</p>
  if (!change.known) return <p class="hint">{words.unknownState}</p>
  if (change.state === null) return <p class="hint">{words.gone}</p>
  return <StateValues state={change.state} />
}

function State({ time, change }: { time: string | undefined; change: Change | undefined }) {
  const title = time === undefined ? words.stateNow : words.stateAt(formatFull(time))
  const copy = (state: JsonValue): void => void copyText(JSON.stringify(state, null, 2))
  return (
    <section class="section history-state" aria-label={title}>
      <div class="section-head">
        <h3>{title}</h3>
        {change?.known && change.state !== null && (
          <button type="button" class="link" onClick={() => copy(change.state)}>
            {words.copyState}
          </button>
        )}
      </div>
      <StateText change={change} />
    </section>
  )
}

interface TimelineProps extends Pick<HistoryLoading, 'loadEarlier'> {
  readonly query: string
  readonly history: LoadedHistory
}

function Timeline({ query, history, loadEarlier }: TimelineProps) {
  const { entries, newest, total, later, earlier } = history
  return (
    <section class="section" aria-label={words.changes}>
      <div class="section-head">
        <h3>{words.changes}</h3>
        <span class="number">{formatNumber(total)}</span>
      </div>
      {later > 0 && (
        <p class="hint">
          {words.later(later)}{' '}
          <button type="button" class="link" onClick={() => showAt(query, undefined)}>
            {words.showLater}
          </button>
        </p>
      )}
      <ol class="timeline">
        {entries.map((entry, i) => (
          <Entry
            key={entry.event.id}
            entry={entry}
            newest={newest!}
            isShown={i === 0}
            show={() => showAt(query, entry.event.created_at)}
          />
        ))}
      </ol>
      {earlier !== undefined && (
        <button type="button" class="link earlier" onClick={() => void loadEarlier()}>
          {words.earlier(total - entries.length)}
        </button>
      )}
    </section>
  )
}

function Failure({ state, tryAgain }: Pick<HistoryLoading, 'state' | 'tryAgain'>) {
  return (
    <div class="state">
      <p>{state === 'denied' ? words.denied : words.failed}</p>
      {state === 'failed' && (
        <button type="button" class="btn main" onClick={tryAgain}>
          {words.again}
        </button>
      )}
    </div>
  )
}

function Content({ query, history, loadEarlier }: TimelineProps) {
  if (history.newest === undefined)
    return (
      <p class="hint">
        {words.none} {words.noneHint}
      </p>
    )
  return (
    <>
      <AsOf query={query} />
      {history.entries.some(({ event }) => hiddenNotes(event).length > 0) && (
        <p class="hint">{personalTexts.stateLacks}</p>
      )}
      {history.restricted && <p class="hint">{words.restricted}</p>}
      <div class="history-parts">
        <State time={timeOf(query)} change={history.entries[0]?.change} />
        <Timeline query={query} history={history} loadEarlier={loadEarlier} />
      </div>
    </>
  )
}

/** The changes of one resource, newest first, and its state now or at a time. */
export function HistoryPanel() {
  const query = (managed.value ?? '').slice(HISTORY_PLACE.length)
  const { state, history, loadEarlier, tryAgain } = useHistory(query)
  const heading = useRef<HTMLHeadingElement>(null)
  const isFailed = state === 'denied' || state === 'failed'
  useEscape(true, back)
  useEffect(() => heading.current?.focus(), [])
  return (
    <aside class="panel wide history" aria-label={words.region} aria-busy={state === 'loading'}>
      <PanelTools
        close={close}
        back={origin.value === undefined ? undefined : { label: words.back, go: back }}
      >
        <LinkTool label={words.link} act={() => void copyLink()} />
      </PanelTools>
      <div
        class={state === 'loading' ? 'panel-body is-stale' : 'panel-body'}
        tabIndex={0}
        role="region"
        aria-label={words.detail}
      >
        <h2 ref={heading} class="headline" tabIndex={-1}>
          {words.of}{' '}
          <b>
            <bdi>{resourceText(query, history)}</bdi>
          </b>
        </h2>
        {isFailed ? (
          <Failure state={state} tryAgain={tryAgain} />
        ) : history ? (
          <Content query={query} history={history} loadEarlier={loadEarlier} />
        ) : (
          <p class="hint">{words.loading}</p>
        )}
      </div>
    </aside>
  )
}
