import type { DescribedTypes } from '../../describing/describe-event.js'
import type { AuditEvent } from '../../event/event.js'
import type { LinkTable } from '../../event/links.js'
import type { EventQuery, Grouping } from '../../filter/ast.js'
import type { CountOptions, EventCounts } from '../../store/counts.js'
import type { EventGroups, GroupOptions } from '../../store/groups.js'
import type { EventPage } from '../../store/store.js'
import type { TextParts } from '../utf8.js'
import type { ListOptions } from './documents.js'

/** All matching events that exist at a time, oldest first. */
export interface ExistingMatches {
  /** As the header `X-Export-Until`. */
  readonly until: string
  pages(): AsyncIterable<readonly AuditEvent[]>
  /** Counts them for at most this many milliseconds. */
  count(within: number): Promise<EventCounts>
  /** The query string of the export that gives the same events later; `asOf` is not before the newest of them. */
  exportQuery(asOf: string): string
}

/** The events that a user may see of one log, or of several logs as one. */
export interface EventsSource extends DescribedTypes {
  /** The link attributes of the events. */
  readonly links: LinkTable
  /** True if the host hides events from the user. */
  readonly isRestricted: boolean
  /** The key of the log of an event that this has returned; `undefined` for one log. */
  readonly logOf: ((event: AuditEvent) => string) | undefined
  list(query: EventQuery): Promise<Pick<EventPage, 'events' | 'truncated'>>
  pages(query: EventQuery): AsyncIterable<readonly AuditEvent[]>
  count(where: Grouping | undefined, options: CountOptions): Promise<EventCounts>
  groups(where: Grouping | undefined, options: GroupOptions): Promise<EventGroups>
  existing(where: Grouping | undefined): Promise<ExistingMatches>
  /** The path of an endpoint, such as `/counts`, with a query string. */
  link(endpoint: string, query: string): string
  /** The query string of a history of the changes before this event. */
  queryBefore(query: string, event: AuditEvent): string
  /** Ids that include those of the open live events among these. */
  open(events: readonly AuditEvent[]): Promise<ReadonlySet<string>>
  document(
    events: readonly AuditEvent[],
    links: Readonly<Record<string, string>>,
    view: ListOptions,
  ): TextParts
}
