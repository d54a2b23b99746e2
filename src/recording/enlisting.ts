import { AuditLogError, throwIfAborted } from '../errors.js'
import type { EventDraft } from '../event/event.js'
import { asStoreFailure } from './store-failure.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { QueueLimits } from './queue-limits.js'

/** Records events in transactions of the host, past the queue. */
export interface Enlisting {
  /**
   * Adds the draft to the transaction: the store has issued its statement when the call returns. The
   * call counts as waiting until the store answers, without a deadline: only that answer shows
   * whether the draft is in the transaction. Throws `QUEUE_FULL`, `ABORTED`, and `INVALID_OPTION`
   * for a store without transactions.
   */
  enlist(draft: EventDraft, transaction: object, options?: WaitOptions): Promise<undefined>
  /** Resolves when all calls made before have settled. */
  flush(): Promise<unknown>
}

const noop = (): void => {}

export function createEnlisting(
  store: EventStore,
  queueLimits: QueueLimits,
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
      const release = queueLimits.reserve(Buffer.byteLength(draft.json))
      // An async function runs synchronously up to its first `await`, and never throws.
      const attempt = async (): Promise<undefined> => {
        try {
          await store.enlist!(draft, transaction, { signal })
        } catch (error) {
          const failure = asStoreFailure(store, error)
          release()
          observer.rejected(draft, failure)
          throw failure
        }
        release()
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
