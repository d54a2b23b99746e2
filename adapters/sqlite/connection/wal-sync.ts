import fs from 'node:fs'
import path from 'node:path'
import { openWal, walOf } from './file.js'

/*
 * Commits of the store are written to the `-wal` file without a sync (`synchronous=NORMAL`). One sync of that file in libuv's
 * pool makes all of them durable, also those of other processes, and the event loop does not wait for the disk:
 * https://www.sqlite.org/wal.html. SQLite holds no POSIX lock on that file, so closing a descriptor of it is
 * harmless. The database itself must never be opened here.
 */

/** `fs.fdatasync`. Tests replace it. */
export type SyncFile = (fd: number, done: (error: Error | null) => void) => void

/** Syncs the `-wal` file of a database. */
export interface WalSync {
  /**
   * Resolves once everything that was committed before the call is on the disk. Calls share a sync that has not begun. Rejects
   * if the sync fails, or if another file or none is at the path.
   */
  sync(): Promise<void>
  /** The sync that runs, or else waits for its turn, and since when it does, as `performance.now()` counts. */
  oldest(): { readonly since: number; readonly ended: Promise<void> } | undefined
  /** Closes the descriptor once no sync needs it. */
  close(): void
}

export interface WalSyncOptions {
  /** False if there may be no such file, because nothing has written. @default true */
  readonly mustExist?: boolean
  /** @default fs.fdatasync */
  readonly syncFile?: SyncFile | undefined
  /** Called after a sync with the open file. */
  readonly onSynced?: ((fd: number) => void) | undefined
}

/** libuv has four threads, which are the host's. */
const MAX_SYNCS = 2
let syncs = 0
const queued: (() => void)[] = []

/** Resolves when the caller may begin a sync. */
async function takeTurn(): Promise<void> {
  if (syncs < MAX_SYNCS) syncs += 1
  else await new Promise<void>((resolve) => queued.push(resolve))
}

function endTurn(): void {
  const next = queued.shift()
  if (next) next()
  else syncs -= 1
}

// Inodes may exceed the integers of a number.
const STAT = { bigint: true, throwIfNoEntry: false } as const

interface OpenFile {
  readonly fd: number
  readonly dev: bigint
  readonly ino: bigint
}

function openFile(filename: string): OpenFile {
  const fd = openWal(filename)
  const { dev, ino } = fs.fstatSync(fd, { bigint: true })
  return { fd, dev, ino }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows syncs no folder.
  if (process.platform === 'win32') return
  const handle = await fs.promises.open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The `-wal` file of a database. */
function createWalFile(filename: string, mustExist: boolean) {
  const name = walOf(filename)
  let open: OpenFile | undefined
  const close = (): void => {
    if (open) fs.closeSync(open.fd)
    open = undefined
  }
  return {
    fd: () => open?.fd,
    close,
    /** Opens the file, if there is one. Throws if another one is at its place. */
    find(): void {
      const found = fs.statSync(name, STAT)
      if (open && found && open.ino === found.ino && open.dev === found.dev) return
      if (open && mustExist)
        throw new Error(`${name} was deleted, moved or replaced after it was opened`)
      close()
      if (found || mustExist) open = openFile(filename)
    },
  }
}

export function createWalSync(
  filename: string,
  { mustExist = true, syncFile = fs.fdatasync, onSynced }: WalSyncOptions = {},
): WalSync {
  const file = createWalFile(filename, mustExist)
  let isFolderSynced = false
  let running: Promise<void> = Promise.resolve()
  /** The sync that has not begun. */
  let next: Promise<void> | undefined
  /** When the running sync has begun, and since when the next one is wanted. */
  let runningSince: number | undefined
  let nextSince = 0
  let isClosed = false

  const run = async (): Promise<void> => {
    // SQLite deletes the file when it has closed the last connection; the descriptor still leads to it.
    if (!isClosed) file.find()
    const fd = file.fd()
    if (fd === undefined) return
    // The name of a new file is not durable otherwise.
    if (!isFolderSynced && mustExist) await syncFolder(path.dirname(walOf(filename)))
    isFolderSynced = true
    await new Promise<void>((resolve, reject) => {
      syncFile(fd, (error) => (error ? reject(error) : resolve()))
    })
    onSynced?.(fd)
  }

  const closeIfUnused = (): void => {
    if (isClosed && !next && runningSince === undefined) file.close()
  }

  const begin = async (): Promise<void> => {
    await running.catch(() => {})
    await takeTurn()
    next = undefined
    runningSince = performance.now()
    try {
      await (running = run())
    } finally {
      endTurn()
      runningSince = undefined
      closeIfUnused()
    }
  }

  // Linux reports a failed write to each descriptor once, so this one must be older than the writes. Without
  // a file there are none yet.
  try {
    file.find()
  } catch {
    // The first sync reports it.
  }

  return {
    sync() {
      if (!next) {
        nextSince = performance.now()
        next = begin()
      }
      return next
    },
    oldest() {
      if (runningSince !== undefined) return { since: runningSince, ended: running }
      return next && { since: nextSince, ended: next }
    },
    close() {
      isClosed = true
      closeIfUnused()
    },
  }
}
