import { AuditLogError, throwIfAborted } from '../errors.js'
import type { EventDraft } from '../event/event.js'
import { asStoreFailure } from './store-failure.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { WaitingRoom } from './queue-limits.js'

/** The way past the queue, into a transaction of the host's. */
export interface Enlisting {
  /**
   * Has the store make the draft part of the transaction, before the call returns. It counts as
   * waiting, without a deadline: only the end of the store's attempt tells whether the draft is in
   * the transaction. Throws at once `QUEUE_FULL`, `ABORTED`, and `INVALID_OPTION` where the store
   * knows no transactions.
   */
  enlist(draft: EventDraft, transaction: object, options?: WaitOptions): Promise<undefined>
  /** Resolves when all calls made before have come to their end. */
  flush(): Promise<unknown>
}

const noop = (): void => {}

export function createEnlisting(
  store: EventStore,
  room: WaitingRoom,
  observer: {
    enlisted(draft: EventDraft): void
    rejected(draft: EventDraft, error: AuditLogError): void
  },
): Enlisting {
  const enlisting = new Set<Promise<unknown>>()
  return {
    enlist(draft, transaction, { signal } = {}) {
      if (!store.enlist) {
        const message = `the ${store.name} store cannot take part in a transaction`
        throw new AuditLogError('INVALID_OPTION', message)
      }
      if (transaction === null || typeof transaction !== 'object')
        throw new AuditLogError('INVALID_OPTION', 'transaction must be an open database handle')
      throwIfAborted(signal)
      const full = room.fullness()
      if (full) throw full
      const bytes = Buffer.byteLength(draft.json)
      room.enter(bytes, false)
      // An async function runs to its first `await` within the call, and never throws.
      const attempt = async (): Promise<undefined> => {
        try {
          await store.enlist!(draft, transaction, { signal })
        } catch (error) {
          const failure = asStoreFailure(store, error)
          room.leave(bytes, false)
          observer.rejected(draft, failure)
          throw failure
        }
        room.leave(bytes, false)
        observer.enlisted(draft)
        return undefined
      }
      const call = attempt()
      const settled: Promise<void> = call
        .then(noop, noop)
        .then(() => void enlisting.delete(settled))
      enlisting.add(settled)
      return call
    },
    flush: () => Promise.all(enlisting),
  }
}
