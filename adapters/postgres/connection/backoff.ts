import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError } from '../../../src/errors.js'

/** An `ABORTED` error whose `cause` is the failure before the abort. */
export function abortedAfter(cause: unknown): AuditLogError {
  return new AuditLogError('ABORTED', 'the operation was aborted', { cause })
}

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 1000

/** Resolves after a random delay that grows with the attempts, or when the signal aborts. */
export async function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS)
  const ms = longest / 2 + (Math.random() * longest) / 2
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => {})
}
