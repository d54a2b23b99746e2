import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Transferable } from 'node:worker_threads'
import type { Clock } from '../../../src/event/timestamp.js'
import type { Damage } from '../../../src/store/damage.js'
import type { SqliteDriverName } from '../connection/driver.js'
import { startThread, threadFile } from '../connection/thread.js'
import type { BatchChannel } from '../index/stored-batches.js'
import type { ClonedError } from './cloned-errors.js'
import { ANSWER_MS, type MailboxMemory, mailboxSender, newMailbox } from './mailbox.js'
import type { EncodedRequest } from './request-memory.js'
import { type CallMessage, createThreadCalls, type ThreadCalls } from './thread-calls.js'

/** What the thread receives at its start. */
export interface WriterThreadOptions {
  readonly filename: string
  /** Must be that of the store: two libraries in one process cancel each other's locks. */
  readonly driver: SqliteDriverName
  /** `Connection.fileId` of the store: the thread opens no other file. */
  readonly fileId: string
  /** Memory for pages of the file; the thread takes less of it than readers. */
  readonly cacheBytes: number
}

export interface WriterThreadData extends WriterThreadOptions {
  readonly mailbox: MailboxMemory
}

export type ToThread = CallMessage | { readonly batches: BatchChannel } | 'stop'

export type FromThread =
  | 'ready'
  /** The number of a call whose result is in the mailbox. */
  | number
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failure: ClonedError }
  | { readonly damage: Damage }

/** A running writer thread. */
export interface WriterThread extends Pick<ThreadCalls, 'call'> {
  /** Lets the thread hand the events that it stores to the other end of this channel. */
  readonly connect: (batches: BatchChannel) => void
  /** Resolves to the reason once the thread has ended. */
  readonly ended: Promise<Error>
  /** Resolves when the thread has closed the file, or after some seconds if the disk blocks it. */
  close(): Promise<void>
}

export interface StartOptions extends WriterThreadOptions {
  readonly file: URL
  readonly clock: Clock
  readonly onDamage: (damage: Damage) => void
}

const CLOSE_MS = 2000

export const writerThreadFile = (): URL => threadFile(import.meta.url, 'writer-thread')

/** Starts a thread that keeps the process alive only while a caller waits. Rejects as `startThread` does. */
export async function startWriterThread({
  file,
  clock,
  onDamage,
  ...options
}: StartOptions): Promise<WriterThread> {
  const memory = newMailbox()
  const data: WriterThreadData = { ...options, mailbox: memory }
  const { worker, ended } = await startThread(file, data)
  // On the only processor it would keep the other thread from working.
  const mailbox = mailboxSender(memory, os.availableParallelism() > 1 ? ANSWER_MS : 0)
  const post = (message: ToThread, transfer: readonly Transferable[] = []): void => {
    mailbox.noteMessage()
    worker.postMessage(message, transfer)
  }
  const answered = (call: number): void => calls.settle(call, { result: mailbox.result() })
  const calls = createThreadCalls(
    {
      put({ call, now, method, args }) {
        if (method !== 'append') return false
        const { drafts, recovered, rejected } = args[0] as EncodedRequest
        if (recovered || rejected) return false
        return mailbox.put({ call, now, drafts }, () => answered(call))
      },
      post,
      ref: () => worker.ref(),
      unref: () => worker.unref(),
    },
    clock,
  )
  worker.on('message', (message: Exclude<FromThread, 'ready'>) => {
    if (typeof message === 'number') answered(message)
    else if ('call' in message) calls.settle(message.call, message)
    else onDamage(message.damage)
  })
  // A listener of messages keeps the process alive.
  worker.unref()
  let hasEnded = false
  const onEnd = async (): Promise<void> => {
    await ended
    hasEnded = true
    calls.abandonAll()
  }
  void onEnd()

  return {
    call: (...args) => calls.call(...args),
    connect: (batches) => post({ batches }, [batches.port]),
    ended,
    async close() {
      if (hasEnded) return
      worker.ref()
      post('stop')
      const timer = new AbortController()
      const late = delay(CLOSE_MS, undefined, { signal: timer.signal }).catch(() => {})
      await Promise.race([ended, late])
      timer.abort()
      // If the disk still blocks the thread, it closes the file later.
      worker.unref()
      calls.abandonAll()
    },
  }
}
