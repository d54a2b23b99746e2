import { AuditLogError } from '../errors.js'
import { type OptionNames, requireOptions } from '../options.js'
import { WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import type { ErasureRequest } from './subject-keys.js'

/** Options of {@link AuditLog.erase}. */
export interface EraseOptions extends WaitOptions, ErasureRequest {
  /**
   * Changes nothing: resolves to what the call would erase, and rejects as it would. A blank reason and username are allowed then. @default false
   */
  readonly dryRun?: boolean | undefined
}

/** Whole events, by their ids. */
export interface EventsToErase {
  /** At most 1000. */
  readonly ids: readonly string[]
}

/** An erased person. */
export interface SubjectErasure {
  /** The ref of the destroyed key; null if there was no key, so that nothing was erased. */
  readonly ref: string | null
  /** RFC 3339, UTC; null if nothing was erased, also after `dryRun`. */
  readonly erased_at: string | null
  /** Number of events whose data is unreadable now. */
  readonly events: number
  /** Number of events of the declared types that name the person and hold a personal attribute in clear, because they were recorded before the declaration. */
  readonly unsealed: number
  /** Time at which nothing has the key any more. Missing while it is not known: see `keyBackupDays`. */
  readonly complete_at?: string
}

/** Erased events. */
export interface EventsErasure {
  /** The ids of the removed events. */
  readonly ids: readonly string[]
  /** The ids for which there was no event. */
  readonly missing: readonly string[]
  /** Number of removed events. */
  readonly events: number
  /** Places that may still hold bytes of the events, as sentences. */
  readonly remaining: readonly string[]
}

/** An erasure of the past. */
export interface Erasure extends ErasureRequest {
  /** The ref of the destroyed key; null for events that were erased by their ids. */
  readonly ref: string | null
  /** The ids of erased events; empty for a person. */
  readonly ids: readonly string[]
  /** RFC 3339, UTC. */
  readonly erased_at: string
  /** Number of events; null until they are counted. */
  readonly events: number | null
  /** Data that is not erased yet, where, and until when, as sentences. Empty if the erasure is complete. */
  readonly incomplete: readonly string[]
  /** Time at which nothing has the key any more. Missing for events, and while it is not known. */
  readonly complete_at?: string
}

const ERASE_OPTIONS: OptionNames<EraseOptions> = {
  ...WAIT_OPTIONS,
  reason: true,
  username: true,
  dryRun: true,
}

/** Throws `INVALID_OPTION`. */
export function readEraseOptions(given: unknown): EraseOptions {
  requireOptions(given, ERASE_OPTIONS, 'erase')
  const options = given as EraseOptions
  const { dryRun = false } = options
  if (typeof dryRun !== 'boolean')
    throw new AuditLogError('INVALID_OPTION', 'erase: dryRun must be true or false')
  for (const name of ['reason', 'username'] as const) {
    const value: unknown = options[name]
    if (typeof value !== 'string' || (value.trim() === '' && !dryRun))
      throw new AuditLogError('INVALID_OPTION', `erase: ${name} must be a text that is not blank`)
  }
  return options
}
