import { inspect } from 'node:util'
import { AuditLogError } from '../errors.js'
import type { ReadOptions } from './store.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../event/timestamp.js'

/**
 * The state of a log that a read must include. The text of a token is a `created_at`. A log on Postgres adds a
 * position in the write-ahead log, which also covers imports, removals and changes of live events:
 * `<created_at>_<cluster>_<position>`.
 */
export interface ConsistencyToken {
  /** The answer has every event up to this time. */
  readonly time: Microseconds
  readonly wal: { readonly cluster: string; readonly position: string } | undefined
  /** True for {@link NEWEST}. Any log has reached it, but no replica is known to have it. */
  readonly isNewest?: true
}

/** The token of the state that is the newest when the read begins. */
export const NEWEST = 'newest'

const TOKEN = /^([^_]{1,40})(?:_(\d{1,20})_([\dA-F]{1,8}\/[\dA-F]{1,8}))?$/

/** Reads the text of a token of an earlier state; `undefined` for any other value. */
export function parseToken(text: unknown): ConsistencyToken | undefined {
  const [, timestamp = '', cluster, position] = (typeof text === 'string' && TOKEN.exec(text)) || []
  const time = parseTimestamp(timestamp)
  if (time === undefined) return undefined
  return { time, wal: cluster && position ? { cluster, position } : undefined }
}

/** Reads the text of a token; `undefined` for `undefined`. Throws `INVALID_VALUE`. */
export function readToken(text: unknown): ConsistencyToken | undefined {
  if (text === undefined) return undefined
  if (text === NEWEST) return { time: -Infinity, wal: undefined, isNewest: true }
  const token = parseToken(text)
  if (token) return token
  throw new AuditLogError(
    'INVALID_VALUE',
    `consistencyToken must be a text that consistencyToken() has returned, the created_at of an event, or '${NEWEST}'; it is ${inspect(text)}`,
    { parameter: 'consistencyToken' },
  )
}

/** Returns the options that every read takes. Throws `INVALID_VALUE`. */
export function readOptions({ signal, consistencyToken }: ReadOptions): ReadOptions {
  readToken(consistencyToken)
  return { signal, consistencyToken }
}

/** Checks the token of a read, if it has one, against the log. Throws `INVALID_VALUE` or `NOT_REACHED`. */
export function checkToken(text: string | undefined, highWater: () => Microseconds): void {
  const token = readToken(text)
  if (token) requireReached(token, highWater())
}

export const formatToken = ({ time, wal }: ConsistencyToken): string =>
  [formatTimestamp(time), ...(wal ? [wal.cluster, wal.position] : [])].join('_')

/** Throws `NOT_REACHED` if the log, whose newest event ever had the time `highWater`, is before the token. */
export function requireReached(token: ConsistencyToken, highWater: Microseconds): void {
  if (token.time <= highWater) return
  throw new AuditLogError(
    'NOT_REACHED',
    `the consistency token is of ${formatTimestamp(token.time)}, but the newest event of this log is of ${formatTimestamp(highWater)}: the token is of another log, or a failover has lost events`,
  )
}
