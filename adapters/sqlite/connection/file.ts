import fs from 'node:fs'
import path from 'node:path'

/*
 * When a process closes any descriptor of a database, its `-wal` or its `-shm`, POSIX drops the locks that
 * SQLite holds on that file in the same process: https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
 * So nothing here opens a file that exists; `stat` opens none.
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
