import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Appended } from './append.js'

/*
 * A way to the writer thread without messages: memory that both threads share. The thread looks into it for a moment
 * after each answer, because a caller that awaits its calls makes the next one soon. That saves the time in which a message
 * wakes the thread. One append at a time takes this way, while no other call is under way, so calls keep their order.
 *
 * The caller's thread looks for the answer too, once in each turn of its event loop and only for a moment. An event loop that
 * sleeps takes as long to wake as the commit.
 */

/** The places of `state`. */
const STATE = 0
const CALL = 1
const LENGTH = 2
/** Numbers of messages: posted to the thread, and read by it. */
const POSTED = 3
const READ = 4
/** How the call is answered. */
const REPLY = 5
const STATE_LENGTH = 6

/** Values of `STATE`. */
const AWAY = 0
const LOOKING = 1
const FULL = 2

/** Values of `REPLY`. */
const BY_MESSAGE = 0
const AWAITED = 1
const ANSWERED = 2

/** The places of `numbers`. */
const NOW = 0
const FIRST = 1
const AFTER = 2
const NUMBERS_LENGTH = 3

/** Larger drafts take longer than a message does. */
const MAX_BYTES = 64 * 1024
/** The thread looks for at most this long. A caller that does nothing else takes less between two calls. */
const LOOK_MS = 0.3
/** After a look in vain a thread does not look the next times: 1, 2, 4 and so on, up to this number. */
const MAX_SKIPPED = 64
/** The caller's thread looks for at most this many milliseconds: longer than a fast disk takes for a commit. */
export const ANSWER_MS = 0.5
/** After this long the thread returns to its event loop, which has other work. */
const MAX_AWAY_MS = 20

/** Shared memory. */
export interface MailboxMemory {
  readonly state: Int32Array
  readonly numbers: Float64Array
  /** See `encodeDrafts`. */
  readonly drafts: Uint8Array
}

const { BYTES_PER_ELEMENT: STATE_BYTES } = Int32Array
const { BYTES_PER_ELEMENT: NUMBER_BYTES } = Float64Array

export const newMailbox = (): MailboxMemory => ({
  state: new Int32Array(new SharedArrayBuffer(STATE_LENGTH * STATE_BYTES)),
  numbers: new Float64Array(new SharedArrayBuffer(NUMBERS_LENGTH * NUMBER_BYTES)),
  drafts: new Uint8Array(new SharedArrayBuffer(MAX_BYTES)),
})

/** An append without anything but drafts. */
export interface MailboxCall {
  readonly call: number
  readonly now: Microseconds
  readonly drafts: ArrayBuffer
}

/** Decides whether to look again after looks in vain. */
function createSkips() {
  let skipped = 0
  let toSkip = 0
  return {
    mayLook(): boolean {
      if (skipped++ < toSkip) return false
      skipped = 0
      return true
    },
    missed: () => void (toSkip = Math.min(2 * toSkip + 1, MAX_SKIPPED)),
    found: () => void (toSkip = 0),
  }
}

/** The end of the callers. */
export interface MailboxSender {
  /**
   * Copies the call into the mailbox; returns false if the thread does not look. Call it while no other call is under way.
   * `onAnswer` is called if the answer is in the mailbox; otherwise it comes as a message.
   */
  put(call: MailboxCall, onAnswer: () => void): boolean
  /** Call it before a message is posted to the thread. */
  noteMessage(): void
  /** The result of the call that was answered last. */
  result(): Appended
}

/** With 0 for `answerMs` the caller's thread never looks for answers. */
export function mailboxSender(
  { state, numbers, drafts: place }: MailboxMemory,
  answerMs: number,
): MailboxSender {
  const skips = createSkips()
  let puts = 0
  /** False also if the thread looks while a message is on its way, which has to be handled first. */
  const isAwaited = (): boolean =>
    Atomics.load(state, STATE) === LOOKING &&
    Atomics.load(state, READ) === Atomics.load(state, POSTED)

  const lookForAnswer = (onAnswer: () => void): void => {
    const number = ++puts
    const end = performance.now() + answerMs
    const answered = (): void => {
      skips.found()
      onAnswer()
    }
    const look = (): void => {
      // A later call means that this one was answered by a message.
      if (number !== puts) return
      const reply = Atomics.load(state, REPLY)
      if (reply === ANSWERED) return answered()
      if (reply === BY_MESSAGE) return
      if (performance.now() < end) return void setImmediate(look)
      // The answer may have come just now.
      if (Atomics.compareExchange(state, REPLY, AWAITED, BY_MESSAGE) === ANSWERED) return answered()
      skips.missed()
    }
    setImmediate(look)
  }

  return {
    put({ call, now, drafts }, onAnswer) {
      if (drafts.byteLength > MAX_BYTES || !isAwaited()) return false
      const mayLook = answerMs > 0 && skips.mayLook()
      state[REPLY] = mayLook ? AWAITED : BY_MESSAGE
      state[CALL] = call
      state[LENGTH] = drafts.byteLength
      numbers[NOW] = now
      place.set(new Uint8Array(drafts))
      if (Atomics.compareExchange(state, STATE, LOOKING, FULL) !== LOOKING) return false
      if (mayLook) lookForAnswer(onAnswer)
      return true
    },
    noteMessage() {
      Atomics.add(state, POSTED, 1)
      Atomics.compareExchange(state, STATE, LOOKING, AWAY)
    },
    result: () => ({ first: numbers[FIRST]!, after: numbers[AFTER]!, exceptions: [] }),
  }
}

/** The end of the thread. */
export interface MailboxReceiver {
  /** Call it for each message, before the message is handled. */
  noteMessage(): void
  /** Waits a moment for a call, without the event loop. */
  look(): MailboxCall | undefined
  /**
   * Stores the result of the call for `MailboxSender.result`; `undefined` if it is another one. Returns false if the
   * answer has to be sent as a message.
   */
  answer(result: Pick<Appended, 'first' | 'after'> | undefined): boolean
}

/** With `canLook` false the thread never looks: it would keep callers from the only processor. */
export function mailboxReceiver(
  { state, numbers, drafts: place }: MailboxMemory,
  canLook: boolean,
): MailboxReceiver {
  const skips = createSkips()
  let turnAt = -Infinity

  const hasMessages = (): boolean => Atomics.load(state, POSTED) !== Atomics.load(state, READ)

  /** True once there is a call; false after some time, or when there is a message. */
  const waitForCall = (): boolean => {
    const end = performance.now() + LOOK_MS
    Atomics.store(state, STATE, LOOKING)
    while (Atomics.load(state, STATE) === LOOKING && !hasMessages())
      if (performance.now() >= end) {
        skips.missed()
        break
      }
    return Atomics.exchange(state, STATE, AWAY) === FULL
  }

  return {
    noteMessage() {
      Atomics.add(state, READ, 1)
      turnAt = performance.now()
    },
    look() {
      if (!canLook || hasMessages() || performance.now() - turnAt > MAX_AWAY_MS) return undefined
      if (!skips.mayLook() || !waitForCall()) return undefined
      skips.found()
      const drafts = new Uint8Array(state[LENGTH]!)
      drafts.set(place.subarray(0, drafts.length))
      return { call: state[CALL]!, now: numbers[NOW]!, drafts: drafts.buffer }
    },
    answer(result) {
      if (!result) {
        Atomics.store(state, REPLY, BY_MESSAGE)
        return false
      }
      numbers[FIRST] = result.first
      numbers[AFTER] = result.after
      return Atomics.compareExchange(state, REPLY, AWAITED, ANSWERED) === AWAITED
    },
  }
}
