import fs from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { AuditLogError, invalidOption, throwIfAborted } from '../../src/errors.js'
import { compareText } from '../../src/filter/values.js'
import { isKey, type LogStores } from '../../src/store/log-stores.js'
import { COMMON_OPTIONS, sqliteStore, type SqliteStoreOptions } from './sqlite-store.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

type FileOptions = Extract<SqliteStoreOptions, { readonly filename: string }>

export interface SqliteLogsOptions extends Omit<FileOptions, 'filename'> {
  /** The folder of the files, one for each log. It is created if it does not exist. */
  readonly directory: string
}

const LOGS_OPTIONS: OptionNames<SqliteLogsOptions> = {
  ...COMMON_OPTIONS,
  mode: true,
  directory: true,
}

const PREFIX = 'log-'
const SUFFIX = '.db'
/** The directory is for its owner only, as the files are. */
const DIRECTORY_MODE = 0o700

const OTHER_BYTE = /[^a-z0-9_-]/g

/**
 * The name of a log's file: `log-`, the key, `.db`. Each byte of the key (in UTF-8) but lower-case letters, digits, `_` and `-`
 * is written as `=` and two hexadecimal digits. So no two keys have the same name, also where a file system ignores
 * case or does not allow some characters.
 */
export function fileNameOf(key: string): string {
  const bytes = Buffer.from(key).toString('latin1')
  const escaped = bytes.replaceAll(
    OTHER_BYTE,
    (byte) => `=${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return `${PREFIX}${escaped}${SUFFIX}`
}

/** The key of the log in a file with this name; `undefined` for other files. */
export function keyOfFile(name: string): string | undefined {
  if (!name.startsWith(PREFIX) || !name.endsWith(SUFFIX)) return undefined
  const escaped = name.slice(PREFIX.length, -SUFFIX.length)
  const bytes = escaped.replaceAll(/=([0-9a-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  const key = Buffer.from(bytes, 'latin1').toString('utf8')
  return isKey(key) && fileNameOf(key) === name ? key : undefined
}

/**
 * The stores of many logs, for `AuditLogs`: an SQLite file for each log in a folder. The files may be copied, moved and removed
 * one by one while their log is not open. Throws `INVALID_OPTION`, and `STORE_FAILED` if the folder cannot be created.
 */
export function sqliteLogs(given: SqliteLogsOptions): LogStores {
  requireOptions(given, LOGS_OPTIONS, 'sqliteLogs')
  const { directory, ...options } = given
  if (typeof directory !== 'string' || directory === '')
    throw invalidOption('directory must be the path of a folder')
  // Later changes of the working directory must not lead to another folder.
  const folder = path.resolve(directory)
  try {
    if (!options.readOnly) fs.mkdirSync(folder, { recursive: true, mode: DIRECTORY_MODE })
  } catch (error) {
    throw new AuditLogError('STORE_FAILED', `cannot create the folder ${folder}`, { cause: error })
  }
  const fileOf = (key: string): string => path.join(folder, fileNameOf(key))

  return {
    open: (key) => sqliteStore({ ...options, filename: fileOf(key) }),
    async keys({ after, limit, signal }) {
      throwIfAborted(signal)
      const names = await readdir(folder).catch((error: unknown) => {
        throw new AuditLogError('STORE_FAILED', `cannot read the folder ${folder}`, {
          cause: error,
        })
      })
      return names
        .flatMap((name) => keyOfFile(name) ?? [])
        .filter((key) => after === undefined || compareText(key, after) > 0)
        .toSorted(compareText)
        .slice(0, limit)
    },
    async has(key, { signal } = {}) {
      throwIfAborted(signal)
      return fs.existsSync(fileOf(key))
    },
    async close() {},
  }
}
