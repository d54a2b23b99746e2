import fs from 'node:fs'
import { isBusy, openDatabase, type SqliteDatabase } from './database.js'
import { writeNothing } from './disk-failure.js'
import type { Driver } from './driver.js'
import { openWal } from './file.js'

/** Frames of the WAL from which on it is checkpointed. Each has a page. */
const LONG_FRAMES = 4000
const CHECK_MS = 100
/** How long to wait for the lock of another connection. */
const LOCK_MS = 100

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32
const PAGE_SIZE_AT = 8
const SALTS_AT = 16
const FRAME_HEADER_BYTES = 24
const FRAME_SALTS_AT = 8
const SALTS_BYTES = 8

/** True if the open `-wal` file has at least this many frames since it was begun anew. Takes some microseconds. */
export function hasFrames(fd: number, frames = LONG_FRAMES): boolean {
  const header = Buffer.alloc(HEADER_BYTES)
  if (fs.readSync(fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES)
  const at = HEADER_BYTES + (frames - 1) * frameBytes
  if (fs.readSync(fd, frame, 0, FRAME_HEADER_BYTES, at) < FRAME_HEADER_BYTES) return false
  // Frames of earlier times have other salts.
  const salts = header.subarray(SALTS_AT, SALTS_AT + SALTS_BYTES)
  return salts.equals(frame.subarray(FRAME_SALTS_AT, FRAME_SALTS_AT + SALTS_BYTES))
}

/** Memory that two threads share: whether the checkpointer has the lock of writers. */
export type LockState = Int32Array

export const newLockState = (): LockState =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

export const isLocked = (state: LockState): boolean => Atomics.load(state, 0) === 1

const setLocked = (state: LockState, locked: boolean): void =>
  void Atomics.store(state, 0, locked ? 1 : 0)

/** Keeps the WAL of a file short. It blocks its thread while it waits for the disk. */
export interface Checkpointer {
  /** Checkpoints the WAL and begins it anew if it is long. Checks that every 100 ms only. */
  runIfLong(): void
  close(): void
}

export function createCheckpointer(
  filename: string,
  driver: Driver,
  lock: LockState,
): Checkpointer {
  let fd: number | undefined
  let connections: { readonly worker: SqliteDatabase; readonly writer: SqliteDatabase } | undefined
  let checkedAt = -Infinity

  const connect = (): SqliteDatabase => {
    const prepare = (database: SqliteDatabase): void => {
      database.pragma('wal_autocheckpoint = 0')
      database.pragma('synchronous = NORMAL')
    }
    const database = openDatabase(filename, prepare, { mustExist: true, driver })
    database.pragma(`busy_timeout = ${LOCK_MS}`)
    return database
  }

  const run = (): void => {
    const { worker, writer } = (connections ??= { worker: connect(), writer: connect() })
    const checkpoint = (): boolean => {
      const [row] = worker.pragma('wal_checkpoint(PASSIVE)') as {
        readonly log: number
        readonly checkpointed: number
      }[]
      return row!.log === row!.checkpointed
    }
    // Most of the work, while others write.
    checkpoint()
    setLocked(lock, true)
    let isComplete = false
    writer.exec('BEGIN IMMEDIATE')
    try {
      isComplete = checkpoint()
    } finally {
      writer.exec('ROLLBACK')
    }
    // The first commit after a complete checkpoint begins the WAL anew and waits until the disk has its header. Here it keeps
    // no event loop waiting, unless another connection commits just now.
    if (isComplete) writeNothing(writer)
  }

  return {
    runIfLong() {
      const now = performance.now()
      if (now - checkedAt < CHECK_MS) return
      checkedAt = now
      try {
        fd ??= openWal(filename)
        if (hasFrames(fd)) run()
      } catch (error) {
        // There is no such file without WAL. Another connection may hold the lock: the next check tries again.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && !isBusy(error)) throw error
      } finally {
        setLocked(lock, false)
      }
    },
    close() {
      if (fd !== undefined) fs.closeSync(fd)
      fd = undefined
      connections?.worker.close()
      connections?.writer.close()
      connections = undefined
    },
  }
}
