import { parseVisible, type Visible } from '../../filter/visible-filter.js'
import type { EventsRead } from '../events/access.js'
import { EVENTS_ACTIONS, type EventsAction } from '../events/routes.js'
import type { CallHost } from '../host-calls.js'
import { HttpProblem } from '../problem.js'
import { unknownLog } from '../../logs/named-logs.js'

/** The host's access control for each log; `Context` is the request object of the HTTP server. */
export interface LogsAccess<Context> {
  /**
   * Returns `true` if the user may do this in the log; for any other value the response is 403. A log in which the user may do
   * nothing does not exist for the user. Errors go to the host's error handling.
   * @default every authenticated user may do everything in every log
   */
  authorize?(context: Context, action: EventsAction, log: string): boolean | Promise<boolean>
  /** As in the options of `auditRoutes`, for the log. @default everything is visible */
  visible?(context: Context, log: string): Visible | Promise<Visible>
  /** How often a stream calls `authorize` and `visible` again, in milliseconds. @default 60 000 */
  readonly recheckMs?: number
  /** As in the options of `auditRoutes`. It is called for each log whose events a response contains, and for counts of each log. */
  onRead?(context: Context, read: EventsRead, log: string): void | Promise<void>
}

/** The host's answers about one request. */
export interface RequestAccess {
  readonly may: (action: EventsAction, log: string) => Promise<boolean>
  /** Throws `FORBIDDEN`, or `UNKNOWN_LOG` if the user may do nothing in the log. */
  readonly require: (action: EventsAction, log: string) => Promise<void>
  readonly mayAnything: (log: string) => Promise<boolean>
  /** Filters for the events that the user may see. */
  readonly visible: (logs: readonly string[]) => Promise<ReadonlyMap<string, Visible>>
}

export function requestAccess<Context>(
  options: Pick<LogsAccess<Context>, 'authorize' | 'visible'>,
  context: Context,
  callHost: CallHost,
): RequestAccess {
  const may: RequestAccess['may'] = async (action, log) => {
    if (!options.authorize) return true
    const answer: unknown = await callHost(() => options.authorize!(context, action, log))
    return answer === true
  }
  const mayAnything: RequestAccess['mayAnything'] = async (log) => {
    for (const action of EVENTS_ACTIONS) if (await may(action, log)) return true
    return false
  }
  return {
    may,
    mayAnything,
    async require(action, log) {
      if (await may(action, log)) return
      if (!(await mayAnything(log))) throw unknownLog(log)
      throw new HttpProblem('FORBIDDEN', `the action ${action} is not allowed in the log ${log}`)
    },
    async visible(logs) {
      const filters = new Map<string, Visible>()
      for (const log of logs) {
        const filter = await callHost(async () => {
          const returned = options.visible ? await options.visible(context, log) : 'all'
          // An invalid filter is an error of the host, not of the client.
          parseVisible(returned)
          return returned
        })
        filters.set(log, filter)
      }
      return filters
    },
  }
}
