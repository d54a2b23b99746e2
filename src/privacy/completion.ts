import { AuditLogError } from '../errors.js'
import {
  DAY,
  formatTimestamp,
  type Microseconds,
  parseTimestamp,
  SECOND,
} from '../event/timestamp.js'
import type { KeyErasure } from './subject-keys.js'

/** Longest time for which a process uses a key that it has read. */
const KEPT_IN_MEMORY: Microseconds = 30 * SECOND

/** Facts that decide when an erased key is gone everywhere. */
export interface KeyCopies {
  readonly keyBackupDays: number | undefined
  /** Time of the last rotation. */
  readonly rotatedAt: string | undefined
}

/** Throws `INVALID_OPTION`. */
export function checkKeyBackupDays(days: unknown): void {
  if (days === undefined || (typeof days === 'number' && Number.isFinite(days) && days >= 0)) return
  throw new AuditLogError(
    'INVALID_OPTION',
    'AuditLog: privacy.keyBackupDays must be a number of 0 or more',
  )
}

/** Time at which nothing has the key any more; `undefined` if it is not known. */
export function completedAt(
  erased_at: string,
  { keyBackupDays, rotatedAt }: KeyCopies,
): Microseconds | undefined {
  const erased = parseTimestamp(erased_at)!
  const rotated = rotatedAt === undefined ? undefined : parseTimestamp(rotatedAt)!
  const ends = [
    ...(keyBackupDays === undefined ? [] : [erased + keyBackupDays * DAY]),
    ...(rotated !== undefined && rotated > erased ? [rotated] : []),
  ]
  return ends.length === 0 ? undefined : Math.max(erased + KEPT_IN_MEMORY, Math.min(...ends))
}

/** Steps that an erasure lacks at this time, as sentences. */
export function missingSteps(
  { erased_at, isEnded }: KeyErasure,
  copies: KeyCopies,
  now: Microseconds,
): readonly string[] {
  const inMemory = parseTimestamp(erased_at)! + KEPT_IN_MEMORY
  const complete = completedAt(erased_at, copies)
  const until = complete === undefined ? '' : `, until ${formatTimestamp(complete)}`
  const steps: readonly (readonly [isMissing: boolean, sentence: string])[] = [
    [
      !isEnded,
      'the log has no event of the erasure yet; the next start of a log with these keys records it',
    ],
    [
      now < inMemory,
      `running processes may have the key in memory, until ${formatTimestamp(inMemory)}`,
    ],
    [
      complete === undefined || (now < complete && complete > inMemory),
      `backups of the keys from before ${erased_at} have the key${until}; to end this now, run daybook keys rotate and destroy the former master key`,
    ],
  ]
  return steps.filter(([isMissing]) => isMissing).map(([, sentence]) => sentence)
}
