import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import type { LedgerStatement } from '../store/ledger.js'
import { readStatement } from './entry.js'
import { leafHash } from './tree.js'
import { areEqual } from './web-crypto.js'

/**
 * Time after which the ledger seals events, as its first leaf says, or the second if the ledger continues another one. `undefined` if these
 * leaves were changed.
 */
export function beginningOf(
  hashes: readonly Uint8Array[],
  statements: readonly LedgerStatement[],
): Microseconds | undefined {
  for (const { leaf, entry } of statements) {
    const hash = leaf < 2 ? hashes[leaf] : undefined
    const statement = hash && areEqual(hash, leafHash(entry)) ? readStatement(entry) : undefined
    if (statement?.kind === 'began') return parseTimestamp(statement.after)
  }
  return undefined
}
