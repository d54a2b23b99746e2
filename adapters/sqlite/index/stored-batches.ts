import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { ExtractedRow } from '../../../src/store-kit/index/extract.js'
import { countDrafts, decodeDrafts, type WrittenDraft } from '../schema/draft-memory.js'

/*
 * The writer thread hands the events that it has stored to the sealing thread of this process. Reading them from the file
 * would take longer than indexing them. The sealing thread reads from the file only the other events.
 */

/** Events that one transaction has stored as they were given, at successive times. */
export interface StoredBatch {
  /** Only late events can have a time between this and `first`. */
  readonly after: Microseconds
  readonly first: Microseconds
  /** See `encodeDrafts`. */
  readonly drafts: ArrayBuffer
}

/** Approximate memory of a batch beside its drafts. */
const BATCH_BYTES = 512

/** Approximate memory of a batch. */
export const bytesOf = ({ drafts }: StoredBatch): number => drafts.byteLength + BATCH_BYTES

/** The way from the writer thread to the sealing thread. */
export interface BatchChannel {
  readonly port: MessagePort
  /** Shared memory: the number of bytes (`bytesOf`) that were handed over and are not released yet. */
  readonly bytes: Int32Array
}

/** The events that were handed over and are not sealed yet. */
export interface StoredBatches {
  /** Takes batches from this channel, and no more from the one before. */
  connect(channel: BatchChannel): void
  /** Takes what was handed over, and releases the events up to `sealedTo`. */
  update(sealedTo: Microseconds): void
  /** Of the events in the order of time that follow `time` without a gap: their number, and the time of the last one. */
  follow(time: Microseconds, max: number): { readonly count: number; readonly last: Microseconds }
  /** The events that follow `time` without a gap, or some of them, at most `max`. */
  after(time: Microseconds, max: number): readonly ExtractedRow[]
}

interface KnownBatch extends StoredBatch {
  readonly last: Microseconds
  readonly channel: BatchChannel
}

const NONE: readonly ExtractedRow[] = []

/** True if the batch has the event that follows `time`. The first batch of a log is after 0, and all times after -1. */
const doesFollow = ({ after }: StoredBatch, time: Microseconds): boolean =>
  after <= Math.max(time, 0)

export function createStoredBatches(): StoredBatches {
  let channel: BatchChannel | undefined
  /** In the order of their times. */
  const batches: KnownBatch[] = []
  let decoded: { readonly batch: KnownBatch; readonly drafts: readonly WrittenDraft[] } | undefined

  const receive = (): void => {
    if (!channel) return
    for (;;) {
      const received = receiveMessageOnPort(channel.port)
      if (!received) return
      for (const batch of received.message as readonly StoredBatch[])
        batches.push({
          ...batch,
          channel,
          last: batch.first + countDrafts(batch.drafts) - 1,
        })
    }
  }

  /** The place of the first batch that ends after the time. */
  const placeAfter = (time: Microseconds): number => {
    let [low, high] = [0, batches.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (batches[middle]!.last <= time) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    connect(next) {
      receive()
      channel?.port.close()
      channel = next
    },
    update(sealedTo) {
      receive()
      const sealed = batches.splice(0, placeAfter(sealedTo))
      for (const batch of sealed) Atomics.sub(batch.channel.bytes, 0, bytesOf(batch))
      decoded = undefined
    },
    follow(time, max) {
      let count = 0
      let last = time
      for (let at = placeAfter(time); at < batches.length && count < max; at++) {
        const batch = batches[at]!
        if (!doesFollow(batch, last)) break
        count += batch.last - Math.max(last, batch.first - 1)
        last = batch.last
      }
      return { count, last }
    },
    after(time, max) {
      const batch = batches[placeAfter(time)]
      if (!batch || !doesFollow(batch, time)) return NONE
      if (decoded?.batch !== batch) decoded = { batch, drafts: decodeDrafts(batch.drafts) }
      const from = Math.max(0, time - batch.first + 1)
      return decoded.drafts
        .slice(from, from + max)
        .map(({ type, username, system, source, json }, i): ExtractedRow => ({
          time: batch.first + from + i,
          type,
          username,
          system,
          source,
          attributes: json,
        }))
    },
  }
}
