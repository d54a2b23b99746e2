import type { AuditLogError } from '../errors.js'

/** Callers of `flush`, and callers that wait for room. */
export interface ChangeWaiters {
  /** Resolves once this many changes are written. Rejects with `onTimeout()` after `timeoutMs`. */
  untilWritten(count: number): Promise<void>
  untilRoom(): Promise<void>
  /** Notes that this many changes are written. */
  written(count: number): void
  hasRoom(): void
  /** Rejects all waiting callers. */
  fail(error: AuditLogError): void
}

interface Waiter {
  /** Resolved when this many changes are written. */
  readonly count: number
  readonly resolve: () => void
  readonly reject: (error: AuditLogError) => void
}

export function createChangeWaiters(
  timeoutMs: number,
  onTimeout: () => AuditLogError,
): ChangeWaiters {
  let flushing: Waiter[] = []
  let waitingForRoom: Omit<Waiter, 'count'>[] = []
  return {
    untilWritten(count) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          flushing.splice(flushing.indexOf(waiter), 1)
          reject(onTimeout())
        }, timeoutMs)
        const waiter: Waiter = {
          count,
          resolve() {
            clearTimeout(timer)
            resolve()
          },
          reject(error) {
            clearTimeout(timer)
            reject(error)
          },
        }
        flushing.push(waiter)
      })
    },
    untilRoom: () =>
      new Promise((resolve, reject) => void waitingForRoom.push({ resolve, reject })),
    written(count) {
      for (const waiter of flushing) if (waiter.count <= count) waiter.resolve()
      flushing = flushing.filter((waiter) => waiter.count > count)
    },
    hasRoom() {
      for (const { resolve } of waitingForRoom) resolve()
      waitingForRoom = []
    },
    fail(error) {
      for (const { reject } of [...flushing, ...waitingForRoom]) reject(error)
      flushing = []
      waitingForRoom = []
    },
  }
}
