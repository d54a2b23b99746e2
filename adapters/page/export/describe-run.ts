import { formatBytes } from '../data/more-formats.js'
import { texts } from '../ui/texts.js'
import type { ExportRun } from './export-state.js'
import { exportTexts } from './export-texts.js'
import { hasRecords } from './records.js'

/** The written amount: `1,168 of 2,163`, `2,163 events`, or `1.8 MB` if the events cannot be counted. */
export function amountText({ format, state, count, bytes, total, isExact }: ExportRun): string {
  const isDone = state === 'done'
  if (hasRecords(format))
    return isDone || total === undefined
      ? texts.common.events(count)
      : exportTexts.of(count, total, isExact)
  return isDone && isExact && total !== undefined ? texts.common.events(total) : formatBytes(bytes)
}

/** A sentence about the end of a run. */
export function endText(run: ExportRun): string {
  const { format, state, count } = run
  switch (state) {
    case 'running':
    case 'done':
      return exportTexts.saved(amountText(run))
    case 'unavailable':
    case 'refused':
      return exportTexts.noFile[state]
    default:
      return hasRecords(format) ? exportTexts.cut[state](count) : exportTexts.discarded[state]
  }
}
