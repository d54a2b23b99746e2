import type { AuditEvent } from '../event/event.js'
import { bothOf, type EventQuery, type Grouping, oneCondition } from '../filter/ast.js'
import { type AttributeReader, eventAttributes } from '../filter/attributes.js'
import { scanDirection, topItems } from '../filter/order.js'
import { decideInTurns, createTimeSlices } from '../filter/time-slices.js'
import { compareText } from '../filter/values.js'
import { AuditLogError } from '../errors.js'
import {
  formatBefore,
  formatPlaces,
  parseBefore,
  parsePlaces,
  type Place,
  type Places,
} from './cursor.js'
import {
  forEachLog,
  groupsOf,
  type LogEvent,
  type LogsContext,
  type NamedLog,
} from './named-logs.js'
import { LOGS_UNTIL_OPTIONS, type LogsUntilOptions, rangeOf } from './range.js'
import type { OptionNames } from '../options.js'

export interface LogsListOptions extends LogsUntilOptions {
  /** Continues after the page that returned this cursor. The query must be the same. */
  readonly cursor?: string | undefined
  /** Like the option of `list` of a log. @default false */
  readonly lazy?: boolean | undefined
}

export const LOGS_LIST_OPTIONS: OptionNames<LogsListOptions> = {
  ...LOGS_UNTIL_OPTIONS,
  cursor: true,
  lazy: true,
}

export interface LogsPage {
  /** Without sorts the newest matching events, oldest first; with sorts the first in that order. */
  readonly events: readonly LogEvent[]
  /** True when more events matched than the limit allows. */
  readonly truncated: boolean
  /**
   * Continues the list. Without sorts: at older events, `undefined` if there are none. With the sort `created_at asc`: at
   * newer events, also at those that become visible later. `undefined` for other sorts.
   */
  readonly cursor: string | undefined
}

/** Reads the attributes of an event of any log. */
const logEventAttributes: AttributeReader<LogEvent> = {
  types: eventAttributes.types,
  isOpen: eventAttributes.isOpen,
  walk: (name, visit) => {
    const walk = eventAttributes.walk(name, visit)
    return ({ event }) => walk(event)
  },
  valuesInSteps: ({ event }, name) => eventAttributes.valuesInSteps(event, name),
}

/** Orders events by time, then by log. */
export const comparePlaces = (left: Place, right: Place): number =>
  compareText(left.created_at, right.created_at) || compareText(left.log, right.log)

const placeOf = ({ log, event }: LogEvent): Place => ({ log, created_at: event.created_at })

/** A filter for the events of the log that come before the place. */
export const beforePlace = (log: string, { created_at, log: other }: Place): Grouping =>
  oneCondition('created_at', compareText(log, other) < 0 ? 'lteq' : 'lt', [created_at])

const afterTime = (created_at: string): Grouping => oneCondition('created_at', 'gt', [created_at])

/** Direction in which a list continues; `undefined` if it cannot continue. */
type Direction = 'older' | 'newer' | undefined

function directionOf({ sorts }: EventQuery): Direction {
  if (sorts.length === 0) return 'older'
  return scanDirection(sorts) === 'asc' ? 'newer' : undefined
}

/** Restricts a log to the events after the cursor. Throws `INVALID_VALUE`. */
function readCursor(
  query: EventQuery,
  cursor: string | undefined,
): { readonly places?: Places; readonly bound: (log: string) => Grouping | undefined } {
  if (cursor === undefined) return { bound: () => undefined }
  const direction = directionOf(query)
  if (direction === 'older') {
    const place = parseBefore(cursor)
    return { bound: (log) => beforePlace(log, place) }
  }
  if (direction === 'newer') {
    const places = parsePlaces(cursor)
    return { places, bound: (log) => afterTime(places.after(log)) }
  }
  throw new AuditLogError(
    'INVALID_VALUE',
    'cursor: only a list without sorts, and one with the sort created_at asc, can be continued',
    { parameter: 'cursor' },
  )
}

/** The first matching events of all logs together. */
interface Collected {
  add(log: string, events: readonly AuditEvent[]): Promise<void>
  /** Once the page is full, only events after this place can still get into it. */
  floor(): Place | undefined
  /** Returns the page. `isCut` is true if events were left out. */
  finish(): Promise<{ readonly events: readonly LogEvent[]; readonly isCut: boolean }>
}

/** Keeps the newest events. */
function collectNewest(limit: number): Collected {
  let kept: LogEvent[] = []
  let isCut = false
  return {
    async add(log, events) {
      kept = [...kept, ...events.map((event) => ({ log, event }))].toSorted((a, b) =>
        comparePlaces(placeOf(a), placeOf(b)),
      )
      isCut ||= kept.length > limit
      kept = kept.slice(-limit)
    },
    floor: () => (isCut ? placeOf(kept[0]!) : undefined),
    finish: async () => ({ events: kept, isCut }),
  }
}

/** Keeps the first events of an order. Equal events keep the order in which their logs were added. */
function collectSorted({ sorts, limit }: EventQuery): Collected {
  const top = topItems(logEventAttributes, sorts, ['created_at'], limit)
  let added = 0
  return {
    async add(log, events) {
      added += events.length
      await decideInTurns(
        events.map((event) => ({ log, event })),
        (item) => top.add(item),
      )
    },
    floor: () => undefined,
    finish: async () => ({
      events: await createTimeSlices().finish(top.inOrder()),
      isCut: added > limit,
    }),
  }
}

/** The matching events of the logs, merged: by the sorts of the query, then `created_at`, then the key of the log. */
export async function listAcross(
  context: LogsContext,
  query: EventQuery,
  options: LogsListOptions,
): Promise<LogsPage> {
  const { signal, lazy, cursor, until } = options
  const { places, bound } = readCursor(query, cursor)
  const collected = query.sorts.length === 0 ? collectNewest(query.limit) : collectSorted(query)
  const read: string[] = []
  let isTruncated = false

  for await (const group of groupsOf(context, options, rangeOf({ until }))) {
    const floor = isTruncated ? collected.floor() : undefined
    const rest = floor && oneCondition('created_at', 'gteq', [floor.created_at])
    const list = ({ key, log, visible }: NamedLog, waiting: AbortSignal) => {
      const where = bothOf(bothOf(visible, query.where), bothOf(bound(key), rest))
      return log().list({ ...query, where }, { signal: waiting, lazy })
    }
    const pages = await forEachLog(group, signal, list)
    for (const [i, { events, truncated }] of pages.entries()) {
      isTruncated ||= truncated
      await collected.add(group[i]!.key, events)
    }
    isTruncated ||= collected.floor() !== undefined
    read.push(...group.map(({ key }) => key))
  }
  const { events, isCut } = await collected.finish()
  const truncated = isTruncated || isCut
  const direction = directionOf(query)
  if (direction === 'older')
    return { events, truncated, cursor: truncated ? formatBefore(placeOf(events[0]!)) : undefined }
  if (direction !== 'newer') return { events, truncated, cursor: undefined }
  const reached = new Map(places ? read.map((log) => [log, places.after(log)]) : [])
  for (const { log, event } of events) reached.set(log, event.created_at)
  return { events, truncated, cursor: formatPlaces(reached) }
}
