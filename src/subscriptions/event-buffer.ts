import { RETRY_MS } from '../async/backoff.js'
import { pause } from '../async/pause.js'
import type { FeedOptions, FeedPage, SizedEvent } from './feed.js'

export interface EventBufferOptions {
  /** Events after this `created_at`. */
  readonly after: string
  /** True if the events have their bytes. */
  readonly isMeasured: boolean
  readonly readFeed: (options: FeedOptions) => AsyncIterable<FeedPage>
  /** True if there are enough events for now. Then reading waits until some are removed. */
  readonly hasEnough: (events: readonly SizedEvent[]) => boolean
  /** Called when there may be more events, and the cursor may be later. */
  readonly grown: () => void
  /** Called when the log has lost the events after the cursor, and they were removed. */
  readonly rewound: () => void
  readonly signal: AbortSignal
}

/**
 * Matching events that are read ahead during deliveries. This is a class, because closures would take several times
 * the memory.
 */
export class EventBuffer {
  readonly #options: EventBufferOptions
  #events: SizedEvent[] = []
  #cursor: string
  /** Lets the reading continue. */
  #resume = (): void => {}
  /** Resolves when the signal has aborted and reading has ended. */
  readonly ended: Promise<void>

  constructor(options: EventBufferOptions) {
    this.#options = options
    this.#cursor = options.after
    this.ended = this.#read()
    options.signal.addEventListener('abort', () => this.#resume(), { once: true })
  }

  /** The events in their order. */
  get events(): readonly SizedEvent[] {
    return this.#events
  }

  /** Every matching event up to here is among the events, or was removed. */
  get cursor(): string {
    return this.#cursor
  }

  /** Removes the first events, which are delivered or parked. */
  remove(count: number): void {
    this.#events.splice(0, count)
    if (!this.#options.hasEnough(this.#events)) this.#resume()
  }

  async #read(): Promise<void> {
    const { isMeasured, readFeed, hasEnough, grown, rewound, signal } = this.#options
    while (!signal.aborted) {
      try {
        const options = { after: this.#cursor, signal, isMeasured }
        for await (const { events, cursor, isRewind } of readFeed(options)) {
          this.#cursor = cursor
          if (isRewind) {
            this.#events = this.#events.filter(({ event }) => event.created_at <= cursor)
            rewound()
          } else {
            this.#events.push(...events)
            grown()
          }
          if (signal.aborted) return
          if (hasEnough(this.#events))
            await new Promise<void>((resolve) => (this.#resume = resolve))
          if (signal.aborted) return
        }
      } catch {
        // The store failed. The next feed begins where this one ended.
        await pause(RETRY_MS, signal)
      }
    }
  }
}
