import type { AuditEvent } from '../../event/event.js'
import type { Concealed } from '../../filter/conceal.js'
import type { Visible } from '../../filter/visible-filter.js'
import type { EventsAction } from './routes.js'
import type { OptionNames } from '../../options.js'

/** A read that is about to be sent to a client. */
export interface EventsRead {
  readonly action: Extract<EventsAction, 'list' | 'read' | 'stream' | 'count' | 'export'>
  readonly username: string
  /** The query string as sent. */
  readonly query: string
  /** Empty for counts, for the head and the condition of the ledger, and for the call before the first batch of an export. */
  readonly events: readonly AuditEvent[]
}

/** The rights of a user. */
export interface UserRights {
  readonly may: Readonly<Record<EventsAction, boolean>>
  /** True if the user sees only a part of the log. */
  readonly restricted: boolean
}

/** The host's access control; `Context` is the request object of the HTTP server. */
export interface EventsAccess<Context> {
  /**
   * Returns `true` if the user may do this; for any other value the response is 403. It is called before
   * the request body is read, and for all actions when the user requests `<path>/me`. A stream asks again
   * every `recheckMs`. Errors go to the host's error handling. For a log with the option `privacy`, the action `personal` allows the parameter
   * `personal=open`, in addition to the action that reads.
   * @default every authenticated user may do everything, except `personal`
   */
  authorize?(context: Context, action: EventsAction): boolean | Promise<boolean>
  /**
   * A filter for everything that the user reads, such as `{ username_eq: 'ann' }`, or `'all'`. Other events
   * do not exist for the user: they are 404, missing from lists and counts, and do not cause a 206. It is
   * called once per request; a stream asks again every `recheckMs`. `undefined`, null, a filter without
   * conditions, and one that is invalid or has a blank or undefined value or an empty list, are errors that
   * go to the host's error handling. An empty list, such as `{ id_in: [] }`, matches nothing.
   * @default everything is visible
   */
  visible?(context: Context): Visible | Promise<Visible>
  /**
   * Names of attributes that the user must not see, as in filters: `tenant_id` also means `{ tenant: { id } }`. Everything that
   * the user reads is as if the events did not have them: lists, single events, free text, counts, groups, histories, exports,
   * reports and streams. A filter, sort, facet or group by one of them is 400 `UNKNOWN_ATTRIBUTE`. An attribute that gives the
   * source of events conceals the source too. Own fields cannot be concealed. It is called once per request; a
   * stream asks again every `recheckMs`. Anything but a list of names is an error that goes to the host's error handling.
   * @default nothing is concealed
   */
  conceal?(context: Context): Concealed | Promise<Concealed>
  /**
   * How often a stream calls `authorize`, `visible` and `conceal` again, in milliseconds. It ends when `authorize` does
   * not return `true`, when `visible` or `conceal` returns something else, when one of them throws, and when they have
   * not answered before they are due again.
   * @default 60 000
   */
  readonly recheckMs?: number
  /**
   * Called with the events that a request reads before they are sent, for streams and exports with each batch, so that
   * the host can log reads. It is also called for `HEAD` requests and 304 responses, because they reveal
   * that the events exist; lists may be empty. The response waits for it. If it throws, nothing is sent
   * and the error goes to the host's error handling.
   */
  onRead?(context: Context, read: EventsRead): void | Promise<void>
}

export const EVENTS_ACCESS: OptionNames<EventsAccess<unknown>> = {
  authorize: true,
  visible: true,
  conceal: true,
  recheckMs: true,
  onRead: true,
}
