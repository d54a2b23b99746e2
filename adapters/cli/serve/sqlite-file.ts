import fs from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { CommandError } from '../terminal/exit-codes.js'
import { megabytesText } from '../terminal/format.js'
import { showProgress } from '../terminal/progress.js'
import type { Terminal } from '../terminal/terminal.js'
import type { TempFolder } from './temp-folder.js'

/* https://www.sqlite.org/fileformat.html#the_database_header */
const MAGIC = 'SQLite format 3\0'
const READ_VERSION = 19
const WAL_MODE = 2

/** The first bytes of a file. */
function headOf(file: string): Buffer {
  const handle = fs.openSync(file, 'r')
  try {
    const head = Buffer.alloc(READ_VERSION + 1)
    return head.subarray(0, fs.readSync(handle, head, 0, head.length, 0))
  } finally {
    fs.closeSync(handle)
  }
}

/** True if the file begins like a SQLite database. Its name does not matter. */
export const isSqliteFile = (file: string): boolean =>
  headOf(file).toString('latin1').startsWith(MAGIC)

const exists = (file: string): boolean => fs.statSync(file, { throwIfNoEntry: false }) !== undefined

/**
 * True if reading the database creates no files beside it. In WAL mode SQLite creates `-wal` and `-shm` if they are
 * missing, and needs a writable folder. Both files exist while a process has the database open.
 */
const isReadableInPlace = (file: string): boolean =>
  headOf(file)[READ_VERSION] !== WAL_MODE || (exists(`${file}-wal`) && exists(`${file}-shm`))

/** A text that changes when the file is written, replaced or removed. */
function versionOf(file: string): string {
  const found = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
  return found ? [found.dev, found.ino, found.size, found.mtimeNs].join(' ') : ''
}

async function copyFile(from: string, to: string, terminal: Terminal): Promise<void> {
  try {
    // On file systems with shared blocks, this takes no time.
    return await fs.promises.copyFile(from, to, fs.constants.COPYFILE_FICLONE_FORCE)
  } catch {
    // Copies the bytes instead. This also reports an unreadable file.
  }
  const progress = showProgress(terminal, { label: 'copying', unit: 'MB', format: megabytesText })
  const { size } = await fs.promises.stat(from)
  const source = fs.createReadStream(from, { highWaterMark: 1024 * 1024 })
  source.on('data', () => progress.update(source.bytesRead, size))
  try {
    await pipeline(source, fs.createWriteStream(to, { mode: 0o600 }), { signal: terminal.signal })
  } finally {
    progress.stop()
  }
}

const ATTEMPTS = 5

/** The file to open in place of a database. */
export interface ReadableFile {
  readonly filename: string
  readonly isCopy: boolean
  /** True for a copy of a database that can now be read directly, because a process has opened it. */
  readonly isOutdated: () => boolean
}

/**
 * Returns the file itself if reading it creates no files beside it. Otherwise no process has it open. Then the file
 * is copied to a temporary folder, with its WAL, which may contain the newest events.
 */
export async function readableFile(
  given: string,
  folder: () => TempFolder,
  terminal: Terminal,
): Promise<ReadableFile> {
  // SQLite looks for the WAL beside the file to which symbolic links lead.
  const file = fs.realpathSync(given)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (isReadableInPlace(file)) return { filename: file, isCopy: false, isOutdated: () => false }
    const files = [file, `${file}-wal`]
    const before = files.map(versionOf)
    const filename = folder().file('audit.db')
    fs.rmSync(`${filename}-wal`, { force: true })
    await copyFile(file, filename, terminal)
    if (before[1] !== '') await copyFile(`${file}-wal`, `${filename}-wal`, terminal)
    const after = files.map(versionOf)
    if (after.every((version, i) => version === before[i]))
      return { filename, isCopy: true, isOutdated: () => isReadableInPlace(file) }
  }
  throw new CommandError('failed', `${given} changed while it was copied`)
}
