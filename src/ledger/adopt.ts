import { AuditLogError } from '../errors.js'
import type { Microseconds } from '../event/timestamp.js'
import type { SealedEvent } from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { splitHashes } from './edge.js'
import { lateLeaves } from './event-leaves.js'
import { seedsFor } from './progress.js'
import { provedRow } from './proved-row.js'
import type { Round } from './sealer.js'
import { beginningOf } from './beginning.js'

/* Seals events that were in the log before it had a ledger. They become late leaves, with a statement in the same transaction. */

/** Events that are read and sealed at once. */
const BATCH = 512

/** Time up to which events stood in the log before the ledger began, as the first leaves say. */
async function beganAt(round: Round, options: WaitOptions): Promise<Microseconds> {
  const { ledger, progress } = round
  const row = await provedRow(ledger, progress, 0, options)
  const first = row && (await ledger.statements(0, 2, options))
  const began = first && beginningOf(splitHashes(row.hashes), first)
  if (began !== undefined) return began
  throw new AuditLogError('LEDGER_DIVERGED', 'the first leaf of the ledger was changed')
}

/**
 * Seals the next events from this time on. Resolves to their number, and to the time from which to go on; `undefined` at the end.
 * Rejects with `DAMAGED` for an event that cannot be read.
 */
export async function adoptSome(
  round: Round,
  from: Microseconds,
  options: WaitOptions,
): Promise<{ readonly adopted: number; readonly next: Microseconds | undefined }> {
  const { ledger } = round
  const to = await beganAt(round, options)
  const events = from > to ? [] : await ledger.events({ from, to, limit: BATCH }, options)
  const known = await ledger.leavesOf(
    events.map(({ time }) => time),
    options,
  )
  const missing = events.filter((_, i) => known[i] === undefined)
  await seal(round, missing)
  return {
    adopted: missing.length,
    next: events.length < BATCH ? undefined : events.at(-1)!.time + 1,
  }
}

async function seal(round: Round, events: readonly SealedEvent[]): Promise<void> {
  if (events.length === 0) return
  const { size } = round.progress.state
  const seeds = seedsFor(round.progress, events.length + 1)
  const leaves = lateLeaves(events, { leaf: size, seeds })
  const ranges = [[size, size + events.length - 1]] as const
  await round.appendWith(leaves, [{ kind: 'adopted', ranges }], {
    seeds,
    adopted: events.map(({ time }, i) => ({ time, leaf: size + i })),
  })
}
