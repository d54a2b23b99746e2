import { AuditLogError } from '../errors.js'
import { waitingAtExit } from './losses.js'

export interface RecorderOptions {
  /**
   * How long an event may wait for the store, in milliseconds; at least 1.
   * @default 10000
   */
  readonly deadlineMs: number
  /**
   * Maximum number of events that wait at one time; beyond it `record` rejects with `QUEUE_FULL`.
   * @default 10000
   */
  readonly maxWaiting: number
  /**
   * Maximum bytes of attributes (JSON text) that wait at one time.
   * @default 67108864
   */
  readonly maxWaitingBytes: number
}

export const defaultRecorderOptions: RecorderOptions = {
  deadlineMs: 10_000,
  maxWaiting: 10_000,
  maxWaitingBytes: 67_108_864,
}

/** Counts the events that wait for the store, in number and in bytes. */
export interface QueueLimits {
  /** `QUEUE_FULL` if the limits are reached; `undefined` if there is room. */
  fullError(): AuditLogError | undefined
  /** `isOwn`: recorded by the log itself, not by a call of the host. */
  add(bytes: number, isOwn: boolean): void
  remove(bytes: number, isOwn: boolean): void
  /**
   * Counts an event of the host until the returned function is called for the first time. Throws
   * `QUEUE_FULL`.
   */
  reserve(bytes: number): () => void
  /** All events that wait. */
  total(): number
  /** Those of the host. */
  calls(): number
}

export function createQueueLimits(storeName: string, options: RecorderOptions): QueueLimits {
  let waiting = 0
  let own = 0
  let waitingBytes = 0
  const unfinished = { count: () => waiting - own }
  const limits: QueueLimits = {
    fullError() {
      if (waiting < options.maxWaiting && waitingBytes < options.maxWaitingBytes) return undefined
      const message = `${waiting} events already wait for the ${storeName} store`
      return new AuditLogError('QUEUE_FULL', message)
    },
    add(bytes, isOwn) {
      if (waiting++ === 0) waitingAtExit.add(unfinished)
      waitingBytes += bytes
      if (isOwn) own++
    },
    remove(bytes, isOwn) {
      if (--waiting === 0) waitingAtExit.delete(unfinished)
      waitingBytes -= bytes
      if (isOwn) own--
    },
    reserve(bytes) {
      const full = limits.fullError()
      if (full) throw full
      limits.add(bytes, false)
      let isReserved = true
      return () => {
        if (isReserved) limits.remove(bytes, false)
        isReserved = false
      }
    },
    total: () => waiting,
    calls: unfinished.count,
  }
  return limits
}
