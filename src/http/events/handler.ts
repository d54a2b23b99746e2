import type { AuditLog } from '../../audit-log.js'
import type { ReadOptions } from '../../store/store.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import type { UserRights } from './access.js'
import type { PersonalForm } from '../../reading/personal-values.js'
import type { EventsSource, ReportRead } from './source.js'

/** The part of an audit log that the endpoints need. */
export type EndpointAudit = Pick<
  AuditLog,
  | 'list'
  | 'pages'
  | 'get'
  | 'count'
  | 'groups'
  | 'tail'
  | 'recordCustom'
  | 'recordSystem'
  | 'ownEvents'
  | 'limits'
  | 'types'
  | 'customTypes'
  | 'links'
  | 'ledger'
  | 'store'
  | 'sealedNames'
  | 'hasKeys'
  | 'openPersonal'
>

/** The options of handlers that need the log itself. */
export interface HandlerOptions {
  readonly audit: EndpointAudit
  /** The mount path of the endpoints. */
  readonly path: string
}

/** Options of the reads that answer a request. */
export interface EventsReadOptions extends ReadOptions {
  readonly signal: AbortSignal
  /** The form of personal attributes. Streams send the sealed form. */
  readonly personal: PersonalForm
}

/** `reportRead` of all requests to a host without `onRead`: a stream keeps the function, and all that it refers to. */
export const reportNothing: ReportRead = () => undefined

/** A request of an authenticated and authorized user, for events of one log or of several as one. */
export interface EventsCall {
  readonly request: HttpRequest
  readonly username: string
  /** The id of `<path>/<id>`; empty for other paths. */
  readonly id: string
  /** Equal for requests that may read the same events. One line. */
  readonly identity: string
  /** Returns the events that the user may see. `signal` ends the reads. @default the signal of the request */
  readonly source: (signal?: AbortSignal) => EventsSource
  readonly reportRead: ReportRead
  /** Calls functions of the host. */
  readonly rights: () => Promise<UserRights>
  /**
   * Asks the host again. True if the user may still do this and sees the same part of the logs. `undefined`
   * if the host has neither `authorize` nor `visible`.
   */
  readonly mayContinue: (() => Promise<boolean>) | undefined
}

export type EventsHandler = (call: EventsCall) => Promise<HttpResponse>

/** A handler of a read that the host is not asked about again. */
export type SourceHandler = (
  call: Pick<EventsCall, 'request' | 'username' | 'source' | 'reportRead'>,
) => Promise<HttpResponse>
