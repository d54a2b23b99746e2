import type { LedgerFinding, LedgerResult, LedgerVerification } from './verification.js'

export function resultOf(findings: readonly LedgerFinding[], provedSize: number): LedgerResult {
  if (findings.some(({ acknowledged }) => acknowledged === undefined)) return 'tampered'
  return provedSize > 0 ? 'intact' : 'self-consistent'
}

const placeOf = ({ kind, created_at = '' }: LedgerFinding): string => `${kind} ${created_at}`

const overlap = (a: LedgerFinding['leaves'], b: LedgerFinding['leaves']): boolean =>
  a === undefined || b === undefined || (a[0] <= b[1] && b[0] <= a[1])

/**
 * The second of two verifications with the findings that the first one has too. Events may have been removed, and statements signed, while one of
 * them read the log; what was changed shows in both.
 */
export function confirmed(
  first: LedgerVerification,
  second: LedgerVerification,
): LedgerVerification {
  const known = new Map<string, LedgerFinding[]>()
  for (const one of first.findings) {
    const same = known.get(placeOf(one))
    if (same) same.push(one)
    else known.set(placeOf(one), [one])
  }
  const findings = second.findings.filter((one) =>
    known.get(placeOf(one))?.some(({ leaves }) => overlap(leaves, one.leaves)),
  )
  return { ...second, findings, result: resultOf(findings, second.provedSize) }
}
