import { inspect } from 'node:util'
import type { LeasedRun } from './rule-state.js'
import type { Rule, Tally } from './task.js'
import { formatTimestamp } from '../event/timestamp.js'

/** Records a system event of the log; resolves once it is kept. */
export type RecordEvent = (type: string, data: object) => Promise<unknown>

const infoType = (target: string): string => `info:data_cleanup:${target}`
export const errorType = (target: string): string => `error:data_cleanup:${target}`

const LOST = 'the run came to no end: its process died, or lost the store'

/** Tells of a run that ended well, or was given up; where there is nothing to tell there is no event. */
export async function tellDone(record: RecordEvent, rule: Rule, tally: Tally): Promise<void> {
  const { analysis } = tally
  if (tally.removed_count === 0 && !analysis) return
  const data = analysis ? { rule: rule.name, ...analysis } : dataOf(rule, tally)
  await record(infoType(rule.target), data)
}

export async function tellFailed(
  record: RecordEvent,
  rule: Rule,
  tally: Tally,
  thrown: unknown,
): Promise<void> {
  const { stack } = Object(thrown) as { stack?: string }
  const fault = { error: messageOf(thrown), ...(stack !== undefined && { backtrace: stack }) }
  await record(errorType(rule.target), { ...fault, ...dataOf(rule, tally) })
}

/** Tells of the run before, which could not tell of itself. */
export async function tellLost(record: RecordEvent, rule: Rule, run: LeasedRun): Promise<void> {
  await record(errorType(rule.target), {
    error: LOST,
    ...dataOf(rule, { removed_count: run.removedCount }),
    started_at: formatTimestamp(run.startedAt),
  })
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : inspect(thrown)
}

function dataOf({ name, filters }: Rule, tally: Tally): object {
  return { rule: name, ...(filters && { filters }), ...tally }
}
