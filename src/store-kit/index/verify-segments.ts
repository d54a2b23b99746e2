import type { VerifyOptions } from '../../store/verification.js'
import { type Findings, type ReportedSegment, segmentDamage } from '../damages.js'
import { DamagedSegment, ListKind } from './segment-source.js'

export interface SegmentVerification<Row extends ReportedSegment> {
  /** The segments that queries read now, and the segments that are marked as damaged. */
  readonly load: () => Promise<{
    readonly segments: readonly Row[]
    readonly damaged: readonly Row[]
  }>
  /** Reads the whole segment. Rejects with `DamagedSegment`. */
  readonly verify: (row: Row) => Promise<void>
  readonly findings: Findings
  readonly onDamaged: (damaged: DamagedSegment) => void
}

/** Verifies each segment once, also segments that are built meanwhile, and returns their number. */
export async function verifySegments<Row extends ReportedSegment>(
  { load, verify, findings, onDamaged }: SegmentVerification<Row>,
  { onProgress }: VerifyOptions,
): Promise<number> {
  const seen = new Set<number>()
  for (;;) {
    const { segments, damaged } = await load()
    for (const row of damaged.filter(({ id }) => !seen.has(id)))
      findings.found(
        segmentDamage(row, row.isTrusted ? 'it is being built anew' : 'its row is damaged'),
      )
    const row = segments.find(({ id }) => !seen.has(id))
    if (!row) return seen.size
    onProgress?.({ step: 'index', done: seen.size, total: segments.length })
    seen.add(row.id)
    try {
      await verify(row)
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      // A segment that was merged meanwhile is no longer read.
      if (!(await load()).segments.some(({ id }) => id === row.id)) continue
      findings.found(segmentDamage(row, error.message))
      onDamaged(error)
    }
  }
}

/** True if a list of this kind is only in segments whose row says that they have partial events. */
export const isPartialKind = (kind: number): boolean =>
  kind === ListKind.partial ||
  kind === ListKind.otherNames ||
  kind === ListKind.others ||
  kind === ListKind.partialTexts
