import { sourceLabelIn } from '../../../src/describing/source-label.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { zone } from '../data/address.js'
import { formatClock } from '../data/format.js'
import { logOf } from '../data/api.js'
import { showsSeveralLogs } from '../data/config.js'
import { toWallClock } from '../data/zoned-time.js'
import { hiddenNotes } from '../personal/notes.js'
import { notesText } from '../personal/note-text.js'
import { markOf } from '../ui/icon.js'
import { sentenceOf, SentenceBody } from '../ui/sentence.js'
import { sentences, texts } from '../ui/texts.js'
import { printTexts } from './print-texts.js'

const OF_ONE_LOG = ['time', 'level', 'who', 'what', 'type', 'source', 'id'] as const

const COLUMNS = showsSeveralLogs ? (['log', ...OF_ONE_LOG] as const) : OF_ONE_LOG

/** `2026-11-20 14:05:52.418` in the zone of the page. */
function timeText(time: string): string {
  const { ms, offset } = formatClock(time)
  return toWallClock(time, zone.value).replace('T', ' ') + ms + offset
}

function sourceText(event: AuditEvent): string {
  const label = sourceLabelIn(sentences, event)
  return label ? `${label.kind} ${visibleText(label.name)}` : ''
}

function EventRow({ event }: { event: AuditEvent }) {
  const sentence = sentenceOf(event)
  const mark = markOf(event.type)
  const notes = hiddenNotes(event)
  return (
    <tr>
      {showsSeveralLogs && (
        <td>
          <bdi>{visibleText(logOf(event) ?? '')}</bdi>
        </td>
      )}
      <td class="mono">{timeText(event.created_at)}</td>
      <td>{mark}</td>
      <td>
        <bdi>{sentence.who === null ? texts.common.service : visibleText(sentence.who)}</bdi>
      </td>
      <td>
        <SentenceBody sentence={sentence} />
        {notes.length > 0 && <small class="personal-note">{notesText(notes)}</small>}
      </td>
      <td class="mono">{visibleText(event.type)}</td>
      <td>
        <bdi>{sourceText(event)}</bdi>
      </td>
      <td class="mono">{event.id}</td>
    </tr>
  )
}

/** Events as a plain table that can be printed. */
export function EventTable({ events }: { events: readonly AuditEvent[] }) {
  return (
    <table class="print-table">
      <thead>
        <tr>
          {COLUMNS.map((name) => (
            <th key={name} scope="col" class={`column-${name}`}>
              {printTexts.columns[name]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <EventRow key={event.id} event={event} />
        ))}
      </tbody>
    </table>
  )
}
