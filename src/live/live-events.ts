import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { JsonLimits } from '../event/json.js'
import { type AttributesChange, createLiveAttributes } from './attributes.js'
import { createLiveWriter, liveClosed } from './writer.js'
import { BEAT_MS } from '../store/liveness.js'
import type { EventStore, WaitOptions } from '../store/store.js'

/**
 * An event that is readable from its start and goes on changing until it is closed. Changes count
 * at once and in the order of the calls; readers see them within 250 ms. They are durable once
 * `flush` or `close` resolves: `update` and `append` wait only where more than 64 KiB have not been
 * written yet, and then for the next attempt, so that a loop may await them for every line. Both
 * reject with `LIVE_CLOSED` once the event is closed, by `close` or, as unfinished, by another who
 * had no sign of this process for about 20 seconds; then nothing of the change is kept.
 *
 * Where the event was held back, dropped or journalled, there is nothing to change: then `event` is
 * `undefined` and all methods resolve without effect.
 */
export interface LiveEvent extends AsyncDisposable {
  /** As it was opened. */
  readonly event: AuditEvent | undefined
  /**
   * The object's keys take the place of the attributes of these names, `undefined` removes one. A
   * function is given a copy of the attributes and gives all of the new ones. `INVALID_DATA` where
   * that is no object. A text to which `append` added is written anew only where it differs.
   */
  update(change: AttributesChange, options?: WaitOptions): Promise<void>
  /**
   * Adds to a text that is an attribute itself; `INVALID_DATA` where the attribute is something
   * else. When the event grows beyond the log's limit, the longest of these texts lose their oldest
   * part, and the attribute `recording` tells so.
   */
  append(key: string, text: string, options?: WaitOptions): Promise<void>
  /**
   * Resolves when all changes made so far are durable. Rejects with `DEADLINE_EXCEEDED` where that
   * takes too long: the store is tried further then.
   */
  flush(options?: WaitOptions): Promise<void>
  /**
   * Gives the closed event, whole and durable; safe to call twice. `DEADLINE_EXCEEDED` where the
   * store does not take it in time: the event stays as it was written last, and is closed as
   * unfinished later. Aborted, it goes on, but is not waited for.
   */
  close(options?: WaitOptions): Promise<AuditEvent | undefined>
  /** Closes the event as it is, with the attribute `unfinished: true`, unless `close` was called. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The live events of one log. */
export interface LiveEvents {
  /** The event has just been opened in the store; `undefined` where it was not. */
  open(event: AuditEvent | undefined): LiveEvent
  /** Closes all that are open as unfinished. Never rejects. */
  close(): Promise<void>
}

export interface LiveOptions {
  /** How long `flush` and `close` wait for the store, in milliseconds. @default 10000 */
  readonly deadlineMs?: number | undefined
}

export function createLiveEvents(
  store: EventStore,
  limits: JsonLimits,
  { deadlineMs = 10_000 }: LiveOptions = {},
): LiveEvents {
  const held = new Map<string, LiveEvent>()
  let timer: NodeJS.Timeout | undefined
  let beating = new AbortController()

  /** Tells the store of all that are held: it takes those that nobody speaks of for dead. */
  const beat = (): void => {
    beating.abort()
    beating = new AbortController()
    // The next beat says the same.
    store.touchLive([...held.keys()], { signal: beating.signal }).catch(() => {})
  }
  const hold = (id: string, live: LiveEvent): void => {
    held.set(id, live)
    timer ??= setInterval(beat, BEAT_MS).unref()
  }
  const release = (id: string): void => {
    held.delete(id)
    if (held.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    open(event) {
      if (!event) return notOpened
      const live = openLive(store, event, limits, deadlineMs, () => release(event.id))
      hold(event.id, live)
      return live
    },
    async close() {
      await Promise.allSettled(Array.from(held.values(), (live) => live[Symbol.asyncDispose]()))
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
  async [Symbol.asyncDispose]() {},
}

function openLive(
  store: EventStore,
  event: AuditEvent,
  limits: JsonLimits,
  deadlineMs: number,
  onEnd: () => void,
): LiveEvent {
  const attributes = createLiveAttributes(event.attributes, limits)
  const writer = createLiveWriter(store, event.id, attributes, deadlineMs, onEnd)
  let closing: Promise<AuditEvent> | undefined

  const change = async (apply: () => void, { signal }: WaitOptions = {}): Promise<void> => {
    throwIfAborted(signal)
    if (writer.fault) throw writer.fault
    if (closing) throw liveClosed('is closed')
    apply()
    if (attributes.isChanged()) writer.wake()
    await untilAborted(writer.room(), signal)
  }

  const finish = async (): Promise<AuditEvent> => {
    attributes.end()
    const isUnfinished = attributes.isUnfinished()
    const closed = await writer.close()
    if (closed.attributes['unfinished'] === true && !isUnfinished)
      throw liveClosed('was closed by another, as unfinished')
    return closed
  }

  return {
    event,
    update: (given, options) => change(() => attributes.update(given), options),
    append: (key, text, options) => change(() => attributes.append(key, text), options),
    async flush({ signal } = {}) {
      throwIfAborted(signal)
      const flushed: Promise<unknown> = closing ?? writer.flush()
      await untilAborted(flushed, signal)
    },
    async close({ signal } = {}) {
      throwIfAborted(signal)
      closing ??= finish()
      return untilAborted(closing, signal)
    },
    async [Symbol.asyncDispose]() {
      // Who called `close` has been told what came of it.
      if (closing) return void (await closing.catch(() => {}))
      attributes.update({ unfinished: true })
      closing = finish()
      await closing.catch((error: unknown) => {
        const isThere = error instanceof AuditLogError && error.code === 'LIVE_CLOSED'
        if (!isThere) throw error
      })
    },
  }
}
