import { pause } from '../async/pause.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { throwIfAborted } from '../errors.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import { eventId, suffixSource } from '../event/event-id.js'
import { formatTimestamp } from '../event/timestamp.js'
import type { WaitOptions } from '../store/store.js'
import { type Attempted, attemptDelivery, type DeliveryTarget } from './attempt.js'
import { DeliveryError } from './channel.js'
import type { TestResult } from './notification-channel.js'

export const TEST_TYPE = 'daybook:test'

const TIMEOUT_MS = 30_000
const nextSuffix = suffixSource()

/** An event that is not stored. */
function testEvent(attributes: JsonObject): AuditEvent {
  const now = Date.now() * 1000
  return {
    id: eventId(now, nextSuffix()),
    created_at: formatTimestamp(now),
    username: null,
    system: true,
    type: TEST_TYPE,
    source: null,
    attributes,
  }
}

/** Delivers one event that is not stored. Reports of the channel are not recorded. Rejects with `ABORTED`. */
export async function testDelivery(
  target: DeliveryTarget,
  attributes: JsonObject,
  { signal }: WaitOptions,
): Promise<TestResult> {
  using wait = timeoutSignal(TIMEOUT_MS, signal)
  const stop = new AbortController()
  // A function of the host may ignore its signal.
  const late = pause(TIMEOUT_MS, AbortSignal.any([stop.signal, wait.signal])).then(timedOut)
  const attempt = attemptDelivery(target, [testEvent(attributes)], 1, wait.signal)
  const { error, duration_ms } = await Promise.race([attempt, late]).finally(() => stop.abort())
  throwIfAborted(signal)
  return {
    accepted: !error,
    status: error?.status ?? null,
    fault: error?.kind ?? null,
    duration_ms,
  }
}

const timedOut = (): Attempted => ({
  error: new DeliveryError('timeout', 'the channel did not answer in time'),
  reports: [],
  duration_ms: TIMEOUT_MS,
})
