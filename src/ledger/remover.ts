import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonValue } from '../event/event.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { toBase64 } from './base64.js'
import type { Statement } from './entry.js'
import { type FoundLeaves, findLeaves, rangesOf, removeLeaves, type SealedLeaf } from './removal.js'
import type { Round, Sealer } from './sealer.js'

/** The cleaning rules of events and the holds that apply, as the configuration has them. */
export interface RemovalPolicy {
  readonly rules: readonly JsonValue[]
  readonly holds: readonly JsonValue[]
}

/** The events that one run of a rule removes. */
export interface RuleRemoval {
  /** Latest time for which the rule may be due: the clock of this process, not of the database. */
  readonly now: Microseconds
  /** The events that are as they were sealed. Events that are not sealed yet are in neither part of the result. */
  select(events: readonly AuditEvent[], options: WaitOptions): Promise<FoundLeaves>
  /** Seals and signs the removal, then removes the events, and resolves to their number. `file`: SHA-256 of the archive file that has them. */
  remove(
    leaves: readonly SealedLeaf[],
    removed: { readonly cutoff: string; readonly file?: Uint8Array | undefined },
    options: WaitOptions,
  ): Promise<number>
  /** Frees what removed events before this time have left, if this process still seals the log. */
  release(before: Microseconds, options: WaitOptions): Promise<void>
}

/** Removes the events of a log with a ledger. */
export interface Remover {
  /** False if the log has a ledger that another process seals. */
  canRemove(options: WaitOptions): Promise<boolean>
  /** Seals the policy if it is another one than before. Resolves to `undefined` if this process seals nothing; then the store decides. */
  begin(rule: string, policy: RemovalPolicy, options: WaitOptions): Promise<RuleRemoval | undefined>
  /** The next run seals its policy again: the ledger begins anew. */
  forgetPolicy(): void
}

/** Removes sealed events by their ids, and resolves to their number. */
export async function removeIds(
  store: EventStore,
  sealer: Sealer,
  ids: readonly string[],
  options: WaitOptions,
): Promise<number> {
  const events: AuditEvent[] = []
  const open = new Set((await store.openEvents(options)).map(({ id }) => id))
  for (const id of new Set(ids)) {
    const event = open.has(id) ? undefined : await store.get(id, options)
    if (event) events.push(event)
  }
  return sealer.run(async (round) => {
    const { found, changed } = await findLeaves(
      round,
      await storedOnes(round, events, options),
      options,
    )
    if (changed > 0) throw changedEvents(changed)
    const reason = { rule: null, policy: null, cutoff: null, archive: null }
    return removeLeaves(
      round,
      found.map(({ sealed }) => sealed),
      { reason },
      options,
    )
  }, options)
}

/** The events with the JSON text that is stored. */
async function storedOnes(
  { ledger }: Round,
  events: readonly AuditEvent[],
  options: WaitOptions,
): Promise<readonly AuditEvent[]> {
  const times = events.map(({ created_at }) => parseTimestamp(created_at)!)
  return (await ledger.eventsAt(times, options)).flatMap(({ event }) => event ?? [])
}

/** The error after a removal that has left out events. */
export const changedEvents = (count: number): AuditLogError =>
  new AuditLogError(
    'DAMAGED',
    `${count} ${count === 1 ? 'event is' : 'events are'} not as sealed, and not removed: verify the ledger`,
  )

export function createRemover(store: EventStore, sealer: Sealer | undefined): Remover {
  const { ledger } = store
  /** The last policy that this process has sealed; another process may have sealed others since. */
  let sealed: { readonly text: string; readonly leaf: number } | undefined

  /** The policy is sealed by this process, so that a removal never names a leaf that only the tables know. */
  const policyLeaf = async (
    by: Sealer,
    policy: RemovalPolicy,
    options: WaitOptions,
  ): Promise<number> => {
    const text = JSON.stringify(policy)
    if (sealed?.text === text) return sealed.leaf
    const leaf = await by.run((round) => round.state({ kind: 'policy', ...policy }), options)
    sealed = { text, leaf }
    return leaf
  }

  return {
    async canRemove(options) {
      if (!ledger) return true
      // Fails if the ledger has diverged, and then nothing may be removed either.
      if (sealer) return sealer.seal(options).catch(() => false)
      return (await ledger.state(options)) === undefined
    },
    forgetPolicy() {
      sealed = undefined
    },
    async begin(rule, policy, options) {
      if (!sealer) return undefined
      await policyLeaf(sealer, policy, options)
      return {
        now: store.clock?.() ?? Date.now() * 1000,
        select: (events, given) => sealer.run((round) => findLeaves(round, events, given), given),
        async release(before, given) {
          if (await sealer.seal(given)) await ledger!.release(before, given)
        },
        async remove(leaves, { cutoff, file }, given) {
          if (leaves.length === 0) return 0
          const archive = file ? toBase64(file) : null
          const ranges = rangesOf(leaves.map(({ leaf }) => leaf))
          const first: Statement[] =
            archive === null ? [] : [{ kind: 'archived', file: archive, ranges }]
          const reason = { rule, policy: await policyLeaf(sealer, policy, given), cutoff, archive }
          return sealer.run((round) => removeLeaves(round, leaves, { reason, first }, given), given)
        },
      }
    },
  }
}
