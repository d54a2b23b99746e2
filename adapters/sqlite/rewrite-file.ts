import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { AuditLogError } from '../../src/errors.js'
import type { WaitOptions } from '../../src/store/store.js'
import type { Connection } from './connection/connection.js'
import {
  CHECKPOINT_PAGES,
  isBusy,
  openDatabase,
  type SqliteDatabase,
} from './connection/database.js'
import { emptyWal } from './connection/disk-failure.js'
import type { Driver, SqliteDriverName } from './connection/driver.js'
import { startThread, threadFile } from './connection/thread.js'

/*
 * Writes the file anew, so that it has no bytes of what was deleted, and empties the WAL. VACUUM copies the live rows to new pages; with
 * `secure_delete`, their free space is zero. It blocks its thread, and all writers.
 */

/** `rewrite` writes the file anew; `empty` brings that from the WAL to the file, and empties the WAL. */
export type RewritingStep = 'rewrite' | 'empty'

/** How a step ended. `busy`: another connection uses the file, and the step has to be repeated. */
export type RewritingEnd = 'done' | 'busy' | { readonly failure: string }

/** Data that the thread receives. */
export interface RewritingOptions {
  readonly filename: string
  readonly driver: SqliteDriverName
}

type Rewrite = (step: RewritingStep) => Promise<RewritingEnd>

/** How long one attempt waits for the locks of other connections; none of them can write meanwhile. */
const LOCK_MS = 100
/** The pause between two attempts. */
const PAUSE_MS = 50

/** A connection on which `runStep` runs. */
export function openForRewriting(
  filename: string,
  driver: Driver,
  lockMs = LOCK_MS,
): SqliteDatabase {
  const database = openDatabase(filename, () => {}, { mustExist: true, driver })
  database.pragma('secure_delete = ON')
  // The copy may be larger than the memory.
  database.pragma('temp_store = FILE')
  database.pragma(`busy_timeout = ${lockMs}`)
  return database
}

export function runStep(database: SqliteDatabase, step: RewritingStep): RewritingEnd {
  try {
    if (step === 'rewrite') database.exec('VACUUM')
    else if (database.pragma('journal_mode', { simple: true }) === 'wal') emptyWal(database)
    return 'done'
  } catch (error) {
    return isBusy(error) ? 'busy' : { failure: (error as Error).message }
  }
}

/** Runs the steps in a thread; in this thread if none can be started. */
async function withRewriting(
  { database, driver }: Pick<Connection, 'database' | 'driver'>,
  use: (rewrite: Rewrite) => Promise<void>,
): Promise<void> {
  let worker: Worker
  try {
    const file = threadFile(import.meta.url, 'rewriting-thread')
    const options: RewritingOptions = { filename: database.name, driver: driver.name }
    worker = (await startThread(file, options)).worker
  } catch {
    // As in a bundle. The step then blocks this thread, but does not wait for locks in it.
    const own = openForRewriting(database.name, driver, 0)
    try {
      return await use(async (step) => runStep(own, step))
    } finally {
      own.close()
    }
  }
  try {
    await use(async (step) => {
      const ended = once(worker, 'message') as Promise<[RewritingEnd]>
      worker.ref()
      worker.postMessage(step, [])
      try {
        return (await ended)[0]
      } catch (error) {
        return { failure: (error as Error).message }
      } finally {
        worker.unref()
      }
    })
  } finally {
    await worker.terminate()
  }
}

/** Writes the file anew and empties the WAL. Rejects with `STORE_FAILED`, for example if the disk is full: then the file is as before. */
export async function rewriteFile(
  connection: Connection,
  { signal }: WaitOptions,
  onStep: (done: number) => void,
): Promise<void> {
  const { database } = connection
  // A commit of this connection would bring the whole file from the WAL, in the main thread.
  await connection.retry(() => void database.pragma('wal_autocheckpoint = 0'), { signal })
  const run = withRewriting(connection, async (rewrite) => {
    for (const [done, step] of (['rewrite', 'empty'] as const).entries()) {
      onStep(done)
      for (let end: RewritingEnd = 'busy'; end === 'busy';) {
        await connection.retry(() => connection.checkFile(), { signal })
        end = await rewrite(step)
        if (end === 'busy') await connection.pause({ signal }, PAUSE_MS)
        else if (end !== 'done') throw rewritingFailure(end.failure)
      }
    }
  })
  try {
    await run
  } finally {
    if (database.open) database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  }
}

const rewritingFailure = (reason: string): AuditLogError =>
  new AuditLogError(
    'STORE_FAILED',
    `the SQLite file could not be written anew, which needs free space of twice its size on its disk and in the folder for temporary files: ${reason}; ` +
      'no event is lost, and the call can be repeated',
  )
