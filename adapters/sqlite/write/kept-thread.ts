import { pause } from '../../../src/async/pause.js'
import { type StartOptions, startWriterThread, type WriterThread } from './start-writer-thread.js'

/** A writer thread that is started in the background, and again after it has ended. */
export interface KeptThread {
  /** The running thread; `undefined` while there is none. */
  current(): WriterThread | undefined
  /** Starts the thread now, if it does not run. Resolves to false if it cannot start. */
  start(): Promise<boolean>
  close(): Promise<void>
}

export interface KeptThreadOptions extends Omit<StartOptions, 'file'> {
  readonly file: () => URL
  /** Called when a thread has started, and without one when it has ended. */
  readonly onThread: (thread: WriterThread | undefined) => void
}

/** A process that ends before then pays for no thread. */
const START_AFTER_MS = 50
/** The pause before a thread replaces one that has ended. It doubles each time. */
const RESTART_MS = 1000
const MAX_RESTART_MS = 60_000
/** How long `close` waits for a thread that is being started. */
const MAX_START_MS = 2000

const warn = (what: string, error: unknown): void => {
  const reason = error instanceof Error ? error.message : String(error)
  process.emitWarning(`${what}: ${reason}`)
}

export function keepThread({ file, onThread, ...options }: KeptThreadOptions): KeptThread {
  let isClosing = false
  let thread: WriterThread | undefined
  let starting: Promise<boolean> | undefined
  let timer: NodeJS.Timeout | undefined
  let restartMs = RESTART_MS

  const tryStart = async (): Promise<boolean> => {
    try {
      const started = await startWriterThread({ ...options, file: file() })
      if (isClosing) {
        await started.close()
        return false
      }
      thread = started
    } catch (error) {
      if (!isClosing)
        warn('the SQLite store writes in the main thread because its thread cannot start', error)
      return false
    }
    onThread(thread)
    void thread.ended.then(restart)
    return true
  }
  const start = (): Promise<boolean> => {
    clearTimeout(timer)
    return (starting ??= tryStart())
  }
  const startLater = (ms: number): void => {
    timer = setTimeout(() => void start(), ms).unref()
  }
  const restart = (reason: Error): void => {
    thread = undefined
    onThread(undefined)
    starting = undefined
    if (isClosing) return
    warn('the writer thread of the SQLite store has ended, and is started again', reason)
    startLater(restartMs)
    restartMs = Math.min(2 * restartMs, MAX_RESTART_MS)
  }

  startLater(START_AFTER_MS)
  return {
    current: () => thread,
    start,
    async close() {
      clearTimeout(timer)
      isClosing = true
      const waiting = new AbortController()
      await Promise.race([starting, pause(MAX_START_MS, waiting.signal)])
      waiting.abort()
      await thread?.close()
    },
  }
}
