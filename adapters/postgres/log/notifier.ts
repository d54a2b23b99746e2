import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { Watchers } from '../../../src/store-kit/watchers.js'
import { ASYNC_COMMIT } from '../connection/client.js'
import type { PostgresLog } from './log.js'
import { notifyWritten } from './tokens.js'

// Each commit with a NOTIFY takes a lock that the whole server shares, so notifications are coalesced
// and sent in transactions of their own (https://www.postgresql.org/docs/current/sql-notify.html), which do not
// wait for the disk.
const NOTIFY_EVERY_MS = 50
const SEND_MS = 5000

/** Notifies the watchers of this process at once, and other processes at intervals. */
export interface Notifier {
  /** Without `hasListeners` no other process has to be notified. */
  readonly notify: (hasListeners?: boolean) => void
  /** Resolves when no notification is being sent any more. */
  sent(): Promise<void>
}

/** Sends nothing more once `closing` aborts. */
export function createNotifier(
  log: PostgresLog,
  watchers: Watchers,
  closing: AbortSignal,
): Notifier {
  let isNotifying = false
  let isPending = false
  let sending: Promise<void> = Promise.resolve()

  const send = async (): Promise<void> => {
    using wait = timeoutSignal(SEND_MS)
    await log.use(wait.signal, (client) => notifyWritten(client, log, ASYNC_COMMIT))
  }

  const notify: Notifier['notify'] = (hasListeners = true) => {
    watchers.hint()
    if (!hasListeners) return
    isPending = true
    if (isNotifying || closing.aborted) return
    isNotifying = true
    isPending = false
    sending = send()
      .catch(() => {})
      .finally(() => {
        const timer = setTimeout(() => {
          isNotifying = false
          if (isPending) notify()
        }, NOTIFY_EVERY_MS)
        timer.unref()
      })
  }

  return { notify, sent: () => sending }
}
