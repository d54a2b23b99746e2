import type { CollapseRule } from '../event/event-types.js'
import { type OptionNames } from '../options.js'
import { WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import type { CallAttributes } from './call-attributes.js'
import type { CallThrottle } from './throttle-rules.js'

export interface RecordOptions extends WaitOptions, CallAttributes {
  /** The requesting user; null if there is none. @default the user of the actor: see `withActor` */
  readonly username?: string | null | undefined
  /**
   * A handle on the store's database with an open transaction, which the event joins: a better-sqlite3 `Database`, a
   * `DatabaseSync` of `node:sqlite`, a `pg` client, or the result of a function of `daybook/orm`. If the transaction
   * commits, the event becomes visible within about a second; if it rolls back, there is no event. The statement has
   * been issued when the call returns. The call resolves to `undefined` once the event is in the transaction, whether
   * or not the transaction commits; listeners do not get the event. Rejects with `INVALID_OPTION` for anything but an
   * open handle on that database with an open transaction. A rejected call has left nothing in the transaction, so
   * await it before the commit. A synchronous transaction function cannot await the call, and gets the error too late
   * to roll back.
   */
  readonly transaction?: object | undefined
}

export interface RecordSystemOptions extends RecordOptions {
  /**
   * A throttle for the call. A throttle of the type takes precedence. Rejects with `INVALID_OPTION` for an invalid
   * period.
   */
  readonly throttle?: CallThrottle | undefined
  /**
   * Counts further calls of the type with the same values, unless the type has a throttle or a collapse: then the call
   * resolves to `undefined`. Rejects with `INVALID_OPTION` for an invalid rule, and together with `throttle` or `transaction`.
   */
  readonly collapse?: CollapseRule | undefined
  /** The API path of the resource if neither the type nor a link gives one, such as `/api/orders/17`. @default null */
  readonly source?: string | undefined
}

export interface RecordCustomOptions extends RecordOptions {
  /**
   * Allows the caller to repeat a call whose outcome is unknown: 1 to 255 visible ASCII characters. Keys of different
   * users are independent. Rejects with `INVALID_OPTION` for other values, and together with a `transaction`.
   */
  readonly idempotencyKey?: string | undefined
}

export interface ReadRecordOptions extends WaitOptions {
  /** Why the record is read, such as `billing`. Reads for different purposes are counted on their own. */
  readonly purpose?: string | undefined
  /** @default the user of the actor: see `withActor` */
  readonly username?: string | null | undefined
}

export const READ_RECORD_OPTIONS: OptionNames<ReadRecordOptions> = {
  purpose: true,
  username: true,
  ...WAIT_OPTIONS,
}

export interface RecordChangeOptions extends RecordOptions {
  /** Further data of the event, such as links. */
  readonly data?: object | undefined
}

const LIVE: OptionNames<Omit<RecordOptions, 'transaction'>> = {
  username: true,
  reason: true,
  approvedBy: true,
  ...WAIT_OPTIONS,
}
const ANY: OptionNames<RecordOptions> = { ...LIVE, transaction: true }
const SYSTEM: OptionNames<RecordSystemOptions> = {
  ...ANY,
  throttle: true,
  collapse: true,
  source: true,
}
const CUSTOM: OptionNames<RecordCustomOptions> = { ...ANY, idempotencyKey: true }
const CHANGE: OptionNames<RecordChangeOptions> = { ...ANY, data: true }

/** The names of the options of each method that records. */
export const RECORD_OPTIONS = {
  record: ANY,
  recordSystem: SYSTEM,
  recordCustom: CUSTOM,
  recordChange: CHANGE,
  recordLive: LIVE,
}
