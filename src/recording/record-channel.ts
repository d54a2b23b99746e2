import { tracingChannel } from 'node:diagnostics_channel'
import type { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'

/** Message of the tracing channel `daybook:record`: one for each call, the same object at each of its stages. */
export interface RecordMessage {
  /** The log of the call; a process may have several. */
  readonly audit: object
  readonly type: string
  /**
   * Set in `asyncStart` and `asyncEnd`: the durable event, or `undefined` if the call resolved without one.
   * See {@link OutcomeMessage}.
   */
  readonly result?: AuditEvent | undefined
  /** Set in `error`, `asyncStart` and `asyncEnd` if the call was rejected. */
  readonly error?: AuditLogError
}

/** Its subscribers get the calls of all logs of the process. */
export const recordChannel = tracingChannel<unknown, RecordMessage>('daybook:record')
