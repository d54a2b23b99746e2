import { AuditLogError } from '../../errors.js'
import { MAX_TIMER_MS } from '../../async/timers.js'

const RECHECK_MS = 60_000

/** The period in milliseconds. Throws `INVALID_OPTION` for one that a timer cannot keep. */
export function readRecheckMs(recheckMs = RECHECK_MS): number {
  if (Number.isInteger(recheckMs) && recheckMs >= 1 && recheckMs <= MAX_TIMER_MS) return recheckMs
  throw new AuditLogError(
    'INVALID_OPTION',
    `recheckMs must be a whole number of milliseconds from 1 to ${MAX_TIMER_MS}`,
  )
}

export interface RecheckOptions {
  /** Resolves to true if the user may go on reading. No answer within a period means no. */
  readonly mayContinue: () => Promise<boolean>
  readonly periodMs: number
  /** The end of the request. It must abort at some time, because that stops the timer. */
  readonly signal: AbortSignal
}

/**
 * The chunks of `open`. Calls `mayContinue` once a period. When it returns false, the signal given to
 * `open` aborts, and no further chunk follows. If it throws, the generator throws its error.
 */
export async function whileAllowed<Chunk>(
  open: (signal: AbortSignal) => Promise<AsyncIterable<Chunk>>,
  { mayContinue, periodMs, signal }: RecheckOptions,
): Promise<AsyncGenerator<Chunk, void, void>> {
  const end = new AbortController()
  let isChecking = false
  let failure: { readonly error: unknown } | undefined
  const check = async (): Promise<void> => {
    if (isChecking) return end.abort()
    isChecking = true
    try {
      if (!(await mayContinue())) end.abort()
    } catch (error) {
      failure = { error }
      end.abort()
    }
    isChecking = false
  }
  const timer = setInterval(() => void check(), periodMs).unref()
  end.signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  if (signal.aborted) end.abort(signal.reason)
  else signal.addEventListener('abort', () => end.abort(signal.reason), { once: true })

  async function* guarded(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk, void, void> {
    try {
      for await (const chunk of chunks) {
        if (end.signal.aborted) break
        yield chunk
      }
    } finally {
      end.abort()
    }
    if (failure) throw failure.error
  }

  return guarded(await open(end.signal))
}
