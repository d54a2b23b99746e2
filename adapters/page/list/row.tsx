import { signal } from '@preact/signals'
import { sentenceText } from '../../../src/describing/sentence-text.js'
import { sourceLabelIn } from '../../../src/describing/source-label.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { levelOf } from '../../../src/event/level.js'
import { dayKey, formatClock } from '../data/format.js'
import { Mark, markOf } from '../ui/icon.js'
import { isSafePath } from '../data/safe-path.js'
import { isolated } from '../data/isolated.js'
import { lazy } from '../ui/lazy.js'
import { marked, marker } from '../ui/marked.js'
import { sentenceOf, SentenceBody } from '../ui/sentence.js'
import { sentences, texts } from '../ui/texts.js'
import type { Column } from './cells.js'
import { customColumns, type OwnCells } from './custom-columns.js'
import { isFresh } from './live-updates.js'
import { shownSorts } from './loading.js'
import { isByTime } from './paging.js'
import type * as RowParts from './quick.js'
import type { QuickProps } from './quick.js'

/** The quick filters of cells and the marks of encrypted values, loaded after the first rows. */
export const rowParts = signal<typeof RowParts | undefined>(undefined)

export function Quick(props: QuickProps) {
  const Loaded = rowParts.value?.Quick
  return Loaded ? <Loaded {...props} /> : null
}

const pick = async (id: string): Promise<void> => (await import('./pick-event.js')).pickEvent(id)

function Type({ type }: { type: string }) {
  const shown = visibleText(type)
  const end = levelOf(type) === 'custom' ? 0 : shown.indexOf(':')
  return (
    <bdi>
      {end > 0 && <span>{marked(shown.slice(0, end))}</span>}
      {marked(shown.slice(end))}
    </bdi>
  )
}

function Source({ event }: { event: AuditEvent }) {
  const label = sourceLabelIn(sentences, event)
  if (!label || event.source === null) return null
  const name = <bdi>{marked(visibleText(label.name))}</bdi>
  return (
    <bdi>
      {label.kind}{' '}
      {isSafePath(event.source) ? (
        <a href={event.source} tabIndex={-1}>
          {name}
        </a>
      ) : (
        name
      )}
    </bdi>
  )
}

const ExactTime = lazy(() => import('./exact-time.js'), 'ExactTime')

interface RowProps {
  readonly event: AuditEvent
  /** The row number in the whole list. */
  readonly row: number
  /** Another event of the same action, without a separate row. */
  readonly twin: AuditEvent | undefined
  readonly isActive: boolean
  readonly isOpen: boolean
  /** The column with quick filters: the column under the pointer, else the focused column. */
  readonly quickColumn: Column | undefined
  /** True if the time cell has the focus and shows the full time. */
  readonly isTimeFocused: boolean
}

/** The cells that users can move and hide. */
function ownCells(
  event: AuditEvent,
  sentence: ReturnType<typeof sentenceOf>,
  quickColumn: Column | undefined,
): OwnCells {
  const { type } = event
  const who = sentence.who === null ? texts.common.service : visibleText(sentence.who)
  const service = sentence.who === null ? ' service' : ''
  return {
    who: (
      <span class={`who${service}`} role="gridcell" tabIndex={-1}>
        <bdi>{marked(who)}</bdi>
        {quickColumn === 'who' && <Quick event={event} column="who" />}
      </span>
    ),
    what: (
      <span class="what" role="gridcell" tabIndex={-1}>
        {sentence.who !== null && (
          <span class="phone-only">
            <bdi>{who}</bdi>
            {sentence.isVerbFirst ? ' ' : ': '}
          </span>
        )}
        {marker.value?.place(event, [
          who,
          sentenceText(sentence, sentences),
          type,
          sourceLabelIn(sentences, event)?.name ?? '',
        ])}
        <SentenceBody sentence={sentence} />
        {rowParts.value?.PersonalMark({ event })}
      </span>
    ),
    type: (
      <span class="type" role="gridcell" tabIndex={-1}>
        <Type type={type} />
        {quickColumn === 'type' && <Quick event={event} column="type" />}
      </span>
    ),
    source: (
      <span class="src" role="gridcell" tabIndex={-1}>
        <Source event={event} />
        {quickColumn === 'source' && <Quick event={event} column="source" />}
      </span>
    ),
  }
}

/** One event: time, level, who, what, type, source. */
export function Row({ event, row, twin, isActive, isOpen, quickColumn, isTimeFocused }: RowProps) {
  const { type, created_at } = event
  const sentence = sentenceOf(event)
  const clock = formatClock(created_at)
  const level = levelOf(type)
  const custom = customColumns.value
  const cells = ownCells(event, sentence, quickColumn)
  return (
    <div
      class={`row level-${level}${isFresh(event) ? ' fresh' : ''}`}
      role="row"
      aria-rowindex={row + 2}
      aria-selected={isOpen}
      aria-label={`${markOf(type)}: ${sentenceText(sentence, sentences)}, ${clock.time}${clock.offset}${twin ? `, ${texts.common.events(2)}` : ''}`}
      tabIndex={isActive ? 0 : -1}
      data-id={event.id}
    >
      <time class="when" role="gridcell" tabIndex={-1} dateTime={created_at}>
        {/* Without day headings, the time alone does not say when. */}
        {custom?.timeOf(event) ?? (
          <>
            {!isByTime(shownSorts.value) && `${dayKey(created_at)} `}
            {clock.time}
            <span class="milliseconds">{clock.ms}</span>
            {clock.offset}
          </>
        )}
        {isTimeFocused && <ExactTime event={event} />}
        {quickColumn === 'time' && !isTimeFocused && (
          <span class="quick">
            <button
              type="button"
              tabIndex={-1}
              title={texts.list.compare}
              aria-label={texts.list.compare}
              onClick={() => void pick(event.id)}
            >
              ≠
            </button>
          </span>
        )}
      </time>
      <span class="level" role="gridcell" tabIndex={-1}>
        <Mark level={markOf(type)} />
        <span class="visually-hidden">{markOf(type)}</span>
        {twin && (
          <span
            class="twins"
            title={`${texts.common.events(2)}: ${[type, twin.type].map(visibleText).map(isolated).join(', ')}`}
          >
            2
          </span>
        )}
        {quickColumn === 'level' && <Quick event={event} column="level" />}
      </span>
      {custom ? custom.cells(event, cells, quickColumn) : Object.values(cells)}
    </div>
  )
}
