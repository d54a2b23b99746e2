import { ASYNC_DISPOSE } from '../async/disposal.js'
import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { JsonLimits } from '../event/json.js'
import { type AttributesChange, createLiveAttributes } from './attributes.js'
import { liveClosed } from './closed-error.js'
import { createLiveWriter } from './writer.js'
import { TIMES } from '../coordination/times.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import { checkOptions } from '../options.js'

/**
 * An event whose attributes change until it is closed. Readers see it from its start. Changes take effect in the
 * order of the calls; readers see them within 250 ms. They are durable once `flush` or `close` resolves. `update` and
 * `append` resolve at once, unless more than 64 KiB wait to be written. Then they wait for the next attempt to write,
 * so a loop may await them for every line. Both reject with `LIVE_CLOSED` once the event is closed, by `close` or by
 * another process. Another process closes it as unfinished after about 20 seconds without a heartbeat of this
 * process. A rejected change is not stored.
 *
 * If the event was suppressed, dropped or journalled, `event` is `undefined`, and all methods resolve without effect.
 */
export interface LiveEvent extends AsyncDisposable {
  /** The event as it was opened. */
  readonly event: AuditEvent | undefined
  /**
   * Changes the attributes. An object replaces the attributes that it names; the value `undefined` removes an
   * attribute. A function gets a copy of the attributes and returns all new attributes. Rejects with `INVALID_DATA`
   * for anything but an object. A text that grew by `append` is only written as a whole if its beginning differs.
   */
  update(change: AttributesChange, options?: WaitOptions): Promise<void>
  /**
   * Appends to a top-level attribute that is a text. Rejects with `INVALID_DATA` for other values. If the event
   * exceeds the log's limits, the longest of these texts lose their oldest part, and the attribute `recording`
   * reports this.
   */
  append(key: string, text: string, options?: WaitOptions): Promise<void>
  /**
   * Resolves when all earlier changes are durable. Rejects with `DEADLINE_EXCEEDED` if this takes too long; writing
   * continues.
   */
  flush(options?: WaitOptions): Promise<void>
  /**
   * Closes the event. Resolves to the closed event, complete and durable. May be called twice. Rejects with
   * `DEADLINE_EXCEEDED` if the store does not store the change in time; then the event stays as it was last written,
   * and is closed as unfinished later. Rejects with `OUTCOME_UNKNOWN` if the store has not confirmed the change,
   * which may be stored or not. An aborted signal ends the wait, not the closing.
   */
  close(options?: WaitOptions): Promise<AuditEvent | undefined>
  /** Closes the event with the attribute `unfinished: true`, unless `close` was called. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The live events of one log. */
export interface LiveEvents {
  /** Takes an event that the store has just opened; `undefined` if it was not stored. With `keepsReason`, no change may remove its reason. */
  open(event: AuditEvent | undefined, keepsReason?: boolean): LiveEvent
  /** Closes all open events as unfinished. Never rejects. */
  close(): Promise<void>
}

export function createLiveEvents(
  store: EventStore,
  limits: JsonLimits,
  { deadlineMs }: Pick<OpenLiveOptions, 'deadlineMs'>,
): LiveEvents {
  const open = new Map<string, LiveEvent>()
  let timer: NodeJS.Timeout | undefined
  let heartbeat = new AbortController()

  /** Sends heartbeats of the open events. The store closes an event without heartbeats as unfinished. */
  const sendHeartbeat = (): void => {
    heartbeat.abort()
    heartbeat = new AbortController()
    // After a failure, the next heartbeat covers the same events.
    store.touchLive([...open.keys()], { signal: heartbeat.signal }).catch(() => {})
  }
  const add = (id: string, live: LiveEvent): void => {
    open.set(id, live)
    timer ??= setInterval(sendHeartbeat, TIMES.work.everyMs).unref()
  }
  const remove = (id: string): void => {
    open.delete(id)
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    open(event, keepsReason = false) {
      if (!event) return notOpened
      const onEnd = (): void => remove(event.id)
      const live = openLive({ store, event, limits, keepsReason, deadlineMs, onEnd })
      add(event.id, live)
      return live
    },
    async close() {
      await Promise.allSettled(Array.from(open.values(), (live) => live[ASYNC_DISPOSE]()))
    },
  }
}

const notOpened: LiveEvent = {
  event: undefined,
  async update() {},
  async append() {},
  async flush() {},
  async close() {
    return undefined
  },
  async [ASYNC_DISPOSE]() {},
}

interface OpenLiveOptions {
  readonly store: EventStore
  readonly event: AuditEvent
  readonly limits: JsonLimits
  readonly keepsReason: boolean
  /** How long `flush` and `close` wait for the store. */
  readonly deadlineMs: number
  readonly onEnd: () => void
}

function openLive({
  store,
  event,
  limits,
  keepsReason,
  deadlineMs,
  onEnd,
}: OpenLiveOptions): LiveEvent {
  const attributes = createLiveAttributes(event.attributes, limits, keepsReason)
  const writer = createLiveWriter({ store, id: event.id, attributes, deadlineMs, onEnd })
  let closing: Promise<AuditEvent> | undefined

  const signalOf = (options: WaitOptions | undefined): AbortSignal | undefined => {
    checkOptions(options, WAIT_OPTIONS, 'a method of a live event')
    throwIfAborted(options?.signal)
    return options?.signal
  }

  const change = async (apply: () => void, options: WaitOptions | undefined): Promise<void> => {
    const signal = signalOf(options)
    if (writer.error) throw writer.error
    if (closing) throw liveClosed('is closed')
    apply()
    if (attributes.isChanged()) writer.changed()
    await untilAborted(writer.untilRoom(), signal)
  }

  const finish = async (): Promise<AuditEvent> => {
    attributes.end()
    const isUnfinished = attributes.isUnfinished()
    const closed = await writer.close()
    if (closed.attributes['unfinished'] === true && !isUnfinished)
      throw liveClosed('was closed as unfinished by another process')
    return closed
  }

  return {
    event,
    update: (given, options) => change(() => attributes.update(given), options),
    append: (key, text, options) => change(() => attributes.append(key, text), options),
    async flush(options) {
      const signal = signalOf(options)
      const flushed: Promise<unknown> = closing ?? writer.flush()
      await untilAborted(flushed, signal)
    },
    async close(options) {
      const signal = signalOf(options)
      closing ??= finish()
      return untilAborted(closing, signal)
    },
    async [ASYNC_DISPOSE]() {
      // The caller of `close` receives the error.
      if (closing) return void (await closing.catch(() => {}))
      attributes.update({ unfinished: true })
      closing = finish()
      await closing.catch((error: unknown) => {
        const isClosed = error instanceof AuditLogError && error.code === 'LIVE_CLOSED'
        if (!isClosed) throw error
      })
    },
  }
}
