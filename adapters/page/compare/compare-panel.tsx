import { useEffect, useRef, useState } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { levelOf } from '../../../src/event/level.js'
import { managed, openEvent, openManaged, search } from '../data/address.js'
import { formatFull } from '../data/more-formats.js'
import { COMPARE_PLACE } from '../list/pick-event.js'
import { focusRow } from '../list/row-focus.js'
import type { Piece } from '../panel/word-diff.js'
import { Mark, markOf } from '../ui/icon.js'
import { LinkTool, PanelTools } from '../ui/panel-tools.js'
import { useEscape } from '../ui/keyboard.js'
import { copyLink } from '../list/copy-commands.js'
import { sentenceOf, SentenceBody } from '../ui/sentence.js'
import { compareTexts as words } from './compare-texts.js'
import { withNotesInWords } from '../personal/note-text.js'
import { type ComparedRow, comparedRows } from './compared-rows.js'
import { durationText } from './duration.js'
import { type Pair, usePair } from './loading.js'

/** The ids in the address. */
const comparedIds = (): readonly [left: string, right: string] => {
  const [left = '', right = ''] = (managed.value ?? '').slice(COMPARE_PLACE.length).split(',')
  return [left, right]
}

function close(): void {
  const [left] = comparedIds()
  openManaged(undefined)
  focusRow(left)
}

const openPair = (left: string, right: string): void =>
  openManaged(`${COMPARE_PLACE}${left},${right}`)

// Characters shown of each value.
const MAX_LENGTH = 10_000

const SIGNS: Readonly<Record<ComparedRow['kind'], string>> = {
  equal: '=',
  changed: '≠',
  left: '−',
  right: '+',
}

function Value({ pieces }: { pieces: readonly Piece[] | undefined }) {
  if (!pieces) return <small>{words.missing}</small>
  let room = MAX_LENGTH
  return (
    <span dir="auto">
      {pieces.map(({ text, isChanged }, i) => {
        const shown = visibleText(text.slice(0, room))
        room = Math.max(0, room - text.length)
        return isChanged ? (
          <span key={i} class="differs">
            {shown}
          </span>
        ) : (
          shown
        )
      })}
      {room === 0 && '…'}
    </span>
  )
}

function Row({ path, left, right, kind }: ComparedRow) {
  return (
    <tr class={`compared ${kind}`}>
      <th scope="row">
        <span class="sign" aria-hidden="true">
          {SIGNS[kind]}
        </span>
        <span class="visually-hidden">{words.kinds[kind]}: </span>
        <bdi>{visibleText(path)}</bdi>
      </th>
      <td class="old">
        <Value pieces={left} />
      </td>
      <td class="new">
        <Value pieces={right} />
      </td>
    </tr>
  )
}

function Head({ event, title }: { event: AuditEvent; title: string }) {
  const sentence = sentenceOf(event)
  const open = (click: MouseEvent): void => {
    if (click.ctrlKey || click.metaKey || click.shiftKey) return
    click.preventDefault()
    openEvent(event.id)
  }
  return (
    <th scope="col" class={`level-${levelOf(event.type)}`}>
      <span class="visually-hidden">{title}: </span>
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
      <time dateTime={event.created_at} title={event.created_at}>
        {formatFull(event.created_at)}
      </time>
      <a
        class="link"
        href={`?${search.value}#event=${encodeURIComponent(event.id)}`}
        onClick={open}
      >
        {words.open}
      </a>
    </th>
  )
}

function timeBetween([left, right]: Pair): string {
  const between = Date.parse(right.created_at) - Date.parse(left.created_at)
  if (between === 0) return words.sameTime
  const duration = durationText(Math.abs(between))
  return between > 0 ? words.later(duration) : words.earlier(duration)
}

function Comparison({ pair }: { pair: Pair }) {
  const [isEqualShown, showEqual] = useState(false)
  const [left, right] = pair
  const rows = comparedRows(withNotesInWords(left), withNotesInWords(right))
  const different = rows.filter(({ kind }) => kind !== 'equal')
  const equal = rows.length - different.length
  return (
    <>
      <p class="compare-summary">
        <b>{words.differences(different.length)}</b> · {words.second}: {timeBetween(pair)}
        {equal > 0 && (
          <button
            type="button"
            class="link"
            aria-pressed={isEqualShown}
            onClick={() => showEqual(!isEqualShown)}
          >
            {isEqualShown ? words.hideEqual(equal) : words.showEqual(equal)}
          </button>
        )}
      </p>
      <table class="comparison">
        <thead>
          <tr>
            <td>
              <button
                type="button"
                class="btn small"
                onClick={() => openPair(pair[1].id, pair[0].id)}
              >
                {words.swap}
              </button>
            </td>
            <Head event={pair[0]} title={words.first} />
            <Head event={pair[1]} title={words.second} />
          </tr>
        </thead>
        <tbody>
          {(isEqualShown ? rows : different).map((row) => (
            <Row key={row.path} {...row} />
          ))}
        </tbody>
      </table>
    </>
  )
}

/** Two events side by side: the differences, and on request the equal values. */
export function ComparePanel() {
  const [left, right] = comparedIds()
  const { state, pair, tryAgain } = usePair(left, right)
  const heading = useRef<HTMLHeadingElement>(null)
  useEscape(true, close)
  useEffect(() => heading.current?.focus(), [])
  const isFailed = state !== 'loading' && state !== 'ready'
  return (
    <aside class="panel wide compare" aria-label={words.region} aria-busy={state === 'loading'}>
      <PanelTools close={close}>
        <LinkTool label={words.link} act={() => void copyLink()} />
      </PanelTools>
      <div
        class={state === 'loading' ? 'panel-body is-stale' : 'panel-body'}
        tabIndex={0}
        role="region"
        aria-label={words.detail}
      >
        <h2 ref={heading} class="headline" tabIndex={-1}>
          {words.title}
        </h2>
        {isFailed ? (
          <div class="state">
            <p>{words.states[state]}</p>
            {state === 'failed' && (
              <button type="button" class="btn main" onClick={tryAgain}>
                {words.again}
              </button>
            )}
          </div>
        ) : pair ? (
          <Comparison pair={pair} />
        ) : (
          <p class="hint">{words.loading}</p>
        )}
      </div>
    </aside>
  )
}
