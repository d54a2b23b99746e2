import type { JsonValue } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import { DAY, type Microseconds } from '../event/timestamp.js'
import type { UpdateState } from './state-updates.js'

/**
 * What the processes on one store share about an idempotency key. The first call writes it before
 * anything is appended: so every call with the key appends a draft with the same random bits, by
 * which the store finds an event that another attempt has stored.
 */
export type KeyClaim = {
  readonly fingerprint: string
  readonly suffix: IdSuffix
  readonly claimedAt: Microseconds
  /** When the event became visible; null until a call has noted it. */
  readonly storedAt: Microseconds | null
}

/** Writes the claim unless there is one. Returns the claim in the store, and the store's time. */
export async function claimKey(
  updateState: UpdateState,
  stateKey: string,
  own: Pick<KeyClaim, 'fingerprint' | 'suffix'>,
  signal: AbortSignal,
): Promise<{ readonly claim: KeyClaim; readonly now: Microseconds }> {
  let now: Microseconds = 0
  const take = (present: JsonValue | undefined, time: Microseconds): JsonValue => {
    now = time
    // The store keeps a claim for longer than a day if `saveStored` has written it again.
    const isOver = present === undefined || time >= (present as KeyClaim).claimedAt + DAY
    return isOver ? { ...own, claimedAt: time, storedAt: null } : present
  }
  const claim = await updateState(stateKey, take, signal)
  return { claim: claim as KeyClaim, now }
}

/** Writes into the claim when its event became visible. */
export async function saveStored(
  updateState: UpdateState,
  stateKey: string,
  { suffix, storedAt }: { readonly suffix: IdSuffix; readonly storedAt: Microseconds },
  signal: AbortSignal,
): Promise<void> {
  const complete = (present: JsonValue | undefined): JsonValue | undefined => {
    const claim = present as KeyClaim | undefined
    return claim?.suffix === suffix ? { ...claim, storedAt } : present
  }
  await updateState(stateKey, complete, signal)
}
