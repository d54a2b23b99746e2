import { AuditLogError } from '../errors.js'

export interface RecorderOptions {
  /**
   * How long one event may wait for the store, in milliseconds, at least 1.
   * @default 10000
   */
  readonly deadlineMs: number
  /**
   * Most events that wait at one time; beyond it `record` rejects with `QUEUE_FULL`.
   * @default 10000
   */
  readonly maxWaiting: number
  /**
   * Most bytes of attributes (JSON text) that wait at one time.
   * @default 67108864
   */
  readonly maxWaitingBytes: number
}

export const defaultRecorderOptions: RecorderOptions = {
  deadlineMs: 10_000,
  maxWaiting: 10_000,
  maxWaitingBytes: 67_108_864,
}

/** What waits for the store, counted. */
export interface WaitingRoom {
  /** Why no more may wait; `undefined` where there is room. */
  fullness(): AuditLogError | undefined
  /** An event of so many bytes waits; `isOwn` where it is no call of the host's. */
  enter(bytes: number, isOwn: boolean): void
  leave(bytes: number, isOwn: boolean): void
  /** Counts an event of the host's until the function that it returns is called. Throws `QUEUE_FULL`. */
  hold(bytes: number): () => void
  /** All that wait. */
  count(): number
  /** The host's. */
  calls(): number
}

export function createWaitingRoom(storeName: string, options: RecorderOptions): WaitingRoom {
  let waiting = 0
  let own = 0
  let waitingBytes = 0
  const room: WaitingRoom = {
    fullness() {
      if (waiting < options.maxWaiting && waitingBytes < options.maxWaitingBytes) return undefined
      const message = `${waiting} events already wait for the ${storeName} store`
      return new AuditLogError('QUEUE_FULL', message)
    },
    enter(bytes, isOwn) {
      waiting++
      waitingBytes += bytes
      if (isOwn) own++
    },
    leave(bytes, isOwn) {
      waiting--
      waitingBytes -= bytes
      if (isOwn) own--
    },
    hold(bytes) {
      const full = room.fullness()
      if (full) throw full
      room.enter(bytes, false)
      let isHeld = true
      return () => {
        if (isHeld) room.leave(bytes, false)
        isHeld = false
      }
    },
    count: () => waiting,
    calls: () => waiting - own,
  }
  return room
}
