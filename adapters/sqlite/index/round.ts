import { randomUUID } from 'node:crypto'
import { throwIfAborted } from '../../../src/errors.js'
import { type Microseconds, systemClock } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { releaseLease, takeLease } from './lease.js'
import type { Rest } from './pacing.js'
import { PAUSE, type Step } from './segment-writing.js'

/** Steps, each to be run until it succeeds; in the end true where there may be more to do. */
export type Work = Generator<Step, boolean>

/** What there is to do for the index, each until there is no more of it. */
export interface SealingSteps {
  /** Clears away what processes that were killed have left, and what indexes nothing any more. */
  readonly tidy: readonly (() => Work)[]
  readonly seal: () => Work
  readonly merge: () => Work
  /** True where enough is unsealed. Cheap. */
  readonly isSealDue: () => boolean
}

/** How a round ends: something was done, there was nothing to do, or another process is at it. */
export type RoundEnd = 'done' | 'nothing' | 'leased'

export interface RoundOptions {
  readonly steps: SealingSteps
  /** How long others wait for one who has died. */
  readonly leaseMs: number
  readonly rest: Rest
  readonly signal: AbortSignal
}

// So often that a slow step takes no more than the rest of the lease.
const RENEWALS = 4

/** How often a merge is left alone for newer events. */
const SEAL_LOOK_MS = 100

/** The lease went to another, who took this one for dead. */
const LOST = Symbol('lost')

/**
 * Does all that there is to do, while it has the lease. Sealing comes first, also in the middle of a
 * merge, which can take a minute: what is unsealed queries read row by row. Aborts after the
 * transaction that runs, with `ABORTED`.
 */
export async function sealRound(connection: Connection, options: RoundOptions): Promise<RoundEnd> {
  const { steps, leaseMs, rest, signal } = options
  const holder = randomUUID()
  const clock = systemClock()
  const period: Microseconds = leaseMs * 1000
  let renewAt = -Infinity
  let lookAt = -Infinity

  const keepLease = async (): Promise<void> => {
    if (performance.now() < renewAt) return
    const take = (): boolean => takeLease(connection, holder, clock(), period)
    if (!(await connection.write(take, { signal }))) throw LOST
    renewAt = performance.now() + leaseMs / RENEWALS
  }

  const run = async (work: Work, between?: () => Promise<void>): Promise<boolean> => {
    for (;;) {
      const start = performance.now()
      const { done, value } = work.next()
      if (done) return value
      const readMs = performance.now() - start
      if (value === PAUSE) throwIfAborted(signal)
      const wroteMs = value === PAUSE ? 0 : await connection.write(() => timed(value), { signal })
      await rest(readMs, wroteMs)
      await keepLease()
      await between?.()
    }
  }

  /** Until there is no more; true where there was some. */
  const runAll = async (step: () => Work): Promise<boolean> => {
    let times = 0
    while (await run(step())) times += 1
    return times > 0
  }

  const sealNewer = async (): Promise<void> => {
    if (performance.now() < lookAt) return
    if (await connection.retry(steps.isSealDue, { signal })) await runAll(steps.seal)
    lookAt = performance.now() + SEAL_LOOK_MS
  }

  const runSteps = async (): Promise<RoundEnd> => {
    let hasDone = false
    for (const tidy of steps.tidy) hasDone = (await runAll(tidy)) || hasDone
    for (;;) {
      const hasSealed = await runAll(steps.seal)
      const hasMerged = await run(steps.merge(), sealNewer)
      if (!hasSealed && !hasMerged) return hasDone ? 'done' : 'nothing'
      hasDone = true
    }
  }

  try {
    await keepLease()
    return await runSteps()
  } catch (error) {
    if (error === LOST) return 'leased'
    throw error
  } finally {
    releaseQuietly(connection, holder, clock())
  }
}

function timed(act: () => void): number {
  const start = performance.now()
  act()
  return performance.now() - start
}

/** Where that does not succeed at once the lease ends by itself. */
function releaseQuietly(connection: Connection, holder: string, now: Microseconds): void {
  try {
    connection.tryWrite(() => releaseLease(connection, holder, now))
  } catch {
    // Locked, or out of order.
  }
}
