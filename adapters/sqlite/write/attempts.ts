import { setImmediate as nextTurn } from 'node:timers/promises'
import { outcomeUnknown } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Appended } from './append.js'
import { type LostAttempt, recoveryRequest } from './lost-attempts.js'
import type { Recovered } from './recover.js'
import { aborted, UnconfirmedWrite } from './thread-call.js'
import type { Writer } from './writer.js'

/** Makes attempts to append, and recovers from those that were given up while the disk had not finished their commit. */
export interface Attempts {
  /**
   * `undefined` if only drafts of the outbox were stored, or if the writer thread has ended: call it again then. If it
   * is given up during the commit it rejects with `ABORTED`, and a later attempt removes what was stored after all; or
   * with `OUTCOME_UNKNOWN` if other processes may have found that.
   */
  append(
    drafts: readonly EventDraft[],
    options: AppendOptions,
    recovered: Recovered | undefined,
  ): Promise<Appended | undefined>
  /** A time before every event that the next attempt stores. */
  floor(): Microseconds
  /** Removes what lost attempts have stored, if the disk answers within a second. */
  close(): Promise<void>
}

export interface AttemptsOptions {
  readonly writer: Pick<Writer, 'append'>
  /** A time before every event that is appended from now on. */
  readonly floor: Microseconds
  /** Called when events of lost attempts were removed. */
  readonly onRemoved: () => void
}

/** Until then, the caller of a lost attempt may append its drafts again. */
const RECOVER_AFTER_MS = 250
const RECOVER_MS = 1000

export function createAttempts(options: AttemptsOptions): Attempts {
  const { writer, onRemoved } = options
  let { floor } = options
  let lost: readonly LostAttempt[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const append: Attempts['append'] = async (drafts, given, recovered) => {
    const earlier = lost
    const since = floor
    try {
      const appended = await writer.append(recoveryRequest(earlier, drafts, recovered), given)
      // Otherwise the drafts have not been looked for.
      if (appended) lost = lost.filter((one) => !earlier.includes(one))
      if (appended && drafts.length > 0 && appended.exceptions.length === 0)
        floor = appended.first - 1
      return appended
    } catch (error) {
      if (!(error instanceof UnconfirmedWrite)) throw error
      const suffixes = drafts.map(({ suffix }) => suffix)
      const isShared = given.since !== undefined
      lost = [...lost, { suffixes, since, isShared, retriedLater: given.retriedLater }]
      void error.ended.then(() => recoverLater(RECOVER_AFTER_MS))
      if (!error.isGivenUp && !isClosed) return undefined
      if (!isShared && !isClosed) throw aborted(error)
      throw outcomeUnknown('the disk has not finished the commit of the SQLite store', error)
    }
  }

  const recoverLost = async (): Promise<void> => {
    if (lost.length === 0) return
    const deadline = performance.now() + RECOVER_MS
    for (; lost.length > 0; await nextTurn()) await append([], { deadline }, undefined)
    onRemoved()
  }
  const recoverLater = (ms: number): void => {
    if (isClosed) return
    timer ??= setTimeout(() => {
      timer = undefined
      recoverLost().catch(() => recoverLater(RECOVER_MS))
    }, ms).unref()
  }

  return {
    append,
    floor: () => floor,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await recoverLost().catch(() => {})
    },
  }
}
