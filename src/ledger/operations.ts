import { AuditLogError } from '../errors.js'
import type { Microseconds } from '../event/timestamp.js'
import { checkOptions } from '../options.js'
import { noLedger } from '../store/ledger-errors.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import { adoptSome } from './adopt.js'
import {
  checkRestart,
  readFindings,
  type ReasonOptions,
  replacedNote,
  type RestartOptions,
} from './changes.js'
import type { LedgerSettings } from './options.js'
import { type Remover, removeIds } from './remover.js'
import type { Sealer } from './sealer.js'
import type { LedgerFinding } from './verification.js'

const ADOPT = 'info:audit_log:adopt'
const RESTART = 'info:audit_log:restart'
const ACKNOWLEDGE = 'info:audit_log:acknowledge'

/** Records an event of the log about itself. */
export type RecordOwn = (type: string, data: object) => Promise<unknown>

export interface LedgerOperations {
  /**
   * Removes events by their ids, as cleaning does: seals and signs the removal first. Resolves to the number of removed events; unknown ids
   * and events that are not sealed yet are skipped. Rejects with `SIGNER_REQUIRED` unless this process seals the log, and with `DAMAGED`, without a removal, if an event is
   * not the one that was sealed. Cleaning rules and holds are not asked. If the call fails or the process ends, events may be left; repeat it.
   */
  remove(ids: readonly string[], options?: WaitOptions): Promise<number>
  /**
   * Seals the events that were in the log before it had this ledger, as they are now, and resolves to their number. Takes some 50 microseconds an event. Repeat it
   * after an error. Rejects with `SIGNER_REQUIRED` unless this process seals the log, and `DAMAGED` for an event that cannot be read.
   */
  adopt(options?: WaitOptions): Promise<number>
  /**
   * Replaces a ledger that no longer fits the log, as after a restored backup, by a new one with another origin and another key. Its first entry has the reason and
   * the largest signed note of the other one. Events of the past are not in it until they are adopted. Rejects with `SIGNER_REQUIRED`
   * without a signer, and with `INVALID_OPTION` without a reason, and if the ledger is signed by the key of this log.
   */
  restart(options: RestartOptions): Promise<void>
  /**
   * Seals that findings are explained. Verifications still list them, with the reason, and no longer count them. A finding comes back if something else is found
   * there. Rejects with `SIGNER_REQUIRED` unless this process seals the log, and with `INVALID_OPTION`.
   */
  acknowledge(findings: readonly LedgerFinding[], options: ReasonOptions): Promise<void>
}

export interface OperationsContext {
  /** Throws `NO_LEDGER` and `SIGNER_REQUIRED`. */
  readonly sealer: () => Sealer
  readonly remover: Remover
  readonly record: RecordOwn
}

/** The calls of operators that change the ledger. */
export function createOperations(
  store: EventStore,
  settings: LedgerSettings | undefined,
  { sealer, remover, record }: OperationsContext,
): LedgerOperations {
  return {
    async remove(ids, options = {}) {
      checkOptions(options, WAIT_OPTIONS, 'remove')
      if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
        throw new AuditLogError('INVALID_OPTION', 'ids must be a list of ids of events')
      return removeIds(store, sealer(), ids, options)
    },
    async adopt(options = {}) {
      checkOptions(options, WAIT_OPTIONS, 'adopt')
      const by = sealer()
      let count = 0
      for (let from: Microseconds | undefined = 0; from !== undefined;) {
        const start: Microseconds = from
        const { adopted, next } = await by.run((round) => adoptSome(round, start, options), options)
        count += adopted
        from = next
      }
      await record(ADOPT, { count })
      return count
    },
    async restart(options) {
      checkRestart(options)
      const by = sealer()
      const state = await store.ledger!.state(options)
      if (!state) throw noLedger()
      const newest = await replacedNote(options, state, settings!.vkey)
      const { reason } = options
      await by.restart({ before: state, newest, size: state.size, reason }, options)
      remover.forgetPolicy()
      await record(RESTART, { origin: settings!.origin, reason, size: state.size })
    },
    async acknowledge(given, options) {
      const findings = readFindings(given, options)
      const { reason } = options
      const by = sealer()
      await by.run((round) => round.state({ kind: 'acknowledged', findings, reason }), options)
      await record(ACKNOWLEDGE, { count: findings.length, reason })
    },
  }
}
