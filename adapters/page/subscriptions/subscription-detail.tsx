import { useSignal } from '@preact/signals'
import { goToText } from '../data/address.js'
import { formatAgo, formatFull } from '../data/more-formats.js'
import { act, may, remove, type Subscription } from '../data/managing.js'
import { showNote } from '../ui/notes.js'
import { Fact } from './fact.js'
import { FilterText } from './filter-text.js'
import { channels } from './loading.js'
import { managementTexts } from './management-texts.js'
import { ParkedEvents } from './parked-events.js'
import { openPlace } from './place.js'
import { Replay } from './replay.js'
import { ConfirmButton, ErrorLine } from '../managing/running.js'
import { useRunning } from './use-running.js'
import { errorText, lagText, State } from './state-text.js'
import { SubscriptionForm } from './subscription-form.js'
import { useTest } from './test-button.js'

const words = managementTexts.subscriptions

const filled = (...parts: readonly string[]): string => parts.filter(Boolean).join(', ')

function ChannelFact({ name }: { name: string }) {
  const channel = channels.value?.find((one) => one.name === name)
  return (
    <Fact label={words.facts.channel}>
      {channel ? (
        <button type="button" class="link" onClick={() => openPlace('channels', channel.id)}>
          {name}
        </button>
      ) : (
        name
      )}
    </Fact>
  )
}

/** The failure of the subscription, if it has failed. */
function FailureFacts({ subscription }: { subscription: Subscription }) {
  const { last_error: last, attempts, failing_since: since, next_attempt_at: next } = subscription
  const { skipped, skipped_since: skippedSince } = subscription
  return (
    <>
      {last && <Fact label={words.facts.lastError}>{errorText(last)}</Fact>}
      {attempts > 0 && next !== null && (
        <Fact label={words.facts.nextAttempt}>
          {formatFull(next)}{' '}
          <small>
            {filled(words.attempts(attempts), since === null ? '' : words.since(formatAgo(since)))}
          </small>
        </Fact>
      )}
      {skippedSince !== null && (
        <Fact label={words.facts.skipped}>{words.skipped(skipped, formatFull(skippedSince))}</Fact>
      )}
    </>
  )
}

function Facts({ subscription }: { subscription: Subscription }) {
  const { state, channel, filter, cursor, delivered, owner } = subscription
  return (
    <dl class="facts">
      <Fact label={words.facts.state}>
        <State state={state} /> <small>{lagText(subscription)}</small>
      </Fact>
      <ChannelFact name={channel} />
      <Fact label={words.facts.filter}>
        <FilterText filter={filter} />
        <button
          type="button"
          class="link"
          onClick={() => goToText(['range=24h', filter].filter(Boolean).join('&'))}
        >
          {words.showEvents}
        </button>
      </Fact>
      <Fact label={words.facts.delivered}>{managementTexts.eventCount(delivered)}</Fact>
      <Fact label={words.facts.cursor}>
        {formatFull(cursor)} <small>{formatAgo(cursor)}</small>
      </Fact>
      <FailureFacts subscription={subscription} />
      {owner !== null && <Fact label={words.facts.owner}>{owner}</Fact>}
    </dl>
  )
}

/** Actions of the user on the subscription. */
function Actions({ subscription, edit }: { subscription: Subscription; edit: () => void }) {
  const { id, name, state, in_code: isInCode } = subscription
  const running = useRunning()
  const test = useTest('subscriptions', id, running)
  const toggle = state === 'paused' ? 'resume' : 'pause'
  return (
    <>
      <div class="managed-actions" aria-busy={running.isBusy}>
        {may(`subscriptions:${toggle}`) && (
          <button
            type="button"
            class="btn small"
            onClick={() =>
              void running.run(async () => {
                await act('subscriptions', id, toggle)
              })
            }
          >
            {words[toggle]}
          </button>
        )}
        {may('subscriptions:test') && test.button}
        {!isInCode && may('subscriptions:update') && (
          <button type="button" class="btn small" onClick={edit}>
            {managementTexts.edit}
          </button>
        )}
        {!isInCode && may('subscriptions:delete') && (
          <ConfirmButton
            label={managementTexts.remove}
            question={words.removeQuestion(name)}
            act={() =>
              void running.run(async () => {
                await remove('subscriptions', id)
                showNote(managementTexts.removed(name))
                return () => openPlace('subscriptions')
              })
            }
          />
        )}
      </div>
      {isInCode && <p>{managementTexts.inCodeHint}</p>}
      {test.line}
      <ErrorLine error={running.error} />
    </>
  )
}

/** One subscription: its state, and the user's actions on it. */
export function SubscriptionDetail({ subscription }: { subscription: Subscription }) {
  const isEditing = useSignal(false)
  const close = (): void => {
    isEditing.value = false
  }
  if (isEditing.value) return <SubscriptionForm present={subscription} close={close} />
  return (
    <>
      <Facts subscription={subscription} />
      <Actions subscription={subscription} edit={() => (isEditing.value = true)} />
      {may('subscriptions:replay') && <Replay subscription={subscription} />}
      {may('subscriptions:parked') && <ParkedEvents subscription={subscription} />}
    </>
  )
}
