import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Appended } from './append.js'

/*
 * A way to the writer thread without messages: memory that both threads share. The thread looks into it for a moment
 * after each answer, because a caller that awaits its calls makes the next one soon. That saves the time in which a message
 * wakes the thread. One append at a time takes this way, while no other call is under way, so calls keep their order.
 */

/** The places of `state`. */
const STATE = 0
const CALL = 1
const LENGTH = 2
/** Numbers of messages: posted to the thread, and read by it. */
const POSTED = 3
const READ = 4
const STATE_LENGTH = 5

/** Values of `STATE`. */
const AWAY = 0
const LOOKING = 1
const FULL = 2

/** The places of `numbers`. */
const NOW = 0
const FIRST = 1
const AFTER = 2
const NUMBERS_LENGTH = 3

/** Larger drafts take longer than a message does. */
const MAX_BYTES = 64 * 1024
/** The thread looks for at most this long. A caller that does nothing else takes less between two calls. */
const LOOK_MS = 0.3
/** After a look in vain the thread does not look after the next answers: 1, 2, 4 and so on, up to this number. */
const MAX_SKIPPED = 64
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

/** The end of the callers. */
export interface MailboxSender {
  /** Copies the call into the mailbox; returns false if the thread does not look. Call it while no other call is under way. */
  put(call: MailboxCall): boolean
  /** Call it before a message is posted to the thread. */
  noteMessage(): void
  /** The result of the call that was answered last. */
  result(): Appended
}

export function mailboxSender({ state, numbers, drafts: place }: MailboxMemory): MailboxSender {
  /** False also if the thread looks while a message is on its way, which has to be handled first. */
  const isAwaited = (): boolean =>
    Atomics.load(state, STATE) === LOOKING &&
    Atomics.load(state, READ) === Atomics.load(state, POSTED)

  return {
    put({ call, now, drafts }) {
      if (drafts.byteLength > MAX_BYTES || !isAwaited()) return false
      state[CALL] = call
      state[LENGTH] = drafts.byteLength
      numbers[NOW] = now
      place.set(new Uint8Array(drafts))
      return Atomics.compareExchange(state, STATE, LOOKING, FULL) === LOOKING
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
  /** Stores the result for `MailboxSender.result`. */
  setResult(result: Pick<Appended, 'first' | 'after'>): void
}

/** With `canLook` false the thread never looks: it would keep callers from the only processor. */
export function mailboxReceiver(
  { state, numbers, drafts: place }: MailboxMemory,
  canLook: boolean,
): MailboxReceiver {
  let turnAt = -Infinity
  let skipped = 0
  let toSkip = 0

  const hasMessages = (): boolean => Atomics.load(state, POSTED) !== Atomics.load(state, READ)

  /** True once there is a call; false after some time, or when there is a message. */
  const waitForCall = (): boolean => {
    const end = performance.now() + LOOK_MS
    Atomics.store(state, STATE, LOOKING)
    while (Atomics.load(state, STATE) === LOOKING && !hasMessages())
      if (performance.now() >= end) {
        toSkip = Math.min(2 * toSkip + 1, MAX_SKIPPED)
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
      if (skipped++ < toSkip) return undefined
      skipped = 0
      if (!waitForCall()) return undefined
      toSkip = 0
      const drafts = new Uint8Array(state[LENGTH]!)
      drafts.set(place.subarray(0, drafts.length))
      return { call: state[CALL]!, now: numbers[NOW]!, drafts: drafts.buffer }
    },
    setResult({ first, after }) {
      numbers[FIRST] = first
      numbers[AFTER] = after
    },
  }
}
