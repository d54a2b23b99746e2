import { eventJson } from '../event/body.js'
import { formatTimestamp } from '../event/timestamp.js'
import { LEAVES_PER_ROW, type LedgerState, type SealedEvent } from '../store/ledger.js'
import type { Claims } from './claims.js'
import { sha256OfText } from './sha256.js'
import type { LedgerFinding, LedgerFindingKind } from './verification.js'
import { withFound } from './verify-rows.js'

/* The findings about rows and ranges. Those about single leaves are in verify-rows.ts. */

export const ledgerFinding = (first: number, last: number, reason: string): LedgerFinding => ({
  kind: 'ledger',
  leaves: [first, last],
  reason,
})

/** The finding about a row that is missing, and whose removal no head proves. */
export function lostRow(row: number, { size }: LedgerState, claims: Claims): LedgerFinding {
  const first = row * LEAVES_PER_ROW
  const last = Math.min(size, first + LEAVES_PER_ROW) - 1
  const leaves = `leaves ${first} to ${last}`
  const isStated = [first, last].every((leaf) => claims.isUnproved('removed', leaf))
  return isStated
    ? { kind: 'removed', leaves: [first, last], reason: `${leaves} are missing` }
    : ledgerFinding(first, last, `the ledger has lost ${leaves}; their events cannot be checked`)
}

/**
 * Joins findings about successive leaves that a statement explains which no head proves, or which the ledger has lost. Most of them may be
 * innocent.
 */
export function joinUnexplained(
  findings: readonly LedgerFinding[],
  claims: Claims,
  isLost: boolean,
): LedgerFinding[] {
  const joined: LedgerFinding[] = []
  const lastOf = new Map<LedgerFindingKind, number>()
  const firstLeaf = ({ leaves }: LedgerFinding): number => leaves?.[0] ?? 0
  for (const one of findings.toSorted((a, b) => firstLeaf(a) - firstLeaf(b))) {
    const { kind, leaves } = one
    const canJoin = claims.isUnproved(kind, firstLeaf(one)) || (isLost && kind === 'removed')
    const place = (canJoin ? lastOf.get(kind) : undefined) ?? joined.length
    const before = joined[place]?.leaves
    if (canJoin && leaves && before?.[1] === leaves[0] - 1) {
      const [first, last] = [before[0], leaves[1]]
      const what = kind === 'removed' ? 'are missing' : 'were stored behind sealed ones'
      const reason = `the events of leaves ${first} to ${last} ${what}; no signed statement is left that says why`
      joined[place] = { kind, leaves: [first, last], reason }
      continue
    }
    if (canJoin) lastOf.set(kind, joined.length)
    joined.push(one)
  }
  return joined
}

export const rewritten = (first: number, last: number): LedgerFinding => ({
  kind: 'rewritten',
  leaves: [first, last],
  reason: `some of the leaves ${first} to ${last} are not those that were signed, and the ledger has lost their hashes`,
})

/** The finding about an event among sealed ones that no leaf proves. */
export function unsealed({ event, time }: SealedEvent): LedgerFinding {
  const created_at = formatTimestamp(time)
  const id = event?.id
  const reason = `event ${id ?? `of ${created_at}`} stands among sealed events and has no leaf`
  const finding = { kind: 'unsealed', ...(id !== undefined && { id }), created_at, reason } as const
  return withFound(finding, event && sha256OfText(new Uint8Array(), eventJson(event)))
}
