import type { Transferable } from 'node:worker_threads'
import { createFirstTimer } from '../../../src/async/timers.js'
import { throwIfAborted } from '../../../src/errors.js'
import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { newState, resetState, type SharedState } from './call-state.js'
import {
  aborted,
  type Answer,
  type CallOptions,
  createThreadCall,
  type ThreadCall,
  ThreadEnded,
} from './thread-call.js'
import type { Writer } from './writer.js'

/** What the thread is asked to do. */
export interface WriterRequest {
  readonly method: keyof Writer
  /** Without the options. */
  readonly args: readonly unknown[]
}

/** A request as a message. */
export interface WriterCall extends WriterRequest {
  /** The number of the state; no other call has it at the same time. */
  readonly call: number
  /** The time of the store's clock, which the thread cannot read. */
  readonly now: Microseconds
}

export type CallMessage = WriterCall | { readonly state: SharedState }

/** The end of the thread to which calls are posted. */
export interface CallPort {
  /** Gives the thread a call without a message, while no other call is under way; returns false if that is impossible. */
  put(message: WriterCall): boolean
  post(message: CallMessage, transfer: readonly Transferable[]): void
  ref(): void
  unref(): void
}

/** The calls of a writer thread. The process stays alive while a caller waits. */
export interface ThreadCalls {
  /**
   * Posts a request, with memory that is handed over instead of copied. Calls reach the thread in their order. Rejects
   * as the method does; with `ABORTED` if the caller gives up before the commit, even while the disk blocks the thread;
   * with `UnconfirmedWrite` if it gives up during the commit, or if the thread ends then; and with `ThreadEnded` if that
   * ends before the commit.
   */
  call(
    request: WriterRequest,
    options: CallOptions,
    transfer?: readonly Transferable[],
  ): Promise<unknown>
  settle(call: number, answer: Answer): void
  /** The thread will not answer any more. */
  abandonAll(): void
}

function throwIfOver({ signal, deadline = Infinity }: CallOptions): void {
  throwIfAborted(signal)
  if (deadline <= performance.now()) throw aborted(undefined)
}

export function createThreadCalls(port: CallPort, clock: Clock): ThreadCalls {
  const states: SharedState[] = []
  const free: number[] = []
  const open = new Map<number, ThreadCall>()
  /** Calls whose callers wait. */
  let awaited = 0
  /** Calls that were given up during their commit. While there are any, the disk blocks the thread. */
  let stuck = 0
  let heldBack: (() => void)[] = []
  let isAbandoned = false

  const takeNumber = (): number => {
    const reused = free.pop()
    if (reused !== undefined) return reused
    const state = newState()
    port.post({ state }, [])
    return states.push(state) - 1
  }
  const release = (number: number): void => {
    open.delete(number)
    free.push(number)
  }
  const postHeldBack = (): void => {
    if (--stuck > 0) return
    const posts = heldBack
    heldBack = []
    for (const post of posts) post()
  }
  const dueCalls = createFirstTimer((now) => {
    let next = Infinity
    for (const call of open.values()) next = Math.min(next, call.checkDue(now))
    return next
  })
  const hooks = {
    watch: (time: number) => dueCalls.watch(time),
    onOver() {
      if (--awaited === 0) port.unref()
    },
    onStuck(ended: Promise<void>) {
      stuck += 1
      void ended.then(postHeldBack)
    },
    delayedBy: () =>
      stuck > 0 ? new Error('the disk has not finished an earlier commit') : undefined,
  }

  return {
    async call(request, options, transfer = []) {
      throwIfOver(options)
      if (isAbandoned) throw new ThreadEnded()
      const number = takeNumber()
      const state = states[number]!
      resetState(state)
      if (awaited++ === 0) port.ref()
      const call = createThreadCall(state, options, hooks)
      open.set(number, call)
      const post = (): void => {
        // What was given up before it was posted gets no answer.
        if (call.isOver()) return release(number)
        const message = { call: number, now: clock(), ...request }
        if (open.size > 1 || !port.put(message)) port.post(message, transfer)
      }
      // Held back, so that messages do not pile up.
      if (stuck > 0) heldBack.push(post)
      else post()
      return call.result
    },
    settle(number, answer) {
      const call = open.get(number)
      release(number)
      call?.settle(answer)
    },
    abandonAll() {
      isAbandoned = true
      dueCalls.close()
      for (const call of open.values()) call.abandon()
    },
  }
}
