import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { sentenceText } from '../../../src/describing/sentence-text.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { levelOf } from '../../../src/event/level.js'
import { openEvent, openId } from '../data/address.js'
import { copyLink } from '../list/copy-commands.js'
import { Icon, Mark, markOf } from '../ui/icon.js'
import { useEscape, useKeys } from '../ui/keyboard.js'
import { openNext } from '../list/row-focus.js'
import { describe, sentenceOf, SentenceBody } from '../ui/sentence.js'
import { marked } from '../ui/marked.js'
import { sentences, texts } from '../ui/texts.js'
import { announce } from '../ui/notes.js'
import { Changes } from './changes.js'
import { Facts } from './facts.js'
import { JsonText } from './json-text.js'
import { Log } from './log.js'
import { Related } from './related.js'
import { isGrowing, openedState, shown, tryAgain } from './opened-event.js'
import { ErrorTrace } from './error-trace.js'
import { withOpenedValues } from '../personal/opened-values.js'
import { Attributes } from './tree.js'

/** True if JSON is shown. It stays true when another event is opened. */
const isJson = signal(false)

const close = (): void => openEvent(undefined)

interface ToolProps {
  readonly icon: string
  readonly label: string
  readonly act: () => void
  readonly className?: string
}

function Tool({ icon, label, act, className = '' }: ToolProps) {
  return (
    <button type="button" class={`btn quiet ${className}`} aria-label={label} onClick={act}>
      <Icon name={icon} />
    </button>
  )
}

function Type({ type }: { type: string }) {
  const [first, ...rest] = type.split(':')
  return (
    <span class="panel-type">
      <Mark level={markOf(type)} />
      <bdi class="type" title={visibleText(type)}>
        <span>{marked(visibleText(first!))}</span>
        {marked(rest.map((part) => `:${visibleText(part)}`).join(''))}
      </bdi>
    </span>
  )
}

function Tools({ event }: { event: AuditEvent | undefined }) {
  return (
    <div class="panel-top">
      <Tool icon="left" label={texts.panel.back} act={close} className="back" />
      {event && <Type type={event.type} />}
      <span class="grow" />
      {event && (
        <button
          type="button"
          class="btn quiet word"
          aria-pressed={isJson.value}
          onClick={() => (isJson.value = !isJson.value)}
        >
          {texts.panel.json}
        </button>
      )}
      <Tool icon="up" label={texts.panel.newer} act={() => openNext(-1)} />
      <Tool icon="down" label={texts.panel.older} act={() => openNext(1)} />
      <Tool icon="link" label={texts.panel.copyLink} act={() => void copyLink()} />
      <Tool icon="x" label={texts.common.closeKey} act={close} className="close" />
    </div>
  )
}

function Heading({ event }: { event: AuditEvent }) {
  const sentence = isGrowing.value ? describe(event, true) : sentenceOf(event)
  return (
    <>
      {sentence.who !== null && sentence.isVerbFirst && (
        <>
          <b>
            <bdi>{marked(visibleText(sentence.who))}</bdi>
          </b>{' '}
        </>
      )}
      <SentenceBody sentence={sentence} />
    </>
  )
}

function Detail({ event }: { event: AuditEvent }) {
  if (isJson.value) return <JsonText event={event} />
  return (
    <>
      <Facts event={event} />
      <Changes event={event} />
      <ErrorTrace attributes={event.attributes} />
      <Log event={event} />
      <Attributes event={event} />
    </>
  )
}

function Failure({ state }: { state: 'missing' | 'denied' | 'failed' }) {
  return (
    <div class="state">
      <p>{texts.panel.states[state].detail}</p>
      {state === 'failed' && (
        <div class="actions">
          <button type="button" class="btn main" onClick={tryAgain}>
            {texts.panel.tryAgain}
          </button>
        </div>
      )}
    </div>
  )
}

const isLost = (): boolean =>
  document.activeElement === null || document.activeElement === document.body

/** The open event, beside the list. */
export function Panel() {
  const heading = useRef<HTMLHeadingElement>(null)
  const panel = useRef<HTMLElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const isFirst = useRef(true)
  const event = shown.value && withOpenedValues(shown.value)
  const state = openedState.value

  useEscape(true, close)
  useKeys({ d: () => (isJson.value = !isJson.value) })
  useEffect(() => heading.current?.focus(), [])
  useEffect(() => {
    const wasThere = !isFirst.current
    isFirst.current = false
    body.current?.scrollTo(0, 0)
    if (!event || !wasThere || event.id !== openId.value) return
    if (isLost()) heading.current?.focus()
    if (panel.current?.contains(document.activeElement))
      announce(sentenceText(sentenceOf(event), sentences))
  }, [openId.value, event?.id])

  const isFailed = state === 'missing' || state === 'denied' || state === 'failed'
  return (
    <aside
      ref={panel}
      class={`panel level-${levelOf(event?.type ?? '')}`}
      aria-label={texts.panel.event}
      aria-busy={state === 'loading'}
    >
      <Tools event={isFailed ? undefined : event} />
      <div
        ref={body}
        class={state === 'loading' ? 'panel-body is-stale' : 'panel-body'}
        tabIndex={0}
        role="region"
        aria-label={texts.panel.detail}
      >
        <h2 ref={heading} class="headline" tabIndex={-1}>
          {isFailed ? (
            texts.panel.states[state].title
          ) : event ? (
            <Heading event={event} />
          ) : (
            texts.panel.loading
          )}
        </h2>
        {isFailed ? <Failure state={state} /> : event && <Detail key={event.id} event={event} />}
      </div>
      {event && !isFailed && <Related key={event.id} event={event} />}
    </aside>
  )
}
