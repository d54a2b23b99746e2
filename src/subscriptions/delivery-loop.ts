import { abortedError } from '../errors.js'
import { RETRY_MS } from '../async/backoff.js'
import { pause } from '../async/pause.js'
import type { AuditEvent } from '../event/event.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { type BatchBounds, batchBoundsOf, batchLength, isFull } from './batching.js'
import { type Attempted, attemptDelivery, type DeliveryTarget, type Reported } from './attempt.js'
import type { DeliveryError } from './channel.js'
import {
  type Checkpointed,
  type Checkpoints,
  MAX_UNSAVED_MS,
  type MovingCursor,
  type Saved,
} from './checkpoints.js'
import {
  afterAcceptedProbe,
  afterDelivery,
  afterFailure,
  type AfterFailure,
  afterParking,
  afterRefusedProbe,
  afterSkipping,
  untilNextAttempt,
  withoutFailure,
} from './cursor.js'
import { EventBuffer } from './event-buffer.js'
import type { FeedOptions, FeedPage, SizedEvent } from './feed.js'
import { deliveryChannel, type DeliveryMessage, type Outcomes } from './outcomes.js'
import type { WaitForRate } from './rate.js'
import type { CursorState, ParkedState } from './states.js'
import type { Subscription } from './subscription.js'

export interface DeliveryLoopOptions extends DeliveryTarget {
  readonly audit: object
  /** False if events pass without being delivered. */
  readonly enabled: boolean
  /** The epoch of the lease of the channel. */
  readonly epoch: number
  readonly cursor: CursorState
  /** The matching events after the cursor. */
  readonly readFeed: (options: FeedOptions) => AsyncIterable<FeedPage>
  readonly checkpoints: Checkpoints
  readonly outcomes: Outcomes
  readonly waitForRate: WaitForRate
  /** False while the heartbeat of this process may have expired. */
  readonly isAlive: () => boolean
  /** The store's time. */
  readonly now: () => Microseconds
  /** Returns a random number from 0 to 1. */
  readonly random: () => number
  /** Returns the number of parked events of the subscription. */
  readonly countParked: (signal: AbortSignal) => Promise<number>
  /** Called when the receiver answers that it is permanently gone. */
  readonly gone: (reason: string) => void
  /** Called when the loop has ended because the cursor belongs to another process, or something else has moved it. */
  readonly ended: (loop: DeliveryLoop, saved: Exclude<Saved, 'saved'>) => void
}

/** Delivers the events of one subscription in batches, one at a time. */
export interface DeliveryLoop extends Checkpointed {
  readonly subscription: Subscription
  readonly epoch: number
  readonly cursor: CursorState
  /**
   * Starts no further work, aborts the current delivery, and waits for it for up to 5 seconds. May be called twice.
   */
  stop(): Promise<void>
}

const MAX_PARKED = 10_000
/** The status of a receiver that asks for no further requests (RFC 9110, section 15.5.11). */
const GONE = 410
const STOP_MS = 5000
/** Pause before a loop without a living heartbeat looks again. */
const NOT_ALIVE_MS = 100

export const startDeliveryLoop = (options: DeliveryLoopOptions): DeliveryLoop => new Loop(options)

/** A class, because a process may have a thousand of them, and closures take several times the memory. */
class Loop implements DeliveryLoop {
  readonly subscription: Subscription
  readonly #options: DeliveryLoopOptions
  readonly #bounds: BatchBounds
  readonly #stop = new AbortController()
  readonly #running: Promise<unknown>
  /** The matching events after the cursor. */
  readonly #buffer: EventBuffer
  #cursor: CursorState
  #saved: CursorState
  /** The last cursor that the log has lost, until the cursor before it is stored. */
  #lost: string | undefined
  #parked: readonly ParkedState[] = []
  /** The time of the first delivery that is not stored. */
  #unsavedSince = Infinity
  /** Time at which the last checkpoint took the cursor, and whether a delivery has moved the cursor since. */
  #takenAt = 0
  #hasMoved = false
  /** Last event of the batch whose failure was recorded. Failures of its halves are not recorded. */
  #failedTo = ''
  /** True if there are events since the last look. */
  #isWoken = false
  /** Ends the sleep of the deliveries. */
  #endSleep = (): void => {}

  constructor(options: DeliveryLoopOptions) {
    this.#options = options
    this.subscription = options.subscription
    this.#bounds = batchBoundsOf(options.channel)
    this.#cursor = options.enabled ? options.cursor : withoutFailure(options.cursor)
    this.#saved = options.cursor
    this.#buffer = new EventBuffer({
      after: options.cursor.position,
      isMeasured: this.#bounds.maxBytes < Infinity,
      readFeed: options.readFeed,
      hasEnough: (events) => this.#lengthOf(events) < events.length,
      grown: () => this.#grown(),
      rewound: () => this.#rewound(),
      signal: this.#stop.signal,
    })
    if (this.#cursor !== this.#saved) options.checkpoints.soon(this)
    this.#running = Promise.all([this.#buffer.ended, this.#run()])
  }

  get id(): string {
    return this.subscription.id
  }

  get epoch(): number {
    return this.#options.epoch
  }

  get cursor(): CursorState {
    return this.#cursor
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake()
    const settled = new AbortController()
    const running = this.#running.finally(() => settled.abort())
    await Promise.race([running, pause(STOP_MS, settled.signal)])
  }

  moving(): MovingCursor | undefined {
    if (this.#cursor === this.#saved) return undefined
    this.#takenAt = performance.now()
    this.#hasMoved = false
    const { id, channel } = this.subscription
    const { epoch } = this.#options
    return { id, channel, epoch, cursor: this.#cursor, lost: this.#lost, parked: this.#parked }
  }

  settled({ cursor, lost, parked }: MovingCursor, saved: Saved): void {
    if (saved === 'saved') {
      this.#saved = cursor
      if (lost === this.#lost) this.#lost = undefined
      this.#unsavedSince = this.#hasMoved ? this.#takenAt : Infinity
      this.#wake()
      this.#parked = this.#parked.filter((one) => !parked.includes(one))
      return
    }
    // Deliveries of this process after the stored cursor may be repeated.
    this.#saved = this.#cursor
    void this.stop()
    this.#options.ended(this, saved)
  }

  #grown(): void {
    this.#passed()
    // Most pages of a selective filter are empty.
    if (this.#buffer.events.length > 0 || this.#cursor.failure) this.#wake()
  }

  /** Handles the loss of the events after the cursor of the buffer. */
  #rewound(): void {
    const { cursor: upTo } = this.#buffer
    const { position: last, failure } = this.#cursor
    if (failure && failure.boundary > upTo) this.#move(withoutFailure(this.#cursor))
    if (this.#failedTo > upTo) this.#failedTo = upTo
    if (last > upTo) {
      if (this.#lost === undefined || this.#lost < last) this.#lost = last
      this.#move({ ...this.#cursor, position: upTo })
    }
    this.#wake()
  }

  /** True if the log has lost some of these events, which were the first of the buffer. */
  #hasLost(events: readonly AuditEvent[]): boolean {
    return this.#firstOf(events).length < events.length
  }

  /** Returns the leading events that are still the first of the buffer. */
  #firstOf(events: readonly AuditEvent[]): readonly AuditEvent[] {
    const lost = events.findIndex((event, i) => this.#buffer.events[i]?.event !== event)
    return lost === -1 ? events : events.slice(0, lost)
  }

  /** Number of the events that make the next batch. */
  #lengthOf(events: readonly SizedEvent[]): number {
    return batchLength(events, this.#bounds, this.#cursor.failure?.boundary)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#step(signal)
      } catch {
        // The store failed in a way that may pass, or this loop is stopped.
        await pause(RETRY_MS, signal)
      }
    }
  }

  async #step(signal: AbortSignal): Promise<void> {
    this.#isWoken = false
    const { isAlive, now, channel, checkpoints, enabled } = this.#options
    if (!isAlive()) return pause(NOT_ALIVE_MS, signal)
    if (!enabled) return this.#buffer.events.length > 0 ? this.#skip() : this.#sleep()
    // The sleep ends with the checkpoint that is under way, or with a later attempt.
    if (performance.now() - this.#unsavedSince > MAX_UNSAVED_MS) return this.#sleep()
    const hasDelivered = this.#cursor.delivered !== this.#saved.delivered
    if (channel.checkpoint === 'each' && hasDelivered) await checkpoints.now([this])
    const { failure } = this.#cursor
    const waitMs = failure ? Math.ceil(untilNextAttempt(failure, now()) / 1000) : 0
    if (waitMs > 0) return pause(waitMs, signal)
    const isReady = failure ? this.#hasRead(failure.boundary) : await this.#hasBatch()
    if (signal.aborted) return
    if (isReady) await this.#deliverBatch(signal)
    else await this.#sleep()
  }

  /** Passes all events in memory. */
  #skip(): void {
    const events = this.#buffer.events.map(({ event }) => event)
    const [first, upTo] = [events[0]!.created_at, events.at(-1)!.created_at]
    this.#options.outcomes.skipped(this.subscription, events)
    this.#move(afterSkipping(this.#cursor, { first, upTo, count: events.length }))
    this.#buffer.remove(events.length)
  }

  /** True if the events of a batch that failed are in memory. */
  #hasRead(boundary: string): boolean {
    if (this.#buffer.cursor < boundary) return false
    if (this.#lengthOf(this.#buffer.events) > 0) return true
    // The events of the batch were removed by cleaning.
    this.#move(afterParking(this.#cursor, boundary))
    return false
  }

  /** True if there are events. First waits for further events, according to the settings of the channel. */
  async #hasBatch(): Promise<boolean> {
    if (this.#buffer.events.length === 0) {
      this.#passed()
      return false
    }
    const until = performance.now() + this.#bounds.maxWaitMs
    const { signal } = this.#stop
    while (!isFull(this.#buffer.events, this.#bounds) && !signal.aborted) {
      const ms = until - performance.now()
      if (ms <= 0) break
      this.#isWoken = false
      await this.#sleep(ms)
    }
    return true
  }

  /** Moves the cursor over events that do not match. If no event waits, moves it to the end of the read events. */
  #passed(): void {
    if (this.#buffer.events.length > 0 || this.#cursor.failure) return
    if (this.#buffer.cursor <= this.#cursor.position) return
    this.#cursor = { ...this.#cursor, position: this.#buffer.cursor }
    this.#options.checkpoints.later(this)
  }

  #move(cursor: CursorState): void {
    this.#unsavedSince = Math.min(this.#unsavedSince, performance.now())
    this.#hasMoved = true
    this.#cursor = cursor
    this.#options.checkpoints.soon(this)
  }

  async #deliverBatch(signal: AbortSignal): Promise<void> {
    const length = this.#lengthOf(this.#buffer.events)
    const events = this.#buffer.events.slice(0, length).map(({ event }) => event)
    const attempt = (this.#cursor.failure?.attempts ?? 0) + 1
    const { error, reports } = await this.#attempt(events, attempt, signal)
    if (error) {
      if (signal.aborted || this.#hasLost(events)) return
      this.#recordFailure(events, error, reports)
      return this.#afterFailure(events, error, signal)
    }
    // Recorded also after an abort, because accepted events should not be repeated.
    this.#options.outcomes.reported(this.subscription, events, reports)
    const left = this.#firstOf(events)
    const upTo = left.at(-1)?.created_at ?? this.#cursor.position
    this.#move(afterDelivery(this.#cursor, upTo, length))
    this.#buffer.remove(left.length)
  }

  async #attempt(
    events: readonly AuditEvent[],
    attempt: number,
    signal: AbortSignal,
  ): Promise<Attempted> {
    const { waitForRate, isAlive } = this.#options
    await waitForRate(signal)
    // After the wait, or a suspended process, the heartbeat may have expired.
    if (!isAlive()) throw abortedError(signal)
    const attempted = await attemptDelivery(this.#options, events, attempt, signal)
    if (deliveryChannel.hasSubscribers) this.#publish(events.length, attempted)
    return attempted
  }

  #publish(events: number, { error, duration_ms }: Attempted): void {
    const { audit, subscription } = this.#options
    const message: DeliveryMessage = {
      audit,
      subscription: subscription.name,
      channel: subscription.channel,
      outcome: error ? 'failed' : 'delivered',
      events,
      duration_ms,
    }
    deliveryChannel.publish(message)
  }

  /** Records the first failure of a batch, and the channel's report of it. */
  #recordFailure(
    events: readonly AuditEvent[],
    error: DeliveryError,
    reports: readonly Reported[],
  ): void {
    if (this.#cursor.failure || events[0]!.created_at <= this.#failedTo) return
    this.#failedTo = events.at(-1)!.created_at
    const { outcomes, subscription, channel } = this.#options
    outcomes.failed({ subscription, kind: channel.kind, events, error, attempt: 1 })
    outcomes.reported(subscription, events, reports)
  }

  async #afterFailure(
    events: readonly AuditEvent[],
    error: DeliveryError,
    signal: AbortSignal,
  ): Promise<void> {
    const { outcomes, subscription, channel, now, random } = this.#options
    const times = events.map(({ created_at }) => created_at)
    const attempt = (this.#cursor.failure?.attempts ?? 0) + 1
    const failed = { subscription, kind: channel.kind, events, error, attempt }
    const { whenStuck } = subscription
    const next = afterFailure(this.#cursor, {
      times,
      error,
      whenStuck,
      now: now(),
      random: random(),
    })
    this.#move(next.cursor)
    if (error.status === GONE) return this.#options.gone(error.message)
    const { action, cursor, probed } =
      next.action === 'probe' ? await this.#probe(times, signal) : { ...next, probed: undefined }
    const tried = probed ? [...events, probed] : events
    if (signal.aborted || this.#hasLost(tried)) return
    this.#move(cursor)
    if (action !== 'park') return
    if ((await this.#options.countParked(signal)) >= MAX_PARKED || this.#hasLost(tried)) return
    outcomes.parked(failed)
    await this.#park(events[0]!, error, probed)
  }

  /** Tries the next matching event alone. If it is accepted, an event of the batch is at fault. */
  async #probe(
    times: readonly string[],
    signal: AbortSignal,
  ): Promise<AfterFailure & { readonly probed: AuditEvent | undefined }> {
    const next = this.#buffer.events[times.length]?.event
    if (!next) return { action: 'retry', cursor: this.#cursor, probed: undefined }
    const { error, reports } = await this.#attempt([next], 1, signal)
    if (!error) this.#options.outcomes.reported(this.subscription, [next], reports)
    if (!error) return { ...afterAcceptedProbe(this.#cursor, times), probed: next }
    return { action: 'retry', cursor: afterRefusedProbe(this.#cursor), probed: undefined }
  }

  /** Parks the event. If the event after it was delivered as a probe, the loop continues after both. */
  async #park(
    event: AuditEvent,
    error: DeliveryError,
    probed: AuditEvent | undefined,
  ): Promise<void> {
    const { checkpoints, now } = this.#options
    const { failure, lastError } = this.#cursor
    this.#parked = [
      ...this.#parked,
      {
        event_id: event.id,
        created_at: event.created_at,
        parked_at: formatTimestamp(now()),
        attempts: failure!.attempts,
        error: error.message,
        last_error: lastError!,
      },
    ]
    const parked = afterParking(this.#cursor, event.created_at)
    this.#move(probed ? afterDelivery(parked, probed.created_at, 1) : parked)
    this.#buffer.remove(probed ? 2 : 1)
    await checkpoints.now([this])
  }

  /** Resolves after `ms`, when there are new events, or once the loop is stopped. */
  #sleep(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const timer = ms === undefined ? undefined : setTimeout(end, ms).unref()
      this.#endSleep = end
      if (this.#isWoken) end()
    })
  }

  #wake(): void {
    this.#isWoken = true
    this.#endSleep()
  }
}
