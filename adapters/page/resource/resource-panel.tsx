import { useEffect, useRef, useState } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { levelOf } from '../../../src/event/level.js'
import { account } from '../data/account.js'
import { formatShort } from '../data/format.js'
import { formatFull } from '../data/more-formats.js'
import { isSafePath } from '../data/safe-path.js'
import { Changes } from '../panel/changes.js'
import { PersonalMark } from '../personal/personal-mark.js'
import { Mark, markOf } from '../ui/icon.js'
import { isolated } from '../data/isolated.js'
import { sentenceOf, SentenceBody } from '../ui/sentence.js'
import { tellFrame } from './frame.js'
import {
  events,
  followResource,
  hasOlder,
  loadOlder,
  pageAddress,
  problem,
  resource,
} from './resource-events.js'
import { resourceTexts } from './resource-texts.js'

function Item({ event }: { event: AuditEvent }) {
  const [isOpen, setOpen] = useState(false)
  const sentence = sentenceOf(event)
  const toggle = (open: boolean): void => {
    setOpen(open)
    if (open) tellFrame({ type: 'daybook:open', id: event.id })
  }
  return (
    <li class={`level-${levelOf(event.type)}`}>
      <details onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
        <summary>
          <Mark level={markOf(event.type)} />
          <span>
            {sentence.who !== null && (
              <b>
                <bdi>{visibleText(sentence.who)}</bdi>
              </b>
            )}{' '}
            <SentenceBody sentence={sentence} />
          </span>
          <time dateTime={event.created_at}>{formatShort(new Date(event.created_at))}</time>
        </summary>
        {isOpen && (
          <>
            <p class="resource-facts">
              {formatFull(event.created_at)} <span class="mono">{event.id}</span>
              <PersonalMark event={event} />
            </p>
            <Changes event={event} />
          </>
        )}
      </details>
    </li>
  )
}

function Problem() {
  if (!problem.value) return null
  return (
    <p class="resource-state" role="alert">
      {resourceTexts[problem.value]}{' '}
      <button type="button" class="link" onClick={() => location.reload()}>
        {resourceTexts.again}
      </button>
    </p>
  )
}

function Events() {
  const known = events.value
  if (!isSafePath(resource)) return <p class="resource-state">{resourceTexts.invalid}</p>
  if (!known) return problem.value ? null : <p class="resource-state">{resourceTexts.loading}</p>
  if (known.length === 0)
    return (
      <p class="resource-state">
        {account.value?.restricted === false ? resourceTexts.empty : resourceTexts.hidden}
      </p>
    )
  return (
    <ol>
      {known.map((event) => (
        <Item key={event.id} event={event} />
      ))}
    </ol>
  )
}

/** The events of one resource, for a frame in a page of the host. */
export function ResourcePanel() {
  const root = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isSafePath(resource)) void followResource()
    const observer = new ResizeObserver(() =>
      tellFrame({ type: 'daybook:size', height: root.current!.scrollHeight }),
    )
    observer.observe(root.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <main class="resource" ref={root}>
      <header>
        <h1>{resourceTexts.title(isolated(visibleText(resource)))}</h1>
        <a class="link" href={pageAddress()} target="_blank" rel="noopener">
          {resourceTexts.all}
          <span class="visually-hidden"> {resourceTexts.newTab}</span>
        </a>
      </header>
      <Events />
      <Problem />
      {hasOlder.value && (
        <button type="button" class="btn" onClick={() => void loadOlder()}>
          {resourceTexts.older}
        </button>
      )}
    </main>
  )
}
