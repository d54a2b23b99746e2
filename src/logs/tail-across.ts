import { setMaxListeners } from 'node:events'
import { pause } from '../async/pause.js'
import { throwIfAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT, oneCondition } from '../filter/ast.js'
import { sealedAtOnce } from '../privacy/opening.js'
import { BEGINNING, carriesItsTime, newestTime, pollMatching } from '../tail/poll.js'
import { type KeyedFilter, keyedFilter } from '../tail/selections.js'
import { sharedTail } from '../tail/shared-tail.js'
import { eventsView, readFilter } from '../tail/tails.js'
import { ignoreTransient } from '../tail/transient-failures.js'
import { formatPlaces, parsePlaces } from './cursor.js'
import { comparePlaces } from './list-across.js'
import {
  forEachLog,
  GROUP_SIZE,
  inGroups,
  inLog,
  type LogEvent,
  LOGS_OPTIONS,
  type LogsContext,
  type LogsOptions,
  type NamedLog,
  namedLogs,
} from './named-logs.js'
import { mergePages } from './pages-across.js'
import type { OptionNames } from '../options.js'

export interface LogsTailOptions extends LogsOptions {
  /**
   * Delivers the events after this cursor, which a tail or a list with the sort `created_at asc` has returned.
   * @default the time of the call
   */
  readonly cursor?: string | undefined
  /**
   * Alternative to a cursor: delivers the events after this `created_at`. If the newest event of a log is older,
   * events after that event are delivered. @default the time of the call
   */
  readonly after?: string | undefined
}

export const LOGS_TAIL_OPTIONS: OptionNames<LogsTailOptions> = {
  ...LOGS_OPTIONS,
  cursor: true,
  after: true,
}

/** Up to this many logs have a reader each, and stay open. More logs are read in turns. */
export const MAX_FOLLOWED = 100

/** Length of the pause before many logs are read again: a fixed time, and a time for each log. */
const ROUND_MS = 1000
const ROUND_MS_PER_LOG = 5
/** The pause between two looks for new logs. */
const KEYS_MS = 5000
/** Number of events of one log that are read in one turn. */
const TURN_SIZE = 200

const OLDEST_FIRST: EventQuery['sorts'] = [{ attribute: 'created_at', direction: 'asc' }]

/** A tail whose start is known. */
export interface OpenLogsTail {
  /** Notes that the reader has received an event. Must be called for each event, in the order of the batches. */
  received(event: LogEvent): void
  /** The cursor after the received events. */
  cursor(): string
  /** Each batch is in the order of the places. The events of a log are in the order of `created_at`. */
  readonly batches: AsyncGenerator<readonly LogEvent[], void, void>
}

interface Followed extends NamedLog {
  readonly filter: KeyedFilter
}

/** Progress in each log, as the `created_at` of the last event read. */
type Reached = Map<string, string>

const byPlace = (left: LogEvent, right: LogEvent): number =>
  comparePlaces(
    { log: left.log, created_at: left.event.created_at },
    { log: right.log, created_at: right.event.created_at },
  )

/** Merges the batches of several sources. Each source continues once its batch has been taken. */
function createMerger(signal: AbortSignal) {
  let waiting: { readonly key: string; readonly events: readonly AuditEvent[] }[] = []
  let onTaken: (() => void)[] = []
  let failure: { readonly error: unknown } | undefined
  let wake = (): void => {}
  signal.addEventListener('abort', () => wake(), { once: true })

  const pump = async (key: string, batches: AsyncIterable<readonly AuditEvent[]>) => {
    for await (const events of batches) {
      if (events.length === 0) continue
      const isTaken = new Promise<void>((resolve) => onTaken.push(resolve))
      waiting.push({ key, events })
      wake()
      await isTaken
    }
  }
  const fail = (error: unknown): void => {
    failure ??= { error }
    wake()
  }

  return {
    add(key: string, batches: AsyncIterable<readonly AuditEvent[]>): void {
      pump(key, batches).catch((error: unknown) => fail(inLog(key, error)))
    },
    fail,
    /** Returns all batches that have arrived, merged. Waits for the first batch. Empty once the signal aborts. */
    async next(): Promise<readonly LogEvent[]> {
      if (waiting.length === 0 && !failure && !signal.aborted)
        await new Promise<void>((resolve) => (wake = resolve))
      if (failure) throw failure.error
      const batches = waiting
      const takers = onTaken
      waiting = []
      onTaken = []
      for (const take of takers) take()
      return batches
        .flatMap(({ key, events }) => events.map((event) => ({ log: key, event })))
        .toSorted(byPlace)
    },
  }
}

/** The matching events of one log after a cursor. All tails of the log share the session. */
async function* followLog(
  { log, filter }: Followed,
  after: string,
  signal: AbortSignal,
): AsyncGenerator<readonly AuditEvent[], void, void> {
  const shared = sharedTail(log().store)
  yield* await shared.read(eventsView(filter, shared), { after, signal })
}

/** The logs of a tail: the given logs, or all logs, also if they are created later. */
interface Following {
  readonly context: LogsContext
  readonly options: LogsOptions
  readonly followed: Followed[]
  readonly reached: Reached
  readonly followedOf: (log: NamedLog) => Followed
  readonly signal: AbortSignal
}

/** The logs that did not exist at the last check. They are followed from their beginning. */
async function findNew({
  context,
  options,
  followed,
  reached,
  followedOf,
}: Following): Promise<readonly Followed[]> {
  if (options.logs !== undefined) return []
  const named = await namedLogs(context, options)
  const added = named.filter(({ key }) => !reached.has(key)).map(followedOf)
  for (const { key } of added) reached.set(key, BEGINNING)
  followed.push(...added)
  return added
}

/** Follows each log by itself. */
async function* followEach(following: Following): AsyncGenerator<readonly LogEvent[], void, void> {
  const { followed, reached, signal, options } = following
  const merger = createMerger(signal)
  const add = (one: Followed): void =>
    merger.add(one.key, followLog(one, reached.get(one.key)!, signal))
  for (const one of followed) add(one)
  const lookForNew = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(KEYS_MS, signal)
      for (const one of (await ignoreTransient(findNew(following), () => {})) ?? []) add(one)
    }
  }
  if (options.logs === undefined) lookForNew().catch(merger.fail)
  while (!signal.aborted) {
    const events = await merger.next()
    if (events.length > 0) yield events
  }
}

/** The next events of a log in its turn. Nothing if the store fails in a way that may pass. */
async function readTurn(
  { key, log, filter }: Followed,
  reached: Reached,
  signal: AbortSignal,
): Promise<{ readonly events: readonly LogEvent[]; readonly hasMore: boolean }> {
  const read = async () => {
    const after = reached.get(key)!
    const { store } = log()
    const upTo = await newestTime(store, { signal })
    return pollMatching(store, filter, { after, upTo }, { signal, limit: TURN_SIZE })
  }
  const found = await ignoreTransient(read(), () => {})
  if (!found) return { events: [], hasMore: false }
  reached.set(key, found.cursor)
  return { events: found.events.map((event) => ({ log: key, event })), hasMore: found.hasMore }
}

/** Reads many logs in groups, in repeated rounds. */
async function* followInTurns(
  following: Following,
): AsyncGenerator<readonly LogEvent[], void, void> {
  const { followed, reached, signal } = following
  while (!signal.aborted) {
    let isBehind = false
    for (let at = 0; at < followed.length; at += GROUP_SIZE) {
      const group = followed.slice(at, at + GROUP_SIZE)
      const turns = await forEachLog(group, signal, (one, waiting) =>
        readTurn(one, reached, waiting),
      )
      isBehind ||= turns.some(({ hasMore }) => hasMore)
      const events = turns.flatMap((turn) => turn.events)
      if (events.length > 0) yield events.toSorted(byPlace)
    }
    if (isBehind) continue
    await pause(ROUND_MS + followed.length * ROUND_MS_PER_LOG, signal)
    if (!signal.aborted) await ignoreTransient(findNew(following), () => {})
  }
}

/** The events that were recorded before the tail began, merged. */
async function* catchUp(
  followed: readonly Followed[],
  where: Grouping | undefined,
  { starts, reached, signal }: { starts: Reached; reached: Reached; signal: AbortSignal },
): AsyncGenerator<readonly LogEvent[], void, void> {
  const behind = followed.filter(({ key }) => reached.get(key)! < starts.get(key)!)
  const boundOf = (key: string): Grouping | undefined =>
    bothOf(
      oneCondition('created_at', 'gt', [reached.get(key)!]),
      oneCondition('created_at', 'lteq', [starts.get(key)!]),
    )
  const query = { where, sorts: OLDEST_FIRST, limit: MAX_LIMIT }
  for await (const page of mergePages(behind, query, { signal, boundOf })) {
    const events = page.filter(({ event }) => carriesItsTime(event))
    if (events.length > 0) yield events
  }
  for (const { key } of behind) reached.set(key, starts.get(key)!)
}

/**
 * The matching events of the logs that become visible after the promise has resolved, or after the cursor, each event
 * once. The signal must abort at some time. Rejects if the newest event of a log cannot be read.
 */
export async function openTail(
  context: LogsContext,
  query: EventQuery,
  options: LogsTailOptions & { readonly signal: AbortSignal },
): Promise<OpenLogsTail> {
  const { cursor, after, signal } = options
  throwIfAborted(signal)
  // Every followed log listens to this signal.
  setMaxListeners(0, signal)
  const { where } = readFilter(query)
  const places = cursor === undefined ? undefined : parsePlaces(cursor)
  const followedOf = (log: NamedLog): Followed => ({
    ...log,
    filter: keyedFilter(bothOf(log.visible, where)),
  })
  const followed = (await namedLogs(context, options)).map(followedOf)
  const starts = await readStarts(followed, signal)
  const reached: Reached = new Map(
    Array.from(starts, ([key, start]) => [key, places?.after(key) ?? earlier(start, after)]),
  )
  const following = { context, options, followed, reached, followedOf, signal }

  async function* run(): AsyncGenerator<readonly LogEvent[], void, void> {
    try {
      for await (const items of catchUp(followed, where, { starts, reached, signal }))
        yield sealedItems(items)
      const next = followed.length > MAX_FOLLOWED ? followInTurns : followEach
      for await (const items of next(following)) yield sealedItems(items)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
  const received = places ? new Map(reached) : await visiblePlaces(followed, reached, signal)
  return {
    received: ({ log, event }) => void received.set(log, event.created_at),
    cursor: () => formatPlaces(received),
    batches: run(),
  }
}

/** Logs of a set have no keys. */
const sealedItems = (items: readonly LogEvent[]): readonly LogEvent[] =>
  items.map(({ log, event }) => ({ log, event: sealedAtOnce(event) }))

const earlier = (start: string, after: string | undefined): string =>
  after !== undefined && after < start ? after : start

/** The cursor of a reader that has all events visible at the time of the call. */
export async function currentCursor(context: LogsContext, options: LogsOptions): Promise<string> {
  const named = await namedLogs(context, options)
  const starts = await readStarts(named, options.signal)
  return formatPlaces(await visiblePlaces(named, starts, options.signal))
}

/** The newest event of each log at the time of the call. */
async function readStarts(
  named: readonly NamedLog[],
  signal: AbortSignal | undefined,
): Promise<Reached> {
  const cursors = await inGroups(named, signal, ({ log }, waiting) =>
    sharedTail(log().store).currentCursor({ signal: waiting }),
  )
  return new Map(cursors.map((cursor, i) => [named[i]!.key, cursor]))
}

/** The newest visible event of each log. Cursors must reveal no other times. */
async function visiblePlaces(
  named: readonly NamedLog[],
  starts: Reached,
  signal: AbortSignal | undefined,
): Promise<Reached> {
  const restricted = named.filter(({ visible }) => visible !== undefined)
  const times = await inGroups(restricted, signal, async ({ key, log, visible }, waiting) => {
    const where = bothOf(visible, oneCondition('created_at', 'lteq', [starts.get(key)!]))
    const { events } = await log().list({ where, sorts: [], limit: 1 }, { signal: waiting })
    return [key, events[0]?.created_at ?? BEGINNING] as const
  })
  return new Map([...starts, ...times])
}
