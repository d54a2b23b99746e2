import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { openEvent } from '../data/address.js'
import { formatShort } from '../data/format.js'
import { listParked, may, type Parked, resultOf, type Subscription } from '../data/managing.js'
import { showNote } from '../ui/notes.js'
import { type Redriven, managementTexts } from './management-texts.js'
import { ConfirmButton, ErrorLine } from '../managing/running.js'
import { useRunning } from './use-running.js'

const words = managementTexts.parked

const SHOWN = 50

interface ParkedItemProps {
  readonly event: Parked
  readonly redrive: () => void
  readonly discard: () => void
}

function ParkedItem({ event, redrive, discard }: ParkedItemProps) {
  const { id, created_at: time, attempts, error } = event
  return (
    <li>
      <button type="button" class="managed-name" title={words.open} onClick={() => openEvent(id)}>
        {formatShort(new Date(time))}
      </button>
      <small>{words.attempts(attempts)}</small>
      <small>{error}</small>
      <div class="managed-actions">
        {may('subscriptions:redrive') && (
          <button type="button" class="link" onClick={redrive}>
            {words.redrive}
          </button>
        )}
        {may('subscriptions:discard') && (
          <button type="button" class="link" onClick={discard}>
            {words.discard}
          </button>
        )}
      </div>
    </li>
  )
}

/** The parked events of a subscription. Reloads them when their number changes. */
function useParked(id: string, count: number) {
  const parked = useSignal<readonly Parked[] | undefined>(undefined)
  const error = useSignal<Error | undefined>(undefined)
  useEffect(() => {
    let isOld = false
    const load = async (): Promise<void> => {
      try {
        const read = await listParked(id, SHOWN)
        if (isOld) return
        parked.value = read
        error.value = undefined
      } catch (failure) {
        if (!isOld) error.value = failure as Error
      }
    }
    void load()
    return () => {
      isOld = true
    }
  }, [id, count])
  return { parked: parked.value, error: error.value }
}

/** The events that were set aside, with actions on them. */
export function ParkedEvents({
  subscription: { id, parked: count },
}: {
  subscription: Subscription
}) {
  const { parked, error } = useParked(id, count)
  const running = useRunning()
  const redrive = (which: 'all' | readonly string[]): void =>
    void running.run(async () => {
      const result = await resultOf<Redriven>('subscriptions', id, 'redrive', { which })
      showNote(words.redriven(result))
    })
  const discard = (which: 'all' | readonly string[]): void =>
    void running.run(async () => {
      const result = await resultOf<{ discarded: number }>('subscriptions', id, 'discard', {
        which,
      })
      showNote(words.discarded(result.discarded))
    })
  return (
    <section class="section" aria-label={words.title} aria-busy={running.isBusy}>
      <h2>
        {words.title} <span class="number">{count}</span>
      </h2>
      <ErrorLine error={running.error ?? error} />
      {count === 0 ? (
        <p>{words.none}</p>
      ) : (
        <>
          {parked && parked.length < count && <p>{words.first(parked.length)}</p>}
          <ul class="managed-list">
            {parked?.map((event) => (
              <ParkedItem
                key={event.id}
                event={event}
                redrive={() => redrive([event.id])}
                discard={() => discard([event.id])}
              />
            ))}
          </ul>
          <div class="managed-actions">
            {may('subscriptions:redrive') && (
              <button type="button" class="btn small" onClick={() => redrive('all')}>
                {words.redriveAll}
              </button>
            )}
            {may('subscriptions:discard') && (
              <ConfirmButton
                label={words.discardAll}
                question={words.discardQuestion(count)}
                act={() => discard('all')}
              />
            )}
          </div>
        </>
      )}
    </section>
  )
}
