import { useId, useState } from 'preact/hooks'
import type { RecordedChange } from '../../../src/event/changes.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { JsonValue } from '../../../src/event/event.js'
import { levelOf } from '../../../src/event/level.js'
import { openEvent, search } from '../data/address.js'
import { formatFull } from '../data/more-formats.js'
import { recordedChanges } from '../panel/change-rows.js'
import { ChangedValues } from '../panel/changes.js'
import { hiddenNotes } from '../personal/notes.js'
import { personalTexts } from '../personal/personal-texts.js'
import { Mark, markOf } from '../ui/icon.js'
import { sentenceOf, SentenceBody } from '../ui/sentence.js'
import { historyTexts as words } from './history-texts.js'
import type { HistoryEntry } from './read-history.js'
import { Undo } from './undo.js'
import { valueAt } from './undo-effects.js'

/**
 * The recorded changes. For events with `before` and `after`, these are the operations between them, with the old
 * values.
 */
function changesOf({ event, change }: HistoryEntry): readonly RecordedChange[] {
  const { changes, before } = event.attributes
  const recorded = recordedChanges(changes)
  if (recorded) return recorded
  return (change.patch ?? []).map((operation): RecordedChange => {
    const { path } = operation
    const old = operation.op === 'add' ? undefined : valueAt(before, path)
    const values = {
      ...('value' in operation && { value: operation.value as JsonValue }),
      ...(old !== undefined && { old_value: old }),
    }
    return { op: operation.op as RecordedChange['op'], path, ...values }
  })
}

function Head({ event }: HistoryEntry) {
  const sentence = sentenceOf(event)
  return (
    <p class="entry-head">
      <Mark level={markOf(event.type)} />
      <time dateTime={event.created_at} title={event.created_at}>
        {formatFull(event.created_at)}
      </time>
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
    </p>
  )
}

interface EntryProps {
  readonly entry: HistoryEntry
  readonly newest: HistoryEntry
  /** True if the shown state is the one after this change. */
  readonly isShown: boolean
  readonly show: () => void
}

/** One change of a resource, with its actions. */
export function Entry({ entry, newest, isShown, show }: EntryProps) {
  const [isUndoOpen, setUndoOpen] = useState(false)
  const undoId = useId()
  const { event, change } = entry
  const open = (click: MouseEvent): void => {
    if (click.ctrlKey || click.metaKey || click.shiftKey) return
    click.preventDefault()
    openEvent(event.id)
  }
  return (
    <li class={`entry level-${levelOf(event.type)}`} data-id={event.id}>
      <Head {...entry} />
      <ChangedValues changes={changesOf(entry)} event={event} />
      {change.patch === null && (
        <p class="hint">{hiddenNotes(event).length > 0 ? personalTexts.partLacks : words.part}</p>
      )}
      {!change.known && <p class="hint">{words.unknownAfter}</p>}
      {change.known && change.state === null && <p class="hint">{words.deleted}</p>}
      <p class="entry-actions">
        <button type="button" class="link" aria-pressed={isShown} onClick={show}>
          {words.stateThen}
        </button>
        <button
          type="button"
          class="link"
          aria-expanded={isUndoOpen}
          aria-controls={isUndoOpen ? undoId : undefined}
          onClick={() => setUndoOpen(!isUndoOpen)}
        >
          {words.undo}
        </button>
        <a
          class="link"
          href={`?${search.value}#event=${encodeURIComponent(event.id)}`}
          onClick={open}
        >
          {words.openEvent}
        </a>
      </p>
      {isUndoOpen && (
        <div id={undoId}>
          <Undo change={change} newest={newest} />
        </div>
      )}
    </li>
  )
}
