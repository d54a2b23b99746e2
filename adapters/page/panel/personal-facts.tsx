import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { AuditEvent } from '../../../src/event/event.js'
import { ApiError } from '../data/api.js'
import { ALL_TIME, conditionOn } from '../data/query.js'
import { errorText } from '../list/load-failure.js'
import { showRelated } from './way-back.js'
import { type PersonalNote, personalNotes } from '../personal/notes.js'
import { areShown, hideValues, mayOpen, openValues } from '../personal/opened-values.js'
import { noteText } from '../personal/note-text.js'
import { personalTexts as words } from '../personal/personal-texts.js'

function failureText(error: Error): string {
  if (!(error instanceof ApiError)) return errorText(error)
  if (error.problem?.code === 'KEYS_UNAVAILABLE') return words.unavailable
  return error.status === 403 ? words.denied : errorText(error)
}

/** A button that loads the values of the event, and the reason if they cannot be shown. */
function Show({ event }: { event: AuditEvent }) {
  const isBusy = useSignal(false)
  const error = useSignal<Error | undefined>(undefined)
  const ended = useRef(new AbortController())
  useEffect(() => () => ended.current.abort(), [])
  const load = async (): Promise<void> => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      await openValues(event, ended.current.signal)
    } catch (failed) {
      if (!ended.current.signal.aborted) error.value = failed as Error
    } finally {
      isBusy.value = false
    }
  }
  const isShown = areShown(event)
  return (
    <>
      <button
        type="button"
        class="link"
        aria-pressed={isShown}
        aria-disabled={isBusy.value}
        onClick={() => (isShown ? hideValues() : void load())}
      >
        {isShown ? words.hide : words.show}
      </button>
      <span class="personal-fault" role="status">
        {error.value && failureText(error.value)}
      </span>
    </>
  )
}

const showAll = ({ subject }: PersonalNote): void =>
  showRelated({
    where: [conditionOn('personal_subject', 'eq', [subject])],
    sorts: [],
    range: ALL_TIME,
  })

/** The notes about encrypted values: a row of the facts for each person. */
export function PersonalFacts({ event }: { event: AuditEvent }) {
  const notes = personalNotes(event)
  if (notes.length === 0) return null
  const canOpen = mayOpen() && (areShown(event) || notes.some(({ sealed }) => sealed))
  return (
    <>
      <dt>{words.title}</dt>
      {notes.map((note, i) => (
        <dd key={i} class="personal">
          <span>{noteText(note)}</span>
          <button type="button" class="link" onClick={() => showAll(note)}>
            {words.all}
          </button>
          {canOpen && i === notes.length - 1 && <Show event={event} />}
        </dd>
      ))}
    </>
  )
}
