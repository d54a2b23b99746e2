import { inspect } from 'node:util'
import type { LeasedRun } from './rule-state.js'
import type { RecordEvent, Rule, RunTotals } from './task.js'
import { formatTimestamp } from '../event/timestamp.js'
import { isError } from '../event/realm.js'

const infoType = (target: string): string => `info:data_cleanup:${target}`
export const errorType = (target: string): string => `error:data_cleanup:${target}`

const LOST_RUN = 'the run did not end: its process died, or lost the store'

/** Records a run that succeeded or was aborted, if it removed or analysed something. */
export async function recordRun(record: RecordEvent, rule: Rule, totals: RunTotals): Promise<void> {
  if (totals.removed_count === 0 && !totals.analysis) return
  await record(infoType(rule.target), dataOf(rule, totals))
}

/** Records a run that failed. */
export async function recordFailedRun(
  record: RecordEvent,
  rule: Rule,
  totals: RunTotals,
  thrown: unknown,
): Promise<void> {
  const { stack } = Object(thrown) as { stack?: string }
  const fault = { error: messageOf(thrown), ...(stack !== undefined && { backtrace: stack }) }
  await record(errorType(rule.target), { ...fault, ...dataOf(rule, totals) })
}

/** Records a previous run that did not end. */
export async function recordLostRun(
  record: RecordEvent,
  rule: Rule,
  run: LeasedRun,
): Promise<void> {
  await record(errorType(rule.target), {
    error: LOST_RUN,
    ...dataOf(rule, { removed_count: run.removedCount }),
    started_at: formatTimestamp(run.startedAt),
  })
}

export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : inspect(thrown)
}

/** Has `filters` and `removed_count` for every target. */
function dataOf({ name, filters }: Rule, { analysis, ...totals }: RunTotals): object {
  return { rule: name, filters, ...totals, ...analysis }
}
