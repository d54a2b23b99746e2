import { AuditLogError } from '../../../src/errors.js'
import type { WriteOptions } from '../connection/connection.js'
import { type GivenUp, giveUp, type SharedState } from './call-state.js'
import { type ClonedError, errorOfClone } from './cloned-errors.js'

/** When a caller of the writer thread gives up. */
export type CallOptions = Pick<WriteOptions, 'signal' | 'deadline'>

export type Answer = { readonly result: unknown } | { readonly failure: ClonedError }

/**
 * The error of a write whose outcome is not known: the thread was committing it when the caller gave up, or ended.
 */
export class UnconfirmedWrite extends Error {
  /** Resolves once the write has ended, with or without effect. */
  readonly ended: Promise<void>
  /** True if the caller has given up. */
  readonly isGivenUp: boolean

  constructor(
    message: string,
    { ended, isGivenUp }: Pick<UnconfirmedWrite, 'ended' | 'isGivenUp'>,
  ) {
    super(message)
    this.ended = ended
    this.isGivenUp = isGivenUp
  }
}

const ENDED = 'the writer thread has ended'

/** The error of a call without effect, because its thread has ended. */
export class ThreadEnded extends Error {
  constructor() {
    super(ENDED)
  }
}

/** A call of the writer thread, as its caller's thread sees it. */
export interface ThreadCall {
  readonly result: Promise<unknown>
  /** True if the caller has its result, or has given up. */
  isOver(): boolean
  settle(answer: Answer): void
  /** Gives the call up if it is due. Returns when to check again, on the scale of `performance.now()`. */
  checkDue(now: number): number
  /** The thread has ended without an answer. */
  abandon(): void
}

export interface CallHooks {
  /** Called once, when the caller no longer waits. */
  readonly onOver: () => void
  /** Called when the caller gives up during the commit, with a promise that resolves when the write has ended. */
  readonly onStuck: (ended: Promise<void>) => void
  /** Called with a time at which `checkDue` has to be called. */
  readonly watch: (time: number) => void
  /** Why the thread does not answer; for the error of a caller that gives up before the commit. */
  readonly delayedBy: () => Error | undefined
}

/** How long a call without a deadline waits for its commit after its signal has aborted. */
const COMMIT_MS = 500

/**
 * The call is given up at its deadline, or when its signal aborts; but a commit that has begun is awaited until the
 * deadline.
 */
export function createThreadCall(
  state: SharedState,
  { signal, deadline = Infinity }: CallOptions,
  { onOver, onStuck, watch, delayedBy }: CallHooks,
): ThreadCall {
  let isOver = false
  let dueAt = deadline
  let givenUp: GivenUp | 'done' | undefined
  let endWrite = (): void => {}
  let resolveResult: (result: unknown) => void = () => {}
  let rejectResult: (error: Error) => void = () => {}
  const result = new Promise<unknown>((resolve, reject) => {
    resolveResult = resolve
    rejectResult = reject
  })

  const finish = (): void => {
    isOver = true
    signal?.removeEventListener('abort', onAbort)
    onOver()
  }
  const endUnconfirmed = (): void => {
    finish()
    const ended = new Promise<void>((resolve) => (endWrite = resolve))
    onStuck(ended)
    const reason = 'the disk has not finished the commit'
    rejectResult(new UnconfirmedWrite(reason, { ended, isGivenUp: true }))
  }
  const stop = (isDue: boolean): void => {
    if (isOver) return
    givenUp ??= giveUp(state) ?? 'done'
    // The answer is on its way.
    if (givenUp === 'done') return
    if (givenUp === 'committing') {
      if (isDue) endUnconfirmed()
      else if (deadline === Infinity) {
        dueAt = performance.now() + COMMIT_MS
        watch(dueAt)
      }
      return
    }
    finish()
    rejectResult(aborted(givenUp === 'locked' ? lockError() : (delayedBy() ?? signal?.reason)))
  }
  const onAbort = (): void => stop(performance.now() >= deadline)
  if (deadline !== Infinity) watch(deadline)
  signal?.addEventListener('abort', onAbort, { once: true })

  return {
    result,
    isOver: () => isOver,
    settle(answer) {
      if (isOver) return endWrite()
      finish()
      if ('failure' in answer) rejectResult(errorOfClone(answer.failure))
      else resolveResult(answer.result)
    },
    checkDue(now) {
      if (isOver) return Infinity
      if (now < dueAt) return dueAt
      stop(true)
      return Infinity
    },
    abandon() {
      if (isOver) return endWrite()
      finish()
      const before = giveUp(state)
      if (before === 'waiting' || before === 'locked') return rejectResult(new ThreadEnded())
      rejectResult(new UnconfirmedWrite(ENDED, { ended: Promise.resolve(), isGivenUp: false }))
    },
  }
}

export const aborted = (cause: unknown): AuditLogError =>
  new AuditLogError('ABORTED', 'the operation was aborted', { cause })

/** An error like that of SQLite. */
const lockError = (): Error =>
  Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
