import type { Concealed } from '../../filter/conceal.js'
import type { Visible } from '../../filter/visible-filter.js'
import type { EventsRead } from '../events/access.js'
import type { EventsAction } from '../events/routes.js'

/** The host's access control for each log; `Context` is the request object of the HTTP server. */
export interface LogsAccess<Context> {
  /**
   * Returns `true` if the user may do this in the log; for any other value the response is 403. A log in which the user may do
   * nothing does not exist for the user. Errors go to the host's error handling.
   * @default every authenticated user may do everything in every log, except `personal`, which logs of a set do not have
   */
  authorize?(context: Context, action: EventsAction, log: string): boolean | Promise<boolean>
  /** As in the options of `auditRoutes`, for the log. @default everything is visible */
  visible?(context: Context, log: string): Visible | Promise<Visible>
  /**
   * As in the options of `auditRoutes`, for the log. What is concealed in one of several logs is concealed in a request for all
   * of them. @default nothing is concealed
   */
  conceal?(context: Context, log: string): Concealed | Promise<Concealed>
  /** How often a stream calls `authorize`, `visible` and `conceal` again, in milliseconds. @default 60 000 */
  readonly recheckMs?: number
  /**
   * As in the options of `auditRoutes`. It is called for each log whose events a response contains; for each of the logs if it
   * contains none, as counts do.
   */
  onRead?(context: Context, read: EventsRead, log: string): void | Promise<void>
}
