import { timeoutSignal } from '../../async/timeout-signal.js'
import type { OpenLogsTail } from '../../logs/tail-across.js'

export interface LogsLongPollOptions<Page> {
  readonly seconds: number
  /** Opens a tail of the events to wait for, which ends with the signal. */
  readonly follow: (signal: AbortSignal) => Promise<OpenLogsTail>
  readonly list: () => Promise<Page>
  readonly isEmpty: (page: Page) => boolean
  /** Ends the wait. */
  readonly signal: AbortSignal
}

/** The current page. If it is empty, the page at the time when the first event matches, at the latest after `seconds`. */
export async function longPollLogs<Page>({
  seconds,
  follow,
  list,
  isEmpty,
  signal,
}: LogsLongPollOptions<Page>): Promise<Page> {
  const wait = timeoutSignal(seconds * 1000, signal)
  let batches: OpenLogsTail['batches'] | undefined
  try {
    // Opened before the query, so that no event is missed between the two.
    ;({ batches } = await follow(wait.signal))
    let page = await list()
    while (isEmpty(page) && !wait.signal.aborted) {
      await batches.next()
      // At the end too: the tail returns neither changed live events nor imported ones, which may match now.
      if (!signal.aborted) page = await list()
    }
    return page
  } finally {
    wait.end()
    await batches?.return()
  }
}
