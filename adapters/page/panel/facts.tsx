import { useEffect, useState } from 'preact/hooks'
import { sourceLabelIn } from '../../../src/describing/source-label.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { account } from '../data/account.js'
import { logOf } from '../data/api.js'
import { changeQuery } from '../data/address.js'
import { formatAgo, formatFull } from '../data/more-formats.js'
import { valueCondition } from '../data/query.js'
import { ownValue } from '../data/own-property.js'
import { isSafePath } from '../data/safe-path.js'
import { isEncryptedAt } from '../personal/opened-values.js'
import { PersonalFacts } from './personal-facts.js'
import { lazy } from '../ui/lazy.js'
import { marked } from '../ui/marked.js'
import { sentences, texts } from '../ui/texts.js'
import { actorKind, knownFacts, type KnownFact } from './known-facts.js'
import { openHistory } from './open-history.js'
import { isGrowing } from './opened-event.js'
import { panelTimeTexts } from './panel-time-texts.js'
import { relatedTexts as words } from './related-texts.js'
import { ValueActions } from './value-actions.js'

const Seal = lazy(
  () => import('../ledger/ledger.js'),
  'Seal',
  undefined,
  <>
    <dt />
    <dd class="seal" />
  </>,
)

const AGO_MS = 15_000

/** The age of the event, updated while it is shown. */
function Ago({ time }: { time: string }) {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), AGO_MS)
    return () => clearInterval(timer)
  }, [])
  return <span class="ago">{formatAgo(time)}</span>
}

function Source({ event }: { event: AuditEvent }) {
  const label = sourceLabelIn(sentences, event)
  if (event.source === null || !label) return null
  const text = <bdi>{marked(visibleText(`${label.kind} ${label.name}`))}</bdi>
  return (
    <>
      <dt>{texts.panel.source}</dt>
      <dd>
        {isSafePath(event.source) ? (
          <a class="link" href={event.source}>
            {text}
          </a>
        ) : (
          text
        )}{' '}
        <button type="button" class="link" onClick={() => openHistory(event)}>
          {words.history}
        </button>
      </dd>
    </>
  )
}

const plain = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? visibleText(String(value)) : ''

function Request({ attributes }: Pick<AuditEvent, 'attributes'>) {
  const call = `${plain(attributes['request_method'])} ${plain(attributes['request_path'])}`.trim()
  if (call === '') return null
  return (
    <>
      <dt>{texts.panel.request}</dt>
      <dd>
        <bdi class="mono">{marked(call)}</bdi> <small>{plain(attributes['response_status'])}</small>
      </dd>
    </>
  )
}

/** `reason` -> `Reason` */
const headingOf = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

interface KnownProps extends KnownFact {
  readonly event: AuditEvent
}

function Known({ event, name, values }: KnownProps) {
  const canFilter = !isEncryptedAt(event, `/${name}`)
  const shown = (value: string): string =>
    name === 'outcome' ? (ownValue(texts.panel.outcomes, value) ?? value) : value
  return (
    <>
      <dt>{headingOf(texts.words.attributes[name])}</dt>
      {values.map((value) => (
        <dd key={value} class="with-quick">
          <bdi>{marked(visibleText(shown(value)))}</bdi>
          {canFilter && (
            <ValueActions
              is={valueCondition(name, value)}
              isNot={valueCondition(name, value, true)}
            />
          )}
        </dd>
      ))}
    </>
  )
}

const showSince = (from: string): void => changeQuery((query) => ({ ...query, range: { from } }))

/** Time, actor, request, source and id of the event. */
export function Facts({ event }: { event: AuditEvent }) {
  const { created_at, username, attributes, id } = event
  const actor = actorKind(event)
  const log = logOf(event)
  const kind = actor === undefined ? undefined : ownValue(texts.panel.actorKinds, actor)
  const occurred = attributes['occurred_at']
  const isTime = typeof occurred === 'string' && !Number.isNaN(Date.parse(occurred))
  return (
    <dl class="facts">
      {log !== undefined && (
        <>
          <dt>{panelTimeTexts.log}</dt>
          <dd>
            <bdi>{visibleText(log)}</bdi>
          </dd>
        </>
      )}
      <dt>{texts.panel.when}</dt>
      <dd>
        {formatFull(created_at)}{' '}
        <small>
          <Ago time={created_at} />
          {isGrowing.value && texts.panel.stillOpen}
        </small>
        <span class="utc">{created_at}</span>
        <button type="button" class="link" onClick={() => showSince(created_at)}>
          {panelTimeTexts.since}
        </button>
      </dd>
      {isTime && (
        <>
          <dt>{texts.panel.occurred}</dt>
          <dd>
            {formatFull(occurred)}
            <span class="utc">{visibleText(occurred)}</span>
          </dd>
        </>
      )}
      <dt>{texts.panel.who}</dt>
      <dd class="with-quick">
        {username === null ? (
          <small>{texts.panel.noUser}</small>
        ) : (
          <bdi>{marked(visibleText(username))}</bdi>
        )}
        {kind !== undefined && <small>{kind}</small>}
        <ValueActions
          is={valueCondition('username', username)}
          isNot={valueCondition('username', username, true)}
        />
      </dd>
      {knownFacts(event).map((fact) => (
        <Known key={fact.name} event={event} {...fact} />
      ))}
      <Request attributes={attributes} />
      <Source event={event} />
      <PersonalFacts event={event} />
      <dt>{texts.panel.id}</dt>
      <dd>
        <span class="mono">{marked(id)}</span>
      </dd>
      {account.value?.ledger && <Seal event={event} />}
    </dl>
  )
}
