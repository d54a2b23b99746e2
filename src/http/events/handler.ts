import type { AuditLog } from '../../audit-log.js'
import type { AuditEvent } from '../../event/event.js'
import type { Grouping } from '../../filter/ast.js'
import type { Broadcast } from '../stream/broadcast.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import type { UserRights } from './access.js'

/** What the endpoints need of an audit log. */
export type EndpointAudit = Pick<
  AuditLog,
  'list' | 'pages' | 'get' | 'count' | 'tail' | 'recordCustom' | 'limits' | 'types' | 'store'
>

/** What all handlers know. */
export interface HandlerOptions {
  readonly audit: EndpointAudit
  /** Where the endpoints are mounted. */
  readonly path: string
}

/** What those handlers know whose clients wait for events. */
export interface StreamingHandlerOptions extends HandlerOptions {
  readonly broadcast: Broadcast
}

/** A request that may be answered: its user is known, and may do this. */
export interface EventsCall {
  readonly request: HttpRequest
  readonly username: string
  /** Of `<path>/<id>`; else empty. */
  readonly id: string
  /** What the user may see of the log; `undefined` is everything. */
  readonly visible: Grouping | undefined
  /** Has to be waited for before events are given away. */
  readonly reportRead: (events: readonly AuditEvent[]) => Promise<void>
  /** Asks the host. */
  readonly rights: () => Promise<UserRights>
}

export type EventsHandler = (call: EventsCall) => Promise<HttpResponse>
