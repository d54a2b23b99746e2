import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { RoundEnd } from '../../../src/store-kit/index-builder/round.js'
import type { RoundRunner, RunnerOptions } from './round-runner.js'

export type ToThread = 'run' | 'runEarly' | 'stop'
export type FromThread = 'ready' | { readonly end: RoundEnd } | { readonly failure: string }

/** A round ends between two transactions, which are short; reading may take longer. */
const STOP_MS = 250

/** The file that the thread runs: the source file beside this source file, or the built one beside the built one. */
export function sealingThreadFile(): URL {
  const extension = path.extname(new URL(import.meta.url).pathname)
  return new URL(`./sealing-thread${extension}`, import.meta.url)
}

/**
 * Starts a thread that keeps no process alive. Rejects if the file is missing, as in a bundle, if threads
 * are not allowed, or if the driver cannot be loaded in one.
 */
export async function startSealingThread(file: URL, options: RunnerOptions): Promise<RoundRunner> {
  const isBuilt = file.pathname.endsWith('.js')
  // A built file needs none of the options of this process, some of which no thread accepts.
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
  const post = (message: ToThread): void => worker.postMessage(message, [])

  const nextMessage = async (): Promise<FromThread> => {
    const message = once(worker, 'message').then(
      ([message]) => message as FromThread,
      () => undefined,
    )
    const first = await Promise.race([message, ended])
    if (first === undefined) throw failure
    return first
  }
  await nextMessage()

  return {
    async run(isEarly = false) {
      if (hasEnded) throw failure
      post(isEarly ? 'runEarly' : 'run')
      const message = await nextMessage()
      if (message === 'ready') throw new Error('the sealing thread has ignored a message')
      if ('failure' in message) throw new Error(message.failure)
      return message.end
    },
    async close() {
      if (hasEnded) return
      worker.ref()
      post('stop')
      const timer = new AbortController()
      const late = delay(STOP_MS, true, { signal: timer.signal }).catch(() => false)
      const isLate = await Promise.race([ended, late])
      timer.abort()
      // The next round drops what this one has not finished.
      if (isLate) await worker.terminate()
    },
  }
}
