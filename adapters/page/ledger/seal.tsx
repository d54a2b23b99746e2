import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { AuditEvent } from '../../../src/event/event.js'
import { ApiError } from '../data/api.js'
import { downloadBlob } from '../data/download.js'
import { dayKey, formatSecond, formatShort } from '../data/format.js'
import { openEvents } from '../data/open-events.js'
import { isVisible } from '../data/visibility.js'
import { errorText } from '../list/load-failure.js'
import { dialog } from '../ui/dialog.js'
import { Mark } from '../ui/icon.js'
import { showNote } from '../ui/notes.js'
import { faultsOf, type ProvedPlace, sealOf } from './condition.js'
import { ledgerTexts as words } from './ledger-texts.js'
import {
  condition,
  failure,
  isFresh,
  isRefused,
  NotSealed,
  readLedger,
  readProof,
} from './loading.js'

/** Delay of requests, so that moving through the list does not ask for each event. */
const WAIT_MS = 250
const FIRST_MS = 2000
const LONGEST_MS = 60_000

const isWithin = (createdAt: string): boolean =>
  condition.value !== undefined && sealOf(condition.value, createdAt, false) === 'within'

/** Reads the ledger until the event is sealed, less and less often. What is sealed stays so. */
function useSealing({ id, created_at }: AuditEvent, isOpen: boolean, attempt: number): void {
  const mayAsk = !isOpen && isVisible.value
  useEffect(() => {
    if (!mayAsk || (isWithin(created_at) && isFresh())) return
    let isOver = false
    let wait = FIRST_MS
    const ask = async (): Promise<void> => {
      await readLedger()
      if (isOver || isRefused() || isWithin(created_at)) return
      timer = setTimeout(() => void ask(), wait)
      wait = Math.min(wait * 2, LONGEST_MS)
    }
    let timer = setTimeout(() => void ask(), condition.value ? WAIT_MS : 0)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [id, mayAsk, attempt])
}

/** `14:05:52` if it is on the day of the event, else with the day. */
function timeText(time: string, { created_at }: AuditEvent): string {
  const at = new Date(time)
  return dayKey(at) === dayKey(created_at) ? formatSecond(at) : formatShort(at)
}

const isChanged = (error: Error): boolean =>
  error instanceof ApiError && error.problem?.code === 'DAMAGED'

function failureText(error: Error): string {
  if (error instanceof NotSealed) return words.notSealed
  if (error instanceof SyntaxError) return words.noProof
  if (isChanged(error)) return words.changed
  if (!(error instanceof ApiError)) return errorText(error)
  return error.status === 403 || error.status === 404 ? words.noEvent : errorText(error)
}

interface ProofProps {
  readonly event: AuditEvent
  readonly proved: (place: ProvedPlace) => void
}

/** A button that saves the proof, and the reason if it cannot. */
function Proof({ event: { id }, proved }: ProofProps) {
  const isBusy = useSignal(false)
  const error = useSignal<Error | undefined>(undefined)
  const ended = useRef(new AbortController())
  useEffect(() => () => ended.current.abort(), [])
  const load = async (): Promise<void> => {
    const { signal } = ended.current
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      const { blob, name, place } = await readProof(id, signal)
      if (!place) throw new SyntaxError('no proof')
      downloadBlob(blob, name)
      showNote(words.proved(place))
      proved(place)
    } catch (failed) {
      if (signal.aborted) return
      error.value = failed as Error
    } finally {
      isBusy.value = false
    }
  }
  return (
    <>
      <button
        type="button"
        class="link"
        title={words.proofHint}
        aria-disabled={isBusy.value}
        onClick={() => void load()}
      >
        {words.proof}
      </button>
      <span class="seal-fault level-error" role="status">
        {error.value && isChanged(error.value) && <Mark level="error" />}
        {error.value && failureText(error.value)}
      </span>
    </>
  )
}

function Attention() {
  const [fault] = condition.value ? faultsOf(condition.value) : []
  return (
    <button type="button" class="link" onClick={() => (dialog.value = 'ledger')}>
      {fault ? (
        <span class={`seal-attention level-${fault.level}`}>
          <Mark level={fault.level} />
          {words.attention}
        </span>
      ) : (
        words.title
      )}
    </button>
  )
}

/** The seal of an event, as far as it is known: a row of the facts. */
export function Seal({ event }: { event: AuditEvent }) {
  const attempt = useSignal(0)
  const place = useSignal<ProvedPlace | undefined>(undefined)
  const isOpen = openEvents.value.has(event.id)
  useSealing(event, isOpen, attempt.value)
  const known = condition.value
  const seal = known && sealOf(known, event.created_at, isOpen)
  const text = (): string => {
    if (place.value) return words.proved(place.value)
    if (seal === undefined) return failure.value ? errorText(failure.value) : words.loading
    return seal === 'within' ? words.within(timeText(known!.sealed_until!, event)) : words[seal]
  }
  return (
    <>
      <dt>{words.seal}</dt>
      <dd class="seal">
        <span role="status">{text()}</span>
        {seal === undefined && failure.value && (
          <button type="button" class="link" onClick={() => attempt.value++}>
            {words.again}
          </button>
        )}
        {seal === 'within' && <Proof event={event} proved={(found) => (place.value = found)} />}
        {known && <Attention />}
      </dd>
    </>
  )
}
