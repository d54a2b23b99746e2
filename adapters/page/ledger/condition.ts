import type { Level } from '../../../src/event/level.js'

/* The ledger as `GET <api>/ledger` describes it, and what follows from that. */

export interface Verification {
  readonly at: string
  readonly result: 'intact' | 'self-consistent' | 'tampered'
  readonly event_count: number
  readonly finding_count: number
}

export interface Anchor {
  readonly name: string
  readonly size: number
  /** Time of the last publication; `null` before the first. */
  readonly at: string | null
  readonly error?: string
}

export interface Condition {
  readonly state: 'sealing' | 'standby' | 'diverged' | 'failed' | 'no-signer'
  /** Number of leaves. */
  readonly size: number
  readonly sealed_until: string | null
  /** Number of events that wait to be sealed, up to {@link MAX_WAITING}. */
  readonly waiting: number
  /** The `created_at` of the oldest of them. */
  readonly waiting_since: string | null
  readonly origin: string
  readonly vkey: string
  readonly verification: Verification | null
  /** The anchors of the process that has answered. */
  readonly anchors: readonly Anchor[]
  /** Time of the answer on the server, in milliseconds. */
  readonly now: number
}

/** The server does not count further. */
export const MAX_WAITING = 10_000

/** Time for which events may wait. */
const MAX_WAIT_MS = 60_000

/** State of one event. `within`: its time is one up to which the log is sealed. An event that was stored late may still wait. */
export type Seal = 'open' | 'waiting' | 'within'

/** Both times are RFC 3339 in UTC with microseconds, so their texts have the order of the times. */
export function sealOf(
  { sealed_until: end }: Pick<Condition, 'sealed_until'>,
  createdAt: string,
  isOpen: boolean,
): Seal {
  if (isOpen) return 'open'
  return end !== null && createdAt <= end ? 'within' : 'waiting'
}

/** A fault of the ledger. `about` names an anchor, a time or a number. */
export interface Fault {
  readonly kind: 'diverged' | 'failed' | 'tampered' | 'anchor' | 'behind'
  readonly level: Extract<Level, 'error' | 'warn'>
  readonly about: string
  readonly detail: string
}

/** The faults of the ledger, the worst first. */
export function faultsOf(condition: Condition): readonly Fault[] {
  const { state, verification, anchors, waiting_since: since, now } = condition
  const faults: Fault[] = []
  if (state === 'diverged') faults.push({ kind: state, level: 'error', about: '', detail: '' })
  if (verification?.result === 'tampered')
    faults.push({
      kind: 'tampered',
      level: 'error',
      about: verification.at,
      detail: String(verification.finding_count),
    })
  if (state === 'failed') faults.push({ kind: state, level: 'warn', about: '', detail: '' })
  for (const { name, error } of anchors)
    if (error !== undefined)
      faults.push({ kind: 'anchor', level: 'warn', about: name, detail: error })
  if (since !== null && now - Date.parse(since) > MAX_WAIT_MS)
    faults.push({ kind: 'behind', level: 'warn', about: since, detail: '' })
  return faults
}

/** The leaf of the event and the number of leaves, as its proof states them: https://c2sp.org/tlog-proof. */
export interface ProvedPlace {
  readonly index: number
  readonly size: number
}

/** The place in the text of a proof; `undefined` if the text is no proof. */
export function placeOf(proof: string): ProvedPlace | undefined {
  const [, index, size] =
    /^c2sp\.org\/tlog-proof@v1\n(?:extra [^\n]*\n)?index (\d+)\n(?:[^\n]+\n)*\n[^\n]+\n(\d+)\n/.exec(
      proof,
    ) ?? []
  return index === undefined ? undefined : { index: Number(index), size: Number(size) }
}

const LONGEST_S = 60

/** Time until the next attempt in milliseconds, by the header `Retry-After`. Anything but a number of seconds counts as one second. */
export const retryMsOf = (header: string | null): number =>
  Math.min(Math.max(Number(header) || 1, 1), LONGEST_S) * 1000
