import { setMaxListeners } from 'node:events'
import { AuditLogError, throwIfAborted } from '../errors.js'
import { bothOf, type EventQuery, type Grouping } from '../filter/ast.js'
import { compareText } from '../filter/values.js'
import { parseVisible, type Visible } from '../filter/visible-filter.js'
import { checkKey, type LogStores } from '../store/log-stores.js'
import {
  type EventPage,
  type EventStore,
  type ListOptions,
  WAIT_OPTIONS,
  type WaitOptions,
} from '../store/store.js'
import type { AuditEvent } from '../event/event.js'
import type { LinkTable } from '../event/links.js'
import type { OptionNames } from '../options.js'

/** An event, and the key of the log that it is from. */
export interface LogEvent {
  readonly log: string
  readonly event: AuditEvent
}

/** The logs that a call reads, and the visible events of each. */
export interface LogsOptions extends WaitOptions {
  /** Keys of the logs; any number, each counts once. @default all logs */
  readonly logs?: Iterable<string> | undefined
  /**
   * Returns the filter of the events of a log that the reader may see, like the option `visible` of the HTTP
   * endpoints. @default everything
   */
  readonly visible?: ((log: string) => Visible) | undefined
}

export const LOGS_OPTIONS: OptionNames<LogsOptions> = { ...WAIT_OPTIONS, logs: true, visible: true }

/** A further filter for the events of each log. */
export type BoundOf = (log: string) => Grouping | undefined

/** The parts of a log that reading across logs uses. */
export interface ReadLog {
  readonly store: EventStore
  list(query: EventQuery, options?: ListOptions): Promise<EventPage>
}

/** The parts of several logs that reading across them uses. */
export interface LogsContext {
  readonly stores: Pick<LogStores, 'keys' | 'has'>
  readonly get: (key: string) => ReadLog
  /** The link attributes of all logs. */
  readonly links: LinkTable
}

/** One of the logs of a call. */
export interface NamedLog {
  readonly key: string
  /** An open log takes some 200 KB, so do not keep the result. */
  readonly log: () => ReadLog
  /** Filter of the events of the log that the call may read; `undefined` means all. */
  readonly visible: Grouping | undefined
}

/** Number of logs that a call reads at a time. */
export const GROUP_SIZE = 50
const KEYS_PAGE = 1000

export const unknownLog = (key: string): AuditLogError =>
  new AuditLogError('UNKNOWN_LOG', `there is no log ${JSON.stringify(key)}`, { parameter: 'logs' })

/** Returns the error with the key of the log in its message. Aborts are returned unchanged. */
export function inLog(key: string, error: unknown): unknown {
  if (!(error instanceof AuditLogError) || error.code === 'ABORTED') return error
  const { code, message, parameter, pointer, suggestion } = error
  return new AuditLogError(code, `log ${JSON.stringify(key)}: ${message}`, {
    parameter,
    pointer,
    suggestion,
    cause: error,
  })
}

/** The items in groups, in their order. */
function* cut<Item>(items: readonly Item[]): Generator<readonly Item[], void, void> {
  for (let at = 0; at < items.length; at += GROUP_SIZE) yield items.slice(at, at + GROUP_SIZE)
}

/** The keys of all logs, in groups. */
async function* allKeys(
  { stores }: LogsContext,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly string[], void, void> {
  let after: string | undefined
  for (;;) {
    const keys = await stores.keys({ after, limit: KEYS_PAGE, signal })
    yield* cut(keys)
    if (keys.length < KEYS_PAGE) return
    after = keys.at(-1)
  }
}

/** The given keys in groups. Throws `UNKNOWN_LOG` for a key without a log. */
async function* givenKeys(
  { stores }: LogsContext,
  given: Iterable<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly string[], void, void> {
  const keys = new Set(given)
  for (const key of keys) checkKey(key)
  for (const group of cut([...keys].toSorted(compareText))) {
    const exist = await Promise.all(group.map((key) => stores.has(key, { signal })))
    const missing = group.find((_, i) => !exist[i])
    if (missing !== undefined) throw unknownLog(missing)
    yield group
  }
}

/** The logs in the order of their keys, in groups. Rejects with `UNKNOWN_LOG` for a key without a log. */
export async function* groupsOf(
  context: LogsContext,
  { logs, visible, signal }: LogsOptions,
  boundOf?: BoundOf,
): AsyncGenerator<readonly NamedLog[], void, void> {
  throwIfAborted(signal)
  const groups = logs === undefined ? allKeys(context, signal) : givenKeys(context, logs, signal)
  for await (const keys of groups)
    yield keys.map((key) => ({
      key,
      log: () => context.get(key),
      visible: bothOf(visible && parseVisible(visible(key)), boundOf?.(key)),
    }))
}

/** The logs of all groups in one list. */
export async function namedLogs(
  context: LogsContext,
  options: LogsOptions,
  boundOf?: BoundOf,
): Promise<readonly NamedLog[]> {
  const all: NamedLog[] = []
  for await (const group of groupsOf(context, options, boundOf)) all.push(...group)
  return all
}

/**
 * Calls `act` for each log of a group. Resolves to the results in order. If one call fails, the others are aborted,
 * and the error names the log.
 */
export async function forEachLog<Log extends NamedLog, Result>(
  group: readonly Log[],
  signal: AbortSignal | undefined,
  act: (log: Log, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const stop = new AbortController()
  // Every log of the group listens to this signal.
  setMaxListeners(0, stop.signal)
  const onAbort = (): void => stop.abort(signal!.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort)
  try {
    return await Promise.all(
      group.map((one) =>
        act(one, stop.signal).catch((error: unknown) => {
          throw inLog(one.key, error)
        }),
      ),
    )
  } catch (error) {
    stop.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/**
 * Calls `act` for each of the logs, one group after another. Resolves to the results in order. Rejects as {@link
 * forEachLog} does.
 */
export async function inGroups<Log extends NamedLog, Result>(
  named: readonly Log[],
  signal: AbortSignal | undefined,
  act: (log: Log, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const group of cut(named)) results.push(...(await forEachLog(group, signal, act)))
  return results
}
