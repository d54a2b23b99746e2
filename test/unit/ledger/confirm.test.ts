import { expect, it } from 'vitest'
import { confirmed } from '../../../src/ledger/confirm.js'
import type { LedgerFinding, LedgerVerification } from '../../../src/ledger/verification.js'

const verification = (findings: readonly LedgerFinding[]): LedgerVerification => ({
  result: findings.length > 0 ? 'tampered' : 'intact',
  size: 10,
  sealedUntil: undefined,
  provedSize: 10,
  since: undefined,
  events: 1,
  waiting: 0,
  removed: 0,
  pending: 0,
  findings,
})

const removed = (created_at: string, leaf: number): LedgerFinding => ({
  kind: 'removed',
  created_at,
  leaves: [leaf, leaf],
  reason: 'missing',
})

const rewritten = (first: number, last: number): LedgerFinding => ({
  kind: 'rewritten',
  leaves: [first, last],
  reason: 'other leaves',
})

const head: LedgerFinding = { kind: 'head', reason: 'changed' }

it.each([
  ['the same event', [removed('a', 1)], [removed('a', 1)], 1],
  ['other events', [removed('a', 1)], [removed('b', 2)], 0],
  ['a range that has grown', [rewritten(3, 8)], [rewritten(3, 12)], 1],
  ['other ranges', [rewritten(3, 8)], [rewritten(9, 12)], 0],
  ['the head', [head], [head], 1],
  ['nothing in the end', [head], [], 0],
])('%s', (_, first, second, count) => {
  const found = confirmed(verification(first), verification(second))
  expect(found.findings).toHaveLength(count)
  expect(found.result).toBe(count > 0 ? 'tampered' : 'intact')
})
