import type { DescribedTypes } from '../../describing/describe-event.js'
import type { AuditEvent } from '../../event/event.js'
import type { EventOfLog } from '../../event/event-of-log.js'
import type { LinkTable } from '../../event/links.js'
import type { EventQuery, Grouping } from '../../filter/ast.js'
import type { CountOptions, EventCounts } from '../../store/counts.js'
import type { EventGroups, GroupOptions } from '../../store/groups.js'
import type { HttpRequest } from '../exchange.js'
import type { Fieldset } from './fieldset.js'

/** Calls `onRead` of the host. A promise must be awaited before events are sent. */
export type ReportRead = (items: readonly EventOfLog[]) => Promise<void> | undefined

/** A piece of a stream. */
export type Frame = string | Uint8Array

/** Begins a stream, which ends with the signal. The signal must abort at some time. */
export type OpenStream = (signal: AbortSignal) => Promise<AsyncIterableIterator<Frame, void, void>>

/** All matching events that exist at a time, oldest first. */
export interface ExistingMatches {
  /** As the header `X-Export-Until`. */
  readonly until: string
  pages(): AsyncIterable<readonly EventOfLog[]>
  /** Counts them for at most this many milliseconds. */
  count(within: number): Promise<EventCounts>
  /** The query string of the export that gives the same events later; `asOf` is not before the newest of them. */
  exportQuery(asOf: string): string
}

/** A request for a page. */
export interface PageRequest {
  readonly query: EventQuery
  readonly fields: Fieldset
  /** How long to wait for an event if none matches; `undefined` if the client did not ask to wait. */
  readonly seconds: number | undefined
}

export interface SourcePage {
  /** Without sorts the newest matching events, oldest first; with sorts the first in that order. */
  readonly events: readonly EventOfLog[]
  /** True when more events matched than the limit allows. */
  readonly truncated: boolean
  /** Members of the `meta` of the document. */
  readonly meta?: object
  /** The link to the other page, and its query string. */
  readonly other: { readonly name: 'prev' | 'next'; readonly query: string } | undefined
}

/** The events that a user may see of one log, or of several logs as one. Its reads end when its signal aborts. */
export interface EventsSource {
  /** The types and the link attributes of the events. */
  readonly described: DescribedTypes & { readonly links: LinkTable }
  /** True if the host hides events from the user. */
  readonly isRestricted: boolean
  /** True if the events are of several logs. Then each names its log. */
  readonly hasLogs: boolean
  /** True for one log that was opened with a ledger. */
  readonly hasLedger: boolean
  /** The path of the endpoints. */
  readonly base: string
  /** The parameters of a request, as messages list them. */
  readonly known: Readonly<Record<'list' | 'read' | 'stream', string> & { me: string | undefined }>
  /** The path of the endpoints of a log. */
  readonly pathOf: (log: string | undefined) => string
  /** The path of an endpoint, such as `/counts`, with a query string. */
  link(endpoint: string, query: string): string
  /** The query string of a history of the changes before this event. */
  queryBefore(query: string, item: EventOfLog): string
  /** Throws `UNKNOWN_ATTRIBUTE` if one of the attributes is concealed, and `SEALED_ATTRIBUTE` if one is encrypted. */
  checkNames(names: Iterable<string>, parameter: string): void
  read(id: string): Promise<EventOfLog | undefined>
  page(request: PageRequest): Promise<SourcePage>
  /** The matching events of a list, without their logs. */
  list(query: EventQuery): Promise<{ readonly events: readonly AuditEvent[] }>
  pages(query: EventQuery): AsyncIterable<readonly EventOfLog[]>
  count(where: Grouping | undefined, options: CountOptions): Promise<EventCounts>
  groups(where: Grouping | undefined, options: GroupOptions): Promise<EventGroups>
  existing(where: Grouping | undefined): Promise<ExistingMatches>
  /** Ids that include those of the open live events among these. */
  open(items: readonly EventOfLog[]): ReadonlySet<string> | Promise<ReadonlySet<string>>
  /** Reads the request for a stream, and throws if it is wrong. The stream begins once it is opened. */
  stream(request: HttpRequest, reportRead: ReportRead): OpenStream
}
