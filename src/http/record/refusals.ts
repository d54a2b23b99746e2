import { LRUCache } from 'lru-cache'
import { networkOf } from '../network-of.js'

/** For each of these statuses, one event per network and period is recorded. */
const LIMITED: ReadonlySet<number> = new Set([401, 429])
const PERIOD_MS = 60_000

/** Returns data for the event of a refused request, or `undefined` if it must not be recorded. */
export type AdmitRefusal = (status: number, address: string) => { count?: number } | undefined

/**
 * Keeps password guessing and floods of requests from filling the log: such refusals are recorded once a
 * minute per address (/64 of IPv6), with the `count` since the last recorded one.
 */
export function refusalLimiter(): AdmitRefusal {
  const seen = new LRUCache<string, { suppressed: number; until: number }>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
  })
  return (status, address) => {
    if (!LIMITED.has(status)) return {}
    const key = `${status} ${networkOf(address)}`
    const entry = seen.get(key)
    const now = performance.now()
    if (entry && now < entry.until) {
      entry.suppressed++
      return undefined
    }
    seen.set(key, { suppressed: 0, until: now + PERIOD_MS })
    return { count: (entry?.suppressed ?? 0) + 1 }
  }
}
