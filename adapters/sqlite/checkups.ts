import fs from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../src/event/timestamp.js'
import { type Checkup, checkup } from '../../src/store/checkup.js'
import { storeFailure } from './connection/connection.js'
import { openDatabase, type SqliteDatabase } from './connection/database.js'
import { loadDriver } from './connection/driver.js'
import { readVersion } from './schema/migrate.js'
import { EVENTS_SCHEMA } from './schema/tables.js'

/** Numbers of network file systems (Linux, `man statfs`), where locks of SQLite are not reliable. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
}
const MAX_WAL_BYTES = 64 * 1024 * 1024
const CLOCK_TOLERANCE = 1_000_000

const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`

function mayAccess(file: string, mode: number): boolean {
  try {
    fs.accessSync(file, mode)
    return true
  } catch {
    return false
  }
}

function checkRights(file: string): Checkup {
  const name = 'rights'
  const mode = fs.statSync(file).mode & 0o777
  if (!mayAccess(file, fs.constants.R_OK))
    return {
      name,
      status: 'fail',
      found: `this user cannot read ${file}: its permissions are ${mode.toString(8)}`,
      remedy: 'let this user read the file',
    }
  const missing = [file, path.dirname(file)].filter((one) => !mayAccess(one, fs.constants.W_OK))
  if (missing.length > 0)
    return {
      name,
      status: 'warn',
      found: `this user cannot write ${missing.join(' and ')}`,
      remedy: 'the service needs to write the file and its folder; reading works without',
    }
  const isPrivate = (mode & 0o007) === 0
  const text = `the permissions of the file are ${mode.toString(8)}`
  return checkup(name, isPrivate, isPrivate ? text : `${text}: all users can read it`, {
    status: 'warn',
    remedy: 'let only the service read it: chmod 600',
  })
}

function checkFileSystem(file: string): Checkup {
  const network = NETWORK[fs.statfsSync(path.dirname(file)).type >>> 0]
  const system = network === undefined ? 'a local file system' : `${network}, a network file system`
  return checkup('file system', network === undefined, `the file is on ${system}`, {
    status: 'fail',
    // https://www.sqlite.org/useovernet.html
    remedy: 'move it to a local disk, or use Postgres: SQLite can be damaged there',
  })
}

function checkWal(file: string): Checkup {
  const size = fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return checkup('WAL', size <= MAX_WAL_BYTES, `the write-ahead log has ${mebibytes(size)}`, {
    status: 'warn',
    remedy: 'a process that reads for a long time holds it up: end it, or restart the service',
  })
}

function checkJournal(database: SqliteDatabase): Checkup {
  const mode = String(database.pragma('journal_mode', { simple: true }))
  return checkup('journal mode', mode === 'wal', `the journal mode is ${mode}`, {
    status: 'warn',
    remedy: 'open the log for writing once; in other modes readers wait for writers',
  })
}

function checkClock(database: SqliteDatabase): Checkup {
  const [row] = database.prepare('SELECT max(created_at) AS newest FROM daybook_events').all() as {
    newest: number | null
  }[]
  const ahead = (row?.newest ?? 0) - systemClock()()
  const isRight = ahead <= CLOCK_TOLERANCE
  const place = isRight ? 'not in the future' : `${Math.round(ahead / 1e6)} s in the future`
  return checkup('clock', isRight, `the newest event is ${place}`, {
    status: 'fail',
    remedy: 'set the clock of this machine; new events get times just after that event',
  })
}

/** Checks the file, the disk and the library. Reads only. Throws `STORE_FAILED` and `MISSING_DEPENDENCY`. */
export function sqliteCheckups(filename: string): readonly Checkup[] {
  const file = path.resolve(filename)
  const driver = loadDriver()
  const rights = checkRights(file)
  if (rights.status === 'fail') return [rights, checkFileSystem(file), checkWal(file)]
  const found: Checkup[] = []
  const database = openDatabase(file, () => {}, { driver, readOnly: true })
  try {
    const [version] = database.prepare('SELECT sqlite_version() AS text').all() as {
      text: string
    }[]
    found.push({
      name: 'SQLite',
      status: 'pass',
      found: `${driver.name} runs SQLite ${version!.text}`,
    })
    found.push(rights, checkFileSystem(file), checkJournal(database), checkWal(file))
    if (readVersion(database, EVENTS_SCHEMA.versionTable) !== undefined)
      found.push(checkClock(database))
  } catch (error) {
    found.push({ name: 'log', status: 'fail', found: storeFailure(error).message })
  } finally {
    database.close()
  }
  return found
}
