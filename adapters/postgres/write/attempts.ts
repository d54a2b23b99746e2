import { ask } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'
import type { Appender, AppendRequest } from './append.js'
import type { Appended } from './append-call.js'

/** Runs the attempts of an appender on connections of its log. */
export interface Attempts {
  /** Gives the appender the server's state; true if the outbox is not empty. */
  synchronize(signal: AbortSignal): Promise<boolean>
  run(request: AppendRequest, signal: AbortSignal): Promise<Appended>
  /** Milliseconds since an attempt last moved the outbox. */
  idleMs(): number
}

/** Called with the number of events that became visible, and whether processes may listen for notifications. */
export type OnVisible = (events: number, hasListeners: boolean) => void

/** `onVisible` is called when an attempt has made events visible. */
export function createAttempts(
  log: PostgresLog,
  appender: Appender,
  onVisible: OnVisible,
): Attempts {
  let lastMove = -Infinity

  return {
    async synchronize(signal) {
      const [row] = await log.use(signal, (client) =>
        ask(
          client,
          `SELECT last_value, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
             EXISTS (SELECT FROM ${log.names.outbox}) FROM ${log.names.highWater}`,
        ),
      )
      appender.synchronize({ highWater: Number(row![0]), serverTime: Number(row![1]) })
      return row![2] === 't'
    },
    async run(request, signal) {
      // An attempt that the server has begun is awaited until its deadline, after which it stores nothing.
      const appended = await log.use(
        signal,
        (client) => appender.attempt(client, request),
        request.deadline,
      )
      const visible = appended.stored.length + appended.moved
      // A call whose drafts are all suppressed does not move the outbox.
      if (visible > 0 || request.drafts.length === 0) lastMove = performance.now()
      if (visible > 0) onVisible(visible, appended.hasListeners)
      return appended
    },
    idleMs: () => performance.now() - lastMove,
  }
}
