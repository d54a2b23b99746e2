import { setTimeout as delay } from 'node:timers/promises'
import { type Backoff, randomBackoffMs } from '../../../src/async/backoff.js'
import { AuditLogError } from '../../../src/errors.js'

/** An `ABORTED` error whose `cause` is the failure before the abort. */
export function abortedAfter(cause: unknown): AuditLogError {
  return new AuditLogError('ABORTED', 'the operation was aborted', { cause })
}

const PAUSES: Backoff = { firstMs: 20, maxMs: 1000 }

/** Resolves after a random delay that grows with the attempts, or when the signal aborts. */
export async function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  await delay(randomBackoffMs(attempt, PAUSES), undefined, signal ? { signal } : {}).catch(() => {})
}
