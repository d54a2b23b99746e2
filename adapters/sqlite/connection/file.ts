import fs from 'node:fs'
import path from 'node:path'
import { AuditLogError, outcomeUnknown } from '../../../src/errors.js'

/*
 * When a process closes any descriptor of a database or its `-shm`, POSIX drops the locks that
 * SQLite holds on that file in the same process: https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
 * So nothing opens such a file; `stat` opens none. SQLite holds no lock on the `-wal`, so that one may be opened.
 */

const MAX_LINKS = 40

/** The path to which symbolic links lead, even if there is no file. */
function linkTarget(file: string): string {
  let target = file
  for (let links = 0; links < MAX_LINKS; links++) {
    const link = fs.lstatSync(target, { throwIfNoEntry: false })
    if (!link?.isSymbolicLink()) return target
    target = path.resolve(path.dirname(target), fs.readlinkSync(target))
  }
  return target
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/**
 * Creates an empty file with these permissions if there is none, before SQLite opens it. SQLite gives them to
 * `-wal`, `-shm` and `-journal` too. A file that exists stays as it is.
 */
export function createFile(file: string, mode: number): void {
  let handle: number
  try {
    handle = fs.openSync(linkTarget(file), 'wx', mode)
  } catch (error) {
    // SQLite reports a directory that does not exist.
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return
    throw error
  }
  try {
    // The umask may have taken bits away.
    fs.fchmodSync(handle, mode)
  } catch {
    // A file system without permissions.
  } finally {
    fs.closeSync(handle)
  }
}

/** Notices when the path no longer leads to the file that was opened. Takes some microseconds. */
export interface FileWatch {
  /** Throws `STORE_FAILED` if the database or its `-wal` is not in its place. Call it before a transaction. */
  check(): void
  /** Throws `OUTCOME_UNKNOWN` if the database is not in its place. Call it after a commit, before it is acknowledged. */
  confirm(): void
}

// Inodes may exceed the integers of a number.
const STAT = { bigint: true, throwIfNoEntry: false } as const

const openedFile = (name: string) => {
  const opened = fs.statSync(name, STAT)
  return {
    name,
    isMissing(): boolean {
      if (!opened) return false
      const found = fs.statSync(name, STAT)
      return !found || found.ino !== opened.ino || found.dev !== opened.dev
    },
  }
}

/** The name of the `-wal` of a database. SQLite has it beside the file to which symbolic links lead. */
export const walOf = (filename: string): string => `${fs.realpathSync(filename)}-wal`

/** Windows syncs only a file that is open for writing. */
const FLAGS = process.platform === 'win32' ? 'r+' : 'r'

/** Opens the `-wal` of a database. Returns the descriptor. */
export const openWal = (filename: string): number => fs.openSync(walOf(filename), FLAGS)

/** Watches a database that SQLite has opened, and its `-wal` if it has one. */
export function watchFile(filename: string): FileWatch {
  const database = openedFile(filename)
  const wal = openedFile(walOf(filename))
  return {
    check() {
      const missing = [database, wal].find((file) => file.isMissing())
      if (missing)
        throw new AuditLogError(
          'STORE_FAILED',
          `${missing.name} was deleted, moved or replaced after it was opened; put the file back, or restart the process`,
        )
    },
    confirm() {
      if (database.isMissing())
        throw outcomeUnknown(
          `${filename} was deleted, moved or replaced during a commit; the event may be in the file that was there`,
        )
    },
  }
}
