import { useEffect, useState } from 'preact/hooks'
import type { AuditEvent } from '../../../src/event/event.js'
import { ApiError, readEvent } from '../data/api.js'

export type Pair = readonly [left: AuditEvent, right: AuditEvent]

export type PairState = 'loading' | 'ready' | 'missing' | 'denied' | 'failed'

const STATES: Readonly<Record<number, PairState>> = { 403: 'denied', 404: 'missing' }

/** Loads both events whenever the ids change. */
export function usePair(left: string, right: string) {
  const [state, setState] = useState<PairState>('loading')
  const [pair, setPair] = useState<Pair | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    setState('loading')
    const start = async (): Promise<void> => {
      setPair(await Promise.all([readEvent(left, signal), readEvent(right, signal)]))
      setState('ready')
    }
    start().catch((error: unknown) => {
      const known = error instanceof ApiError ? STATES[error.status] : undefined
      if (!signal.aborted) setState(known ?? 'failed')
    })
    return () => controller.abort()
  }, [left, right, attempt])
  return { state, pair, tryAgain: () => setAttempt((count) => count + 1) }
}
