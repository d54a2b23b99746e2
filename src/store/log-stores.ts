import { AuditLogError } from '../errors.js'
import type { EventStore, WaitOptions } from './store.js'

export interface KeysOptions extends WaitOptions {
  /** Keys after this one. @default all */
  readonly after?: string | undefined
  /** Maximum number of keys. */
  readonly limit: number
}

/** The stores of many logs. Each log has a key, such as a tenant, a project or a region. */
export interface LogStores {
  /** Opens the store of a log. A log that does not exist is created, at the latest by its first use. */
  open(key: string): EventStore
  /** The keys of the existing logs, in the order of code points. */
  keys(options: KeysOptions): Promise<readonly string[]>
  /** Resolves to true if there is a log with this key. Creates none. */
  has(key: string, options?: WaitOptions): Promise<boolean>
  /** Releases the resources that the stores share. Called after all of them are closed. */
  close(): Promise<void>
}

/** Longest key in bytes. With a prefix, a key of this length can name a Postgres schema, and, escaped, a file. */
export const MAX_KEY_BYTES = 55

const NOT_ALLOWED = /[\p{Cc}\p{Cs}]/u

/** True for a text of 1 to 55 bytes in UTF-8 without control characters. */
export const isKey = (key: unknown): key is string =>
  typeof key === 'string' &&
  key !== '' &&
  Buffer.byteLength(key) <= MAX_KEY_BYTES &&
  !NOT_ALLOWED.test(key)

/** Throws `INVALID_VALUE` unless the text can be the key of a log. */
export function checkKey(key: unknown): asserts key is string {
  if (isKey(key)) return
  throw new AuditLogError(
    'INVALID_VALUE',
    `the key of a log must be a text of 1 to ${MAX_KEY_BYTES} bytes without control characters; it is ${JSON.stringify(key)}`,
    { parameter: 'logs' },
  )
}
