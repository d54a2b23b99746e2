import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { AuditLogError } from '../../src/errors.js'
import type { UnsealedEvents, UnsealedRequest } from '../../src/store/ledger.js'
import type { Connection } from './connection/connection.js'
import type { SqliteDriverName } from './connection/driver.js'
import { startThread, type Thread, threadFile } from './connection/thread.js'
import { type HashedStep, hashRest } from './hash-events.js'
import type { Tables } from './schema/log-tables.js'

/** Data that the thread receives when it starts. */
export interface HashingOptions {
  readonly filename: string
  readonly driver: SqliteDriverName
}

/** A request to the thread. */
export interface HashingOrder {
  readonly request: UnsealedRequest
  readonly first: Pick<HashedStep, 'times' | 'last' | 'isFull'>
}

/** An answer of the thread. `damaged`: an event cannot be read. */
export type Hashed = UnsealedEvents | { readonly failure: string; readonly damaged: boolean }

type HashRest = (
  tables: Tables,
  request: UnsealedRequest,
  first: HashedStep,
) => Promise<readonly UnsealedEvents[]>

/** Hashes events in a thread, which runs only while there are many. */
export interface Hasher {
  /** Hashes the events of the request that follow the first step, in this thread. */
  readonly here: HashRest
  /** The same in another thread, if one can be started. */
  readonly inThread: HashRest
  close(): Promise<void>
}

/** The thread ends after this long without work, to free its memory. */
const IDLE_MS = 10_000
/** One request takes less. */
const STOP_MS = 1000

const here: HashRest = async (tables, request, first) => {
  const parts: UnsealedEvents[] = []
  for (const step of hashRest(tables, request, first)) {
    parts.push(step)
    await nextTurn()
  }
  return parts
}

export function createHasher({ database, driver }: Connection): Hasher {
  let thread: Promise<Thread | undefined> | undefined
  let canUseThread = true
  let isClosed = false
  let idle: NodeJS.Timeout | undefined

  const end = async (): Promise<void> => {
    clearTimeout(idle)
    const ended = thread
    thread = undefined
    const open = await ended
    if (!open) return
    open.worker.ref()
    open.worker.postMessage('stop', [])
    const timer = new AbortController()
    const late = delay(STOP_MS, true, { signal: timer.signal }).catch(() => false)
    const isLate = await Promise.race([open.ended.then(() => false), late])
    timer.abort()
    if (isLate) await open.worker.terminate()
  }

  const start = async (): Promise<Thread | undefined> => {
    try {
      const file = threadFile(import.meta.url, 'hashing-thread')
      const options: HashingOptions = { filename: database.name, driver: driver.name }
      return await startThread(file, options)
    } catch {
      // As in a bundle. This thread then hashes in short steps.
      canUseThread = false
      return undefined
    }
  }

  const ask = async ({ worker, ended }: Thread, order: HashingOrder): Promise<UnsealedEvents> => {
    worker.postMessage(order, [])
    const [hashed] = (await Promise.race([
      once(worker, 'message'),
      ended.then(({ message }) => [{ failure: message, damaged: false }]),
    ])) as [Hashed]
    if (!('failure' in hashed)) return hashed
    const code = hashed.damaged ? 'DAMAGED' : 'STORE_FAILED'
    throw new AuditLogError(code, `the thread that hashes events failed: ${hashed.failure}`)
  }

  return {
    here,
    async inThread(tables, request, first) {
      clearTimeout(idle)
      const open = canUseThread && !isClosed ? await (thread ??= start()) : undefined
      if (!open) return here(tables, request, first)
      try {
        const { times, last, isFull } = first
        return [await ask(open, { request, first: { times, last, isFull } })]
      } catch (error) {
        await end()
        throw error
      } finally {
        if (thread) idle = setTimeout(() => void end(), IDLE_MS).unref()
      }
    },
    async close() {
      isClosed = true
      await end()
    },
  }
}
