import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { RoundEnd } from '../../../src/store-kit/index-builder/round.js'
import { startThread, threadFile } from '../connection/thread.js'
import type { RoundRunner, RunnerOptions } from './round-runner.js'

export type Order = 'run' | 'runEarly' | 'checkpoint' | 'stop'
export type FromThread = 'ready' | { readonly end: RoundEnd } | { readonly failure: string }

/** A round ends between two transactions, which are short; reading may take longer. */
const STOP_MS = 250

export const sealingThreadFile = (): URL => threadFile(import.meta.url, 'sealing-thread')

/**
 * Starts a thread that keeps no process alive. Rejects as `startThread` does, and if the driver cannot be loaded in
 * a thread.
 */
export async function startSealingThread(file: URL, options: RunnerOptions): Promise<RoundRunner> {
  const { worker, ended } = await startThread(file, options)
  let failure: Error | undefined
  void ended.then((error) => (failure = error))
  const post = (message: Order): void => worker.postMessage(message, [])

  const nextMessage = async (): Promise<FromThread> => {
    const message = once(worker, 'message').then(
      ([message]) => message as FromThread,
      () => undefined,
    )
    const first = await Promise.race([message, ended])
    if (first === undefined || first instanceof Error) throw await ended
    return first
  }

  return {
    async run(isEarly = false) {
      if (failure) throw failure
      post(isEarly ? 'runEarly' : 'run')
      const message = await nextMessage()
      if (message === 'ready') throw new Error('the sealing thread has ignored a message')
      if ('failure' in message) throw new Error(message.failure)
      return message.end
    },
    checkpoint() {
      if (!failure) post('checkpoint')
    },
    async close() {
      if (failure) return
      worker.ref()
      post('stop')
      const timer = new AbortController()
      const late = delay(STOP_MS, true, { signal: timer.signal }).catch(() => false)
      const isLate = await Promise.race([ended.then(() => false), late])
      timer.abort()
      // The next round drops a segment that this one has not finished.
      if (isLate) await worker.terminate()
    },
  }
}
