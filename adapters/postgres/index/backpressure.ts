import { setTimeout as delay } from 'node:timers/promises'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { ask } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'
import { countUnindexed, type Unindexed } from './unindexed.js'

/** Makes the writes of this process wait while too many events are not in the index. */
export interface Backpressure {
  /** Maximum number of events that are not in the index. Each process may exceed it by an eighth, or 32,768, and a batch. */
  readonly maxUnindexed: number
  /** Notes that this process has added events. */
  readonly added: (events: number) => void
  /**
   * Resolves once few enough events are not in the index, at the latest after half of the time until `deadline`, on the
   * scale of `performance.now()`. Does not wait for an index that has stopped growing. Never rejects.
   */
  readonly ready: (signal: AbortSignal | undefined, deadline?: number) => Promise<void>
  /** How long writes of this process have waited, in milliseconds. */
  delayedMs(): number
}

export interface BackpressureOptions {
  readonly maxUnindexed: number
  /** Maximum time for which one write waits. */
  readonly maxWaitMs: number
  /** Has this process build the index, unless another one does. */
  readonly build: () => void
}

/** The events are counted this many times while this process adds as many as may be unindexed. */
const CHECKS = 8
/** A write waits for at most five seconds. About this number of events is indexed in that time. */
const MAX_UNCHECKED = 32_768
const POLL_MS = 20

export function createBackpressure(
  { names, use }: Pick<PostgresLog, 'names' | 'use'>,
  { maxUnindexed, maxWaitMs, build }: BackpressureOptions,
): Backpressure {
  const maxUnchecked = Math.min(maxUnindexed / CHECKS, MAX_UNCHECKED)
  let unchecked = 0
  let delayedMs = 0
  let waitingSince: number | undefined
  /** The version of the index for which a write has waited in vain. */
  let stalled: string | undefined

  const count = (signal: AbortSignal): Promise<Unindexed> =>
    use(signal, (client) => countUnindexed(client, names, maxUnindexed + 1))

  const versionAfter = async (version: string, signal: AbortSignal): Promise<void> => {
    for (let current = version; current === version;) {
      build()
      await delay(POLL_MS, undefined, { signal })
      const [row] = await use(signal, (client) =>
        ask(client, `SELECT version FROM ${names.indexState}`),
      )
      current = row![0]!
    }
  }

  const waitForIndex = async (signal: AbortSignal): Promise<void> => {
    let { count: unindexed, version } = await count(signal)
    if (version === stalled) return
    stalled = undefined
    while (unindexed > maxUnindexed) {
      waitingSince ??= performance.now()
      const before = version
      await versionAfter(before, signal).catch((error: unknown) => {
        stalled = before
        throw error
      })
      ;({ count: unindexed, version } = await count(signal))
    }
  }

  return {
    maxUnindexed,
    added: (events) => void (unchecked += events),
    async ready(signal, deadline = Infinity) {
      if (unchecked < maxUnchecked) return
      unchecked = 0
      using wait = timeoutSignal(Math.min(maxWaitMs, (deadline - performance.now()) / 2), signal)
      // A server that is away makes the write itself fail.
      await waitForIndex(wait.signal).catch(() => {})
      if (waitingSince !== undefined) delayedMs += performance.now() - waitingSince
      waitingSince = undefined
    },
    delayedMs: () =>
      delayedMs + (waitingSince === undefined ? 0 : performance.now() - waitingSince),
  }
}
