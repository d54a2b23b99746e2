import { MessageChannel } from 'node:worker_threads'
import type { BatchChannel } from './stored-batches.js'

/** Gives an end of a channel to a thread. */
export type ConnectThread = (channel: BatchChannel) => void

/** Connects the writer thread with the sealing thread, each time that one of them has started. */
export interface BatchLink {
  /** `undefined` once the thread has ended. */
  readonly setWriter: (connect: ConnectThread | undefined) => void
  readonly setSealer: (connect: ConnectThread | undefined) => void
}

export function createBatchLink(): BatchLink {
  let connectWriter: ConnectThread | undefined
  let connectSealer: ConnectThread | undefined
  const connect = (): void => {
    if (!connectWriter || !connectSealer) return
    const { port1, port2 } = new MessageChannel()
    const bytes = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    connectSealer({ port: port1, bytes })
    connectWriter({ port: port2, bytes })
  }
  return {
    setWriter(next) {
      connectWriter = next
      connect()
    },
    setSealer(next) {
      connectSealer = next
      connect()
    },
  }
}
