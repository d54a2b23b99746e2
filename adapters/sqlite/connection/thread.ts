import { once } from 'node:events'
import path from 'node:path'
import { Worker, workerData } from 'node:worker_threads'
import { type Driver, loadDriver, type SqliteDriverName } from './driver.js'

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

/*
 * better-sqlite3 13.2 aborts the process ("Error::New napi_get_last_error_info") if a thread is terminated while it loads
 * the library. So such a thread is not terminated, and a process that exits waits for it. Each thread shares a number
 * with its parent.
 */
const LOADING = 0
const LOADED = 1
const MAX_LOAD_MS = 2000

/** The numbers of the threads that may load a library now. */
const loading = new Set<Int32Array>()

const waitUntilLoaded = (): void => {
  for (const state of loading) Atomics.wait(state, 0, LOADING, MAX_LOAD_MS)
}

function noteLoading(state: Int32Array): void {
  if (loading.size === 0) process.on('exit', waitUntilLoaded)
  loading.add(state)
}

function noteLoaded(state: Int32Array): void {
  loading.delete(state)
  if (loading.size === 0) process.off('exit', waitUntilLoaded)
}

/** `loadDriver` for the entry of a thread that `startThread` has started. */
export function loadDriverInThread(name: SqliteDriverName): Driver {
  const { state } = workerData as { readonly state: Int32Array }
  try {
    return loadDriver(name)
  } finally {
    Atomics.store(state, 0, LOADED)
    Atomics.notify(state, 0)
  }
}

/**
 * Starts a thread, and waits for its first message; from then on it keeps no process alive. Its entry gets the options as
 * `workerData`. Rejects if the file is missing, as in a bundle, if threads are not allowed, or if the thread fails
 * before that message.
 */
export async function startThread(file: URL, options: object): Promise<Thread> {
  const isBuilt = file.pathname.endsWith('.js')
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  // A built file needs none of the options of this process, some of which no thread accepts.
  const worker = new Worker(file, {
    workerData: { ...options, state },
    ...(isBuilt && { execArgv: [] }),
  })
  noteLoading(state)
  let failure = new Error('the thread has ended')
  const ended = new Promise<Error>((resolve) => {
    worker.on('error', (error: Error) => (failure = error))
    worker.on('exit', () => resolve(failure))
  })
  const isReady = once(worker, 'message').then(
    () => undefined,
    () => ended,
  )
  const failed = await Promise.race([isReady, ended])
  noteLoaded(state)
  worker.unref()
  if (failed) throw failed
  return { worker, ended }
}
