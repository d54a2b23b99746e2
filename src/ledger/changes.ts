import { AuditLogError } from '../errors.js'
import type { JsonObject } from '../event/event.js'
import { type OptionNames, requireOptions } from '../options.js'
import type { LedgerState } from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { statementEntry } from './entry.js'
import { parseNote } from './note.js'
import { openHead } from './open-head.js'
import type { LedgerFinding } from './verification.js'

/* The options of the calls that add statements of the operator. */

export interface ReasonOptions extends WaitOptions {
  /** A sentence for auditors. It is part of the ledger for ever. */
  readonly reason: string
}

export interface RestartOptions extends ReasonOptions {
  /** The largest signed note of the ledger that is replaced, as it was kept outside. @default the head in the log */
  readonly head?: string | undefined
}

const REASON_OPTIONS: OptionNames<ReasonOptions> = { signal: true, reason: true }
const RESTART_OPTIONS: OptionNames<RestartOptions> = { ...REASON_OPTIONS, head: true }

const MAX_REASON = 10_000

const invalid = (message: string): AuditLogError => new AuditLogError('INVALID_OPTION', message)

function checkReason({ reason }: ReasonOptions, method: string): void {
  const isText = typeof reason === 'string' && reason.trim() !== '' && reason.isWellFormed()
  if (!isText || reason.length > MAX_REASON)
    throw invalid(`reason of ${method} must be a text of 1 to ${MAX_REASON} characters`)
}

/** The members of a finding by which another verification recognizes it. */
export const identityOfFinding = ({
  kind,
  id,
  created_at,
  leaves,
  found,
}: LedgerFinding): JsonObject => ({
  kind,
  ...(id !== undefined && { id }),
  ...(created_at !== undefined && { created_at }),
  ...(leaves !== undefined && { leaves: [...leaves] }),
  ...(found !== undefined && { found }),
})

export const keyOfFinding = (finding: LedgerFinding): string =>
  JSON.stringify(identityOfFinding(finding))

/** The findings of an acknowledgement. Throws `INVALID_OPTION` for anything but a list of findings of a verification. */
export function readFindings(
  given: readonly LedgerFinding[],
  options: ReasonOptions,
): JsonObject[] {
  requireOptions(options, REASON_OPTIONS, 'acknowledge')
  checkReason(options, 'acknowledge')
  const isFinding = (one: unknown): boolean =>
    typeof (one as LedgerFinding | null)?.kind === 'string'
  if (!Array.isArray(given) || given.length === 0 || !given.every(isFinding))
    throw invalid('findings must be a list of findings of a verification, with at least one')
  const findings = (given as readonly LedgerFinding[]).map(identityOfFinding)
  try {
    statementEntry({ kind: 'acknowledged', findings, reason: options.reason })
  } catch (cause) {
    throw new AuditLogError('INVALID_OPTION', 'findings must be those of a verification', { cause })
  }
  return findings
}

/** Throws `INVALID_OPTION`. */
export function checkRestart(given: RestartOptions): void {
  requireOptions(given, RESTART_OPTIONS, 'restart')
  checkReason(given, 'restart')
  if (given.head === undefined) return
  try {
    parseNote(given.head)
  } catch (cause) {
    throw new AuditLogError('INVALID_OPTION', 'head must be a signed note', { cause })
  }
}

/** The largest note of the ledger that a restart replaces. Throws `INVALID_OPTION` if the key is the one of that ledger. */
export async function replacedNote(
  { head }: RestartOptions,
  state: LedgerState,
  vkey: string,
): Promise<string> {
  const notes = [head, state.head].filter((note) => note !== undefined)
  for (const note of notes) {
    const isOurs = await openHead(note, vkey).then(
      () => true,
      () => false,
    )
    if (isOurs)
      throw invalid(
        'the ledger is signed by this key: restart needs a new origin and a new key, as one key must not sign two trees',
      )
  }
  return notes[0] ?? ''
}
