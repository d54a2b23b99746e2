import type { AuditLogs } from '../../audit-logs.js'
import type { AuditEvent } from '../../event/event.js'
import type { Visible } from '../../filter/visible-filter.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import type { RequestAccess } from './access.js'

/** A request of an authenticated user. */
export interface LogsCall {
  readonly request: HttpRequest
  readonly username: string
  /** The id in the path; empty for other paths. */
  readonly id: string
  readonly access: RequestAccess
  /** Throws unless the user may do this in all of the logs. */
  readonly allow: (logs: readonly string[]) => Promise<ReadonlyMap<string, Visible>>
  /** Calls `onRead` of the host for one log. */
  readonly reportRead: (log: string, events: readonly AuditEvent[]) => Promise<void>
  /** `undefined` if the host has neither `authorize` nor `visible`. */
  readonly mayContinue:
    | ((logs: readonly string[], visible: ReadonlyMap<string, Visible>) => Promise<boolean>)
    | undefined
}

export type LogsHandler = (call: LogsCall) => Promise<HttpResponse>

export interface LogsHandlerOptions {
  readonly logs: AuditLogs
  /** The mount path. */
  readonly path: string
  readonly recheckMs: number
}
