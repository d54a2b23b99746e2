import { type BatchChannel, bytesOf, type StoredBatch } from '../index/stored-batches.js'

/** Hands stored events to the sealing thread, while it runs. */
export interface HandOver {
  /** Hands over to this channel from now on. */
  connect(channel: BatchChannel): void
  /** Takes the memory of the batch. Does nothing if the sealing thread has too much of it already. */
  add(batch: StoredBatch): void
}

/** Maximum memory of the batches that the sealing thread holds. It reads further events from the file. */
const MAX_BYTES = 32 * 1024 * 1024
/** Each message takes time in both threads. The sealing thread can wait for more: it needs many events. */
const MESSAGE_BYTES = 64 * 1024

export function createHandOver(): HandOver {
  let channel: BatchChannel | undefined
  let waiting: StoredBatch[] = []
  let waitingBytes = 0

  const post = ({ port }: BatchChannel): void => {
    port.postMessage(
      waiting,
      waiting.map(({ drafts }) => drafts),
    )
    waiting = []
    waitingBytes = 0
  }

  return {
    connect(next) {
      channel?.port.close()
      channel = next
      waiting = []
      waitingBytes = 0
      next.port.on('close', () => {
        if (channel === next) channel = undefined
      })
    },
    add(batch) {
      const size = bytesOf(batch)
      if (!channel || Atomics.load(channel.bytes, 0) + size > MAX_BYTES) return
      Atomics.add(channel.bytes, 0, size)
      waitingBytes += size
      waiting.push(batch)
      if (waitingBytes >= MESSAGE_BYTES) post(channel)
    },
  }
}
