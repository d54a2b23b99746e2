import {
  type HistoryEntry,
  historyOf,
  type HistoryOptions,
  historyQuery,
  type HistoryResource,
  readResource,
} from '../history/history.js'
import { linkRules } from '../event/links.js'
import type { LogsContext } from './named-logs.js'
import { pagesAcross } from './pages-across.js'
import { LOGS_UNTIL_OPTIONS, type LogsUntilOptions } from './range.js'
import type { OptionNames } from '../options.js'

/** One change of a resource, and the key of the log that has it. */
export interface LogHistoryEntry extends HistoryEntry {
  readonly log: string
}

export type LogsHistoryOptions = LogsUntilOptions & Pick<HistoryOptions, 'asOf'>

export const LOGS_HISTORY_OPTIONS: OptionNames<LogsHistoryOptions> = {
  ...LOGS_UNTIL_OPTIONS,
  asOf: true,
}

/** The history of a resource whose changes are in several logs. */
export async function* historyAcross(
  context: LogsContext,
  resource: HistoryResource,
  { asOf, ...options }: LogsHistoryOptions,
): AsyncGenerator<LogHistoryEntry, void, void> {
  const found = readResource(resource, linkRules(context.links))
  yield* historyOf(pagesAcross(context, historyQuery(found, { asOf }), options), found)
}
