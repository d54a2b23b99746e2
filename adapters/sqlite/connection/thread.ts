import { once } from 'node:events'
import path from 'node:path'
import { Worker } from 'node:worker_threads'

/** The file of a thread beside the module with this URL: a source beside a source, a built file beside a built one. */
export function threadFile(module: string, name: string): URL {
  const extension = path.extname(new URL(module).pathname)
  return new URL(`./${name}${extension}`, module)
}

export interface Thread {
  readonly worker: Worker
  /** Resolves to the reason once the thread has ended. */
  readonly ended: Promise<Error>
}

/**
 * Starts a thread, and waits for its first message; from then on it keeps no process alive. Rejects if the signal
 * aborts, if the file is missing, as in a bundle, if threads are not allowed, or if the thread fails before that message.
 */
export async function startThread(
  file: URL,
  workerData: unknown,
  signal?: AbortSignal,
): Promise<Thread> {
  signal?.throwIfAborted()
  const isBuilt = file.pathname.endsWith('.js')
  // A built file needs none of the options of this process, some of which no thread accepts.
  const worker = new Worker(file, { workerData, ...(isBuilt && { execArgv: [] }) })
  let failure = new Error('the thread has ended')
  const ended = new Promise<Error>((resolve) => {
    worker.on('error', (error: Error) => (failure = error))
    worker.on('exit', () => resolve(failure))
  })
  const terminate = (): void => void worker.terminate()
  signal?.addEventListener('abort', terminate, { once: true })
  const isReady = once(worker, 'message').then(
    () => undefined,
    () => ended,
  )
  const failed = await Promise.race([isReady, ended])
  signal?.removeEventListener('abort', terminate)
  worker.unref()
  if (failed) throw failed
  return { worker, ended }
}
