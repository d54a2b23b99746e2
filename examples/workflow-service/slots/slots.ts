import { setTimeout as delay } from 'node:timers/promises'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import { siteName } from '../sites/sites.js'

/** Slots limit how much work uses a resource at once. The setting `resource_slots_<pool>` is the limit. */
export interface Slots {
  /** Waits for a slot; the function that is returned frees it. */
  acquire(pool: string, signal: AbortSignal): Promise<() => void>
}

interface Pool {
  used: number
  readonly wake: Set<() => void>
}

export function createSlots(
  service: Pick<Service, 'settings' | 'note' | 'background' | 'timings'>,
): Slots {
  const { settings, note, background, timings } = service
  const pools = new Map<string, Pool>()
  const limitOf = (name: string): number => settings.number(`resource_slots_${name}`, 1)

  const poolOf = (name: string): Pool => {
    let pool = pools.get(name)
    if (!pool) pools.set(name, (pool = { used: 0, wake: new Set() }))
    return pool
  }

  /** Wakes the work that now fits. If that fails, the work looks for itself, only later. */
  const freed = async (name: string): Promise<void> => {
    const pool = poolOf(name)
    try {
      const free = limitOf(name) - pool.used
      for (const wake of [...pool.wake].slice(0, free)) wake()
    } catch (error) {
      const facts = { pool: name, ...failureData(error) }
      await note('api:resource_slot_freed_listener:error', facts)
    }
  }

  const waitIn = async (pool: Pool, signal: AbortSignal): Promise<void> => {
    let wake = (): void => {}
    const woken = new Promise<void>((resolve) => pool.wake.add((wake = resolve)))
    const timer = new AbortController()
    const ended = AbortSignal.any([signal, timer.signal])
    await Promise.race([woken, delay(timings.slotPoll, undefined, { signal: ended })]).catch(
      () => {},
    )
    timer.abort()
    pool.wake.delete(wake)
    signal.throwIfAborted()
  }

  return {
    async acquire(name, signal) {
      const pool = poolOf(name)
      const limit = limitOf(name)
      if (pool.used >= limit) {
        const cluster = siteName(service)
        await note('warn:resource_slot_pool:full', { cluster, pool: name, configured_limit: limit })
      }
      while (pool.used >= limit) await waitIn(pool, signal)
      pool.used++
      return () => {
        pool.used--
        background.run(() => freed(name))
      }
    },
  }
}
