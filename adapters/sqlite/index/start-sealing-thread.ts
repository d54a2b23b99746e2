import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { RoundEnd } from './round.js'
import type { RunnerOptions, SealingRunner } from './runner.js'

export type ToThread = 'run' | 'stop'
export type FromThread = 'ready' | { readonly end: RoundEnd } | { readonly failure: string }

// A round goes on between two transactions, which are short; reading may take longer.
const STOP_MS = 250

/** The thread's file beside this one, which is a source as this one is, or built as this one is. */
export function sealingThreadFile(): URL {
  const extension = path.extname(new URL(import.meta.url).pathname)
  return new URL(`./sealing-thread${extension}`, import.meta.url)
}

/**
 * Starts the thread, which keeps no process running. Rejects where that is not possible: where the
 * file is not there, as in a bundle, where threads are not allowed, where the driver cannot be loaded.
 */
export async function startSealingThread(
  file: URL,
  options: RunnerOptions,
): Promise<SealingRunner> {
  const isBuilt = file.pathname.endsWith('.js')
  // What is built needs nothing of what this process was started with, some of which no thread takes.
  const worker = new Worker(file, { workerData: options, ...(isBuilt && { execArgv: [] }) })
  worker.unref()
  let failure = new Error('the sealing thread has ended')
  let hasEnded = false
  const ended = new Promise<undefined>((resolve) => {
    worker.on('error', (error: Error) => (failure = error))
    worker.on('exit', () => {
      hasEnded = true
      resolve(undefined)
    })
  })
  const tell = (message: ToThread): void => worker.postMessage(message, [])

  /** The next that it tells. */
  const answer = async (): Promise<FromThread> => {
    const message = once(worker, 'message').then(
      ([message]) => message as FromThread,
      () => undefined,
    )
    const first = await Promise.race([message, ended])
    if (first === undefined) throw failure
    return first
  }
  await answer()

  return {
    async run() {
      if (hasEnded) throw failure
      tell('run')
      const message = await answer()
      if (message === 'ready') throw new Error('the sealing thread has not heard')
      if ('failure' in message) throw new Error(message.failure)
      return message.end
    },
    async close() {
      if (hasEnded) return
      worker.ref()
      tell('stop')
      const timer = new AbortController()
      const late = delay(STOP_MS, true, { signal: timer.signal }).catch(() => false)
      const isLate = await Promise.race([ended, late])
      timer.abort()
      // What it has not finished is tidied up by the next one.
      if (isLate) await worker.terminate()
    },
  }
}
