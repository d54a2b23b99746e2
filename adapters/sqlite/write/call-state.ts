import { AuditLogError } from '../../../src/errors.js'
import type { RemoteCaller } from '../connection/connection.js'

/*
 * The state of a call of the writer thread, in memory that both threads share. The caller can give up while the thread
 * is blocked by the disk, and from the state before it knows whether the write can still take effect.
 */
const WAITING = 0
/** Waits for the lock of another connection. */
const LOCKED = 1
const COMMITTING = 2
/** Has ended; its result is on its way. */
const DONE = 3
const GIVEN_UP = 4

export type SharedState = Int32Array

export const newState = (): SharedState =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

export const resetState = (state: SharedState): void => void Atomics.store(state, 0, WAITING)

/**
 * What is known of a call that was given up. `waiting`, `locked`: it has had no effect, and will have none.
 * `committing`: it takes effect if the disk finishes the commit.
 */
export type GivenUp = 'waiting' | 'locked' | 'committing'

/** Gives the call up; `undefined` if it has ended, or was given up then. */
export function giveUp(state: SharedState): GivenUp | undefined {
  const before = Atomics.exchange(state, 0, GIVEN_UP)
  if (before === DONE || before === GIVEN_UP) return undefined
  if (before === COMMITTING) return 'committing'
  return before === LOCKED ? 'locked' : 'waiting'
}

const givenUp = (): AuditLogError => new AuditLogError('ABORTED', 'the operation was aborted')

/** The caller, for the thread that writes. */
export interface SharedCaller extends RemoteCaller {
  /** The write has ended. */
  end(): void
}

export function sharedCaller(state: SharedState): SharedCaller {
  /** Throws if the caller has given up. Only this thread changes the state otherwise. */
  const change = (to: number): void => {
    const before = Atomics.load(state, 0)
    if (before === GIVEN_UP || Atomics.compareExchange(state, 0, before, to) !== before)
      throw givenUp()
  }
  return {
    check() {
      if (Atomics.load(state, 0) === GIVEN_UP) throw givenUp()
    },
    // Also after a commit that had no effect because of a lock.
    noteLock: () => change(LOCKED),
    beginCommit: () => change(COMMITTING),
    end() {
      if (Atomics.load(state, 0) === COMMITTING) Atomics.compareExchange(state, 0, COMMITTING, DONE)
    },
  }
}
