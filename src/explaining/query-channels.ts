import { tracingChannel } from 'node:diagnostics_channel'
import type { AuditLogError } from '../errors.js'
import type { EventQuery } from '../filter/ast.js'
import type { CountsQuery, EventCounts } from '../store/counts.js'
import type { EventPage } from '../store/store.js'
import type { SlowQueries } from './slow-queries.js'

interface Message<Query, Result> {
  /** The log of the query; a process may have several. */
  readonly audit: object
  readonly query: Query
  /** Set in `asyncStart` and `asyncEnd`, unless the query failed. */
  readonly result?: Result
  /** Set in `error`, `asyncStart` and `asyncEnd` if the query failed. */
  readonly error?: AuditLogError
}

/** Message of the tracing channel `daybook:list`; `pages` sends one for each page. */
export interface ListMessage extends Message<EventQuery, EventPage> {
  readonly method: 'list' | 'pages'
}

/** Message of the tracing channel `daybook:count`. */
export type CountMessage = Message<CountsQuery, EventCounts>

const lists = tracingChannel<unknown, ListMessage>('daybook:list')
const counts = tracingChannel<unknown, CountMessage>('daybook:count')

/** Publishes the queries of a log to the subscribers of the channels. */
export function publishQueries(audit: object, queries: SlowQueries): SlowQueries {
  return {
    list: (method, query, options) =>
      lists.hasSubscribers
        ? lists.tracePromise(() => queries.list(method, query, options), { audit, method, query })
        : queries.list(method, query, options),
    count: (query, options) =>
      counts.hasSubscribers
        ? counts.tracePromise(() => queries.count(query, options), { audit, query })
        : queries.count(query, options),
  }
}
