import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import type { Grouping } from '../../filter/ast.js'
import type { Broadcast } from '../stream/broadcast.js'
import type { ReadOptions } from '../../store/store.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import type { UserRights } from './access.js'
import type { EventsSource } from './source.js'

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
  | 'limits'
  | 'types'
  | 'customTypes'
  | 'links'
  | 'store'
>

/** The options of all handlers. */
export interface HandlerOptions {
  readonly audit: EndpointAudit
  /** The mount path of the endpoints. */
  readonly path: string
}

/** The options of handlers whose clients wait for new events. */
export interface StreamingHandlerOptions extends HandlerOptions {
  readonly broadcast: Broadcast
}

/** Options of the reads that answer a request. */
export interface EventsReadOptions extends ReadOptions {
  readonly signal: AbortSignal
}

/** A request whose user is authenticated and authorized. */
export interface EventsCall {
  readonly request: HttpRequest
  readonly username: string
  /** The signal of the request, and its `Consistency-Token`: for every read of events. */
  readonly reading: EventsReadOptions
  /** The id of `<path>/<id>`; empty for other paths. */
  readonly id: string
  /** Filter for the events that the user may see; `undefined` if all are visible. */
  readonly visible: Grouping | undefined
  /** Returns the events that the user may see. */
  readonly source: () => EventsSource
  /** Calls `onRead` of the host. A promise must be awaited before events are sent. */
  readonly reportRead: (events: readonly AuditEvent[]) => Promise<void> | undefined
  /** Calls functions of the host. */
  readonly rights: () => Promise<UserRights>
  /**
   * Asks the host again. True if the user may still do this and sees the same part of the log. `undefined`
   * if the host has neither `authorize` nor `visible`.
   */
  readonly mayContinue: (() => Promise<boolean>) | undefined
}

/** `reportRead` of all requests to a host without `onRead`: a stream keeps the function, and all that it refers to. */
export const reportNothing = (): undefined => undefined

export type EventsHandler = (call: EventsCall) => Promise<HttpResponse>

/** A request for events of one log, or of several as one. */
export type SourceCall = Pick<EventsCall, 'request' | 'username' | 'source' | 'reportRead'>

export type SourceHandler = (call: SourceCall) => Promise<HttpResponse>
