import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { types } from '../data/account.js'
import { openEvent } from '../data/address.js'
import { listEvents } from '../data/api.js'
import { formatSecond, formatNumber } from '../data/format.js'
import { SentenceBody, sentenceOf } from '../ui/sentence.js'
import { ProgressBar } from '../ui/progress-bar.js'
import { texts } from '../ui/texts.js'
import { copyText } from '../ui/copy-text.js'
import { renderLog, type LogProgress, logOf, progressOf, allLines } from './log-lines.js'
import { resultQuery } from './related-queries.js'
import { isGrowing } from './opened-event.js'

// Older lines are shown on demand.
const MAX_LINES = 1000

/** `auto` and `on` scroll to the end; `on`, chosen by the user, also announces new lines. */
type Following = 'auto' | 'on' | 'off'

const isAtEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): boolean =>
  scrollHeight - scrollTop - clientHeight < 8

/** A link to the event that reports the result, once it exists. */
function ResultLink({ event }: { event: AuditEvent }) {
  const [closing, found] = useState<AuditEvent | undefined>(undefined)
  useEffect(() => {
    const query = resultQuery(event)
    if (query === undefined) return
    const controller = new AbortController()
    listEvents(query, 1, controller.signal).then(
      ({ events }) => found(events[0]),
      // After a failure, only the link is missing.
      () => undefined,
    )
    return () => controller.abort()
  }, [event.id])
  if (!closing) return null
  const open = (click: MouseEvent): void => {
    click.preventDefault()
    openEvent(closing.id)
  }
  return (
    <a class="link" href={`#event=${closing.id}`} onClick={open}>
      <SentenceBody sentence={sentenceOf(closing)} />
    </a>
  )
}

/** The output of a program as a terminal would show it. Grows in place. */
export function Log({ event }: { event: AuditEvent }) {
  const log = logOf(event.attributes, types.value[event.type]?.live === true)
  return log ? <Lines key={log.attribute} event={event} text={log.text} /> : null
}

const HeadButtons = ({
  isFollowing,
  follow,
  text,
}: {
  isFollowing: boolean
  follow: (following: Following) => void
  text: string
}) => (
  <span class="seg" role="group" aria-label={texts.panel.log}>
    <button
      type="button"
      aria-pressed={isFollowing}
      onClick={() => follow(isFollowing ? 'off' : 'on')}
    >
      {texts.panel.follow}
    </button>
    <button type="button" onClick={() => void copyText(text)}>
      {texts.panel.copyAll}
    </button>
  </span>
)

function Progress({ progress: { label, percent } }: { progress: LogProgress }) {
  return (
    <div class="log-top">
      <span>{visibleText(label)}</span>
      <ProgressBar percent={percent} />
      <span class="number">{texts.common.percent(percent)}</span>
    </div>
  )
}

/** The state of the log: the time of its last growth, a note that it is unfinished, or a link to the result. */
function LogState({ event, text }: { event: AuditEvent; text: string }) {
  const time = useMemo(() => formatSecond(new Date()), [text])
  if (isGrowing.value) return <span>{texts.panel.updated(time)}</span>
  if (event.attributes['unfinished'] === true) return <span>{texts.panel.unfinished}</span>
  return <ResultLink event={event} />
}

function Lines({ event, text }: { event: AuditEvent; text: string }) {
  const [isWhole, showWhole] = useState(false)
  const [following, follow] = useState<Following>('auto')
  const pre = useRef<HTMLPreElement>(null)
  const { lines: folded, overwritten } = renderLog(text)
  const lines = isWhole ? allLines(text) : folded.slice(-MAX_LINES)
  const seen = useRef(folded.length)
  const progress = isGrowing.value ? progressOf(folded) : undefined
  const isFollowing = following !== 'off'

  useLayoutEffect(() => {
    if (!isFollowing) return
    seen.current = folded.length
    if (pre.current) pre.current.scrollTop = pre.current.scrollHeight
  }, [text, isFollowing, isWhole])

  const onScroll = (): void => {
    const atEnd = isAtEnd(pre.current!)
    if (atEnd !== isFollowing) follow(atEnd ? 'auto' : 'off')
  }

  const unseen = folded.length - seen.current
  const hidden = overwritten + Math.max(0, folded.length - MAX_LINES)
  const shown = lines.map(visibleText)
  const last = shown.pop() ?? ''
  return (
    <section class="section" aria-label={texts.panel.log}>
      <div class="section-head">
        <h2>{texts.panel.log}</h2>
        <span class="number">{texts.panel.lines(folded.length)}</span>
        <HeadButtons isFollowing={isFollowing} follow={follow} text={text} />
      </div>
      <div class="log">
        {progress && <Progress progress={progress} />}
        <pre
          ref={pre}
          tabIndex={0}
          role="log"
          aria-label={texts.panel.log}
          aria-live={following === 'on' ? 'polite' : 'off'}
          onScroll={onScroll}
        >
          {shown.map((line) => `${line}\n`).join('')}
          {progress ? <b class="now">{last}</b> : last}
        </pre>
        {unseen > 0 && !isFollowing && (
          <button type="button" class="unseen" onClick={() => follow('auto')}>
            {texts.panel.newLines(unseen)}
          </button>
        )}
        <div class="log-foot">
          <LogState event={event} text={text} />
          <span class="grow" />
          {hidden > 0 && (
            <span>
              {texts.panel.folded}{' '}
              <button type="button" class="link" onClick={() => showWhole(!isWhole)}>
                {isWhole
                  ? texts.panel.fold
                  : texts.panel.showLines(formatNumber(folded.length + overwritten))}
              </button>
            </span>
          )}
        </div>
      </div>
    </section>
  )
}
