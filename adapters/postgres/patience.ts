import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError } from '../../src/errors.js'

/** The end of somebody's waiting, by a signal or by the time that is over. */
export interface Patience extends Disposable {
  readonly signal: AbortSignal
}

/** Ends with the signal, or after so many milliseconds. */
export function patience(ms: number, signal?: AbortSignal): Patience {
  const controller = new AbortController()
  const end = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(end, Math.max(0, ms))
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end, { once: true })
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    },
  }
}

/** `ABORTED`, with the reason why there was no success before. */
export function givenUp(cause: unknown): AuditLogError {
  return new AuditLogError('ABORTED', 'the operation was aborted', { cause })
}

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 1000

/** Resolves after a pause that grows with the attempts; early when the signal aborts. */
export async function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS)
  const ms = longest / 2 + (Math.random() * longest) / 2
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => {})
}
