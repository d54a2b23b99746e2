import { ASYNC_DISPOSE } from '../async/disposal.js'
import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { LinkTable } from '../event/links.js'
import { bothOf, type EventQuery, type Grouping } from '../filter/ast.js'
import { type Concealed, readConcealed } from '../filter/conceal.js'
import { compileFilterInSteps } from '../filter/evaluate.js'
import { createChangeTracker, type EventChange } from './changes.js'
import { followChanges } from './follow-changes.js'
import { type KeyedFilter, keyedFilter } from './selections.js'
import type { SharedTail, View } from './shared-tail.js'
import { readOptions } from '../store/consistency-token.js'
import { startCursor } from './poll.js'
import { READ_OPTIONS, type ReadOptions, type WaitOptions } from '../store/store.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import type { OptionNames } from '../options.js'
import { checkVisible } from '../filter/query-input.js'

export interface TailOptions extends ReadOptions {
  /**
   * Deliver events after this `created_at`, such as the time of the last event received.
   * @default the time of the call
   */
  readonly after?: string | undefined
  /**
   * Also delivers changes of live events, as {@link EventChange}: changes of events that the tail delivers, and of
   * matching events that are open at its start. An open event that begins to match later is not followed. Several
   * changes in quick succession are delivered as one change. Changes made while nothing followed the event are not
   * delivered: read a closed event with `get`. @default false
   */
  readonly changes?: boolean | undefined
  /**
   * With `changes`: ids of live events that the reader knows as open. If such an event is closed before the tail
   * starts, the tail delivers its last change. @default none
   */
  readonly open?: Iterable<string> | undefined
  /**
   * The events that the reader may see, as a parsed filter. With `changes`, a live event that no longer satisfies it is no longer
   * followed, and the change that hid it is not delivered. @default everything
   */
  readonly visible?: Grouping | undefined
  /**
   * Names of attributes, as in filters, that the reader must not see. Events and changes are as if the events did not have them.
   * A query that names one rejects with `UNKNOWN_ATTRIBUTE`. A link attribute conceals the source too. @default none
   */
  readonly conceal?: Concealed | undefined
}

export const TAIL_OPTIONS: OptionNames<TailOptions> = {
  ...READ_OPTIONS,
  after: true,
  changes: true,
  open: true,
  visible: true,
  conceal: true,
}

/** Events as they become visible. Ends when the loop is left, by `return` or by `await using`. */
export interface EventTail<Item = AuditEvent> extends AsyncIterableIterator<Item, void, void> {
  /** Ends the tail, even while `next` waits. */
  return(): Promise<IteratorReturnResult<void>>
  [Symbol.asyncDispose](): Promise<void>
}

/** Returns events as a reader gets them. It may leave some out. */
export type ShowEvents = (
  events: readonly AuditEvent[],
  options: WaitOptions,
) => readonly AuditEvent[] | Promise<readonly AuditEvent[]>

/** The events of a tail. */
export interface TailStart {
  readonly query: EventQuery
  /** Called with a batch at a time, before attributes are concealed. */
  readonly show: ShowEvents
}

/** The tails of one log. */
export interface Tails {
  /** Yields changes only with the option `changes`. */
  tail(start: () => TailStart, options: TailOptions): EventTail<AuditEvent | EventChange>
}

interface Opened {
  readonly filter: KeyedFilter
  readonly cursor: string
  readonly show: ShowEvents
}

interface Reading extends Opened {
  readonly shared: SharedTail
  readonly signal: AbortSignal
}

async function* readEvents({
  shared,
  filter,
  cursor,
  show,
  signal,
}: Reading): AsyncGenerator<AuditEvent, void, void> {
  const view = eventsView(filter, shared)
  for await (const events of await shared.read(view, { after: cursor, signal }))
    for (const event of await show(events, { signal })) {
      if (signal.aborted) return
      yield event
    }
}

/** The matching events of a log in batches. */
export const eventsView = (
  filter: KeyedFilter,
  { selections }: SharedTail,
): View<readonly AuditEvent[]> => ({
  ...filter,
  async ofBatch(batch, after) {
    const entries = await selections.of(batch, filter, after)
    return entries.length > 0 ? entries.map(({ event }) => event) : undefined
  },
  ofEvents: (events) => [events],
})

/** Returns the event as the reader sees it. */
type ViewOf = (event: AuditEvent) => AuditEvent

async function* seenBy<Item extends AuditEvent | EventChange>(
  items: AsyncGenerator<Item, void, void>,
  view: ViewOf,
): AsyncGenerator<AuditEvent | EventChange, void, void> {
  for await (const item of items) yield 'patch' in item ? item : view(item)
}

/** Live events have no personal values, so that changes are shown as they are. */
async function* readChanges(
  { shared, filter, cursor, show, signal }: Reading,
  { open = [], visible }: TailOptions,
  view: ViewOf,
): AsyncGenerator<AuditEvent | EventChange, void, void> {
  const items = followChanges(shared, {
    filter,
    select: async (batch, after) => shared.changeSelections.of(batch, filter, after),
    start: cursor,
    tracker: createChangeTracker({
      load: shared.loadLive,
      filter,
      start: cursor,
      known: open,
      isVisible: compileFilterInSteps(checkVisible(visible)),
      view,
    }),
    signal,
  })
  for await (const item of items)
    if ('patch' in item) yield item
    else yield* await show([item], { signal })
}

export function createTails(shared: SharedTail, links: LinkTable): Tails {
  const open = async (
    start: () => TailStart,
    { after, ...options }: TailOptions,
  ): Promise<Opened> => {
    const { query, show } = start()
    const visible = checkVisible(options.visible)
    const concealed = readConcealed(options.conceal ?? [], links)
    const where = concealed ? concealed.where(query.where) : query.where
    const filter = readFilter({ ...query, where: bothOf(visible, where) })
    throwIfAborted(options.signal)
    const reading = readOptions(options)
    if (after !== undefined) return { filter, show, cursor: readCursor(after) }
    return { filter, show, cursor: await startCursor(shared.currentCursor(reading), reading) }
  }

  return {
    tail: (start, options) =>
      startTail(options.signal, {
        open: () => open(start, options),
        read(opened, signal) {
          const reading = { ...opened, shared, signal }
          const concealed = readConcealed(options.conceal ?? [], links)
          const view: ViewOf = (event) => (concealed ? concealed.event(event) : event)
          const items = options.changes ? readChanges(reading, options, view) : readEvents(reading)
          return concealed ? seenBy(items, view) : items
        },
      }),
  }
}

/** How a tail begins, and its events from there. */
interface TailSteps<Opened, Item> {
  readonly open: (signal: AbortSignal) => Promise<Opened>
  /** Yields nothing further once the signal aborts. */
  readonly read: (opened: Opened, signal: AbortSignal) => AsyncGenerator<Item, void, void>
}

async function* runTail<Opened, Item>(
  opening: Promise<Opened>,
  read: TailSteps<Opened, Item>['read'],
  stop: AbortController,
  given: AbortSignal | undefined,
): AsyncGenerator<Item, void, void> {
  const { signal } = stop
  const onAbort = (): void => stop.abort(given!.reason)
  given?.addEventListener('abort', onAbort, { once: true })
  if (given?.aborted) onAbort()
  try {
    yield* read(await untilAborted(opening, signal), signal)
    throwIfAborted(given)
  } catch (error) {
    // `return` aborts whatever the tail is doing; that is not an error.
    if (!signal.aborted || given?.aborted) throw error
  } finally {
    given?.removeEventListener('abort', onAbort)
    stop.abort()
  }
}

/** Begins a tail at once. It ends when the signal aborts, or when its reader ends it. */
export function startTail<Opened, Item>(
  given: AbortSignal | undefined,
  { open, read }: TailSteps<Opened, Item>,
): EventTail<Item> {
  const stop = new AbortController()
  const opening = open(stop.signal)
  // The generator awaits it only once an event is requested.
  opening.catch(() => {})
  return asTail(runTail(opening, read, stop, given), stop)
}

/** Throws `INVALID_VALUE` for a query with sorts. */
export function readFilter({ where, sorts }: EventQuery): KeyedFilter {
  if (sorts.length > 0) {
    const message = 'filter[sorts]: a tail is always in the order of created_at'
    throw new AuditLogError('INVALID_VALUE', message, { parameter: 'filter[sorts]' })
  }
  return keyedFilter(where)
}

function readCursor(after: string): string {
  const time = parseTimestamp(after)
  if (time !== undefined) return formatTimestamp(time)
  const message = 'after: must be an ISO 8601 timestamp, such as the created_at of an event'
  throw new AuditLogError('INVALID_VALUE', message, { parameter: 'after' })
}

/** Unlike the generator's own `return`, this one does not wait for a pending `next`. */
function asTail<Item>(
  events: AsyncGenerator<Item, void, void>,
  stop: AbortController,
): EventTail<Item> {
  const end = async (): Promise<IteratorReturnResult<void>> => {
    stop.abort()
    await events.return()
    return { done: true, value: undefined }
  }
  return {
    next: () => events.next(),
    return: end,
    [Symbol.asyncIterator]() {
      return this
    },
    async [ASYNC_DISPOSE]() {
      await end()
    },
  }
}
