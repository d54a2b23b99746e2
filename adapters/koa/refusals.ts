import { LRUCache } from 'lru-cache'

/** One of these statuses may be told of an address in this time. */
const LIMITED: ReadonlySet<number> = new Set([401, 429])
const PERIOD_MS = 60_000

/** The data that tells of a refusal; `undefined` where it is not to be told. */
export type AdmitRefusal = (status: number, address: string) => { count?: number } | undefined

/**
 * Who guesses passwords, or sends too much, must not fill the log: such refusals are told once a
 * minute for each address, with how many there were since the last that was told.
 */
export function refusalLimiter(): AdmitRefusal {
  const seen = new LRUCache<string, { held: number; until: number }>({ max: 10_000 })
  return (status, address) => {
    if (!LIMITED.has(status)) return {}
    const key = `${status} ${address}`
    const entry = seen.get(key)
    const now = performance.now()
    if (entry && now < entry.until) {
      entry.held++
      return undefined
    }
    seen.set(key, { held: 0, until: now + PERIOD_MS })
    return { count: (entry?.held ?? 0) + 1 }
  }
}
