import { AuditLogError } from '../errors.js'
import { checkOptions, type OptionNames } from '../options.js'

/** Events of the log about itself. */
export interface OwnEventsOptions {
  /**
   * Reads of the log over HTTP, by the page, `daybook serve` and the command line are recorded as `info:audit_log:read`: the
   * user, the action, and the names of the conditions. At most one event an hour for each combination of these, which
   * carries the number of others since the one before. Reads in code leave none. @default false
   */
  readonly reads?: boolean | undefined
  /**
   * Starts and stops of this log are recorded as `info:audit_log:start` and `info:audit_log:stop`, and a changed configuration as
   * `info:audit_log:config`. A process that ends without `close` is reported by the other processes on the store, or by
   * the next one, once its heartbeat has been missing for 20 seconds. Not allowed for `AuditLogs`. @default false
   */
  readonly runs?: boolean | undefined
}

export interface OwnEvents {
  readonly reads: boolean
  readonly runs: boolean
}

const OWN_EVENTS: OptionNames<OwnEventsOptions> = { reads: true, runs: true }

/** Throws `INVALID_OPTION`. */
export function readOwnEvents(given: OwnEventsOptions | undefined): OwnEvents {
  checkOptions(given, OWN_EVENTS, 'ownEvents')
  const { reads = false, runs = false } = given ?? {}
  for (const [name, value] of Object.entries({ reads, runs }))
    if (typeof value !== 'boolean')
      throw new AuditLogError('INVALID_OPTION', `ownEvents.${name} must be true or false`)
  return { reads, runs }
}
