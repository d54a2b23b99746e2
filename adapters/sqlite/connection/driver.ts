import { invalidOption } from '../../../src/errors.js'
import {
  findPackage,
  firstLine,
  loadPackage,
  missingDependency,
} from '../../../src/store/packages.js'
import { requireNode } from '../../../src/store/node-version.js'
import type { DriverOptions, SqliteDatabase } from './driver-types.js'
import { badPair, hasNodeSqlite } from './driver-versions.js'
import { type Library, readLibrary } from './library.js'
import { type NodeSqlite, openNodeSqlite } from './node-sqlite.js'

const PACKAGE = 'better-sqlite3'
const BUILT_IN = 'node:sqlite'

/** The library that runs SQLite. */
export type SqliteDriverName = typeof PACKAGE | typeof BUILT_IN

export interface Driver {
  readonly name: SqliteDriverName
  readonly library: Library
  open(filename: string, options: DriverOptions): SqliteDatabase
}

const nodeVersion = process.versions.node

const OR_BUILT_IN = hasNodeSqlite(nodeVersion)
  ? `, or use the driver that Node includes: { driver: '${BUILT_IN}' }`
  : ''

const REBUILD =
  'its native binary is missing or was made for another version of Node. Make it again with npm rebuild better-sqlite3 ' +
  `(npm 12 and newer run its install script only with "allowScripts": { "better-sqlite3": true } in package.json)${OR_BUILT_IN}`

/** The driver to use if an option names none: better-sqlite3 if it is installed. */
export function defaultDriver(): SqliteDriverName {
  return !findPackage(PACKAGE) && hasNodeSqlite(nodeVersion) ? BUILT_IN : PACKAGE
}

const loaded = new Map<SqliteDriverName, Driver>()

/**
 * Loads a driver. Throws `INVALID_OPTION` for any other name, and `MISSING_DEPENDENCY` if it is not installed, has
 * no binary for this process, or would end the process; in the last case it has not been loaded.
 */
export function loadDriver(name = defaultDriver()): Driver {
  const known = loaded.get(name)
  if (known) return known
  requireNode()
  const driver = load(name)
  loaded.set(name, driver)
  return driver
}

function load(name: unknown): Driver {
  if (name === PACKAGE) return loadBetterSqlite()
  if (name === BUILT_IN) return loadNodeSqlite()
  throw invalidOption(`driver must be '${PACKAGE}' or '${BUILT_IN}'; it is ${JSON.stringify(name)}`)
}

/** A process can have several copies of a package, and one of what Node includes. */
export const libraryOf = (database: SqliteDatabase, driver: SqliteDriverName): Library =>
  readLibrary(database, driver === PACKAGE)

/** Reads which library it is, which also loads its binary. */
function loadLibrary(name: SqliteDriverName, open: Driver['open']): Library {
  const database = open(':memory:', { timeout: 0 })
  try {
    return libraryOf(database, name)
  } finally {
    database.close()
  }
}

function loadBetterSqlite(): Driver {
  const version = findPackage(PACKAGE)?.version
  const reason = version && badPair(nodeVersion, version)
  if (reason) throw missingDependency(reason)
  const Database = loadPackage({
    name: PACKAGE,
    neededBy: 'SQLite',
    otherwise: OR_BUILT_IN,
  }) as new (filename: string, options: DriverOptions) => SqliteDatabase
  const open = (filename: string, options: DriverOptions): SqliteDatabase =>
    new Database(filename, options)
  try {
    return { name: PACKAGE, library: loadLibrary(PACKAGE, open), open }
  } catch (cause) {
    throw missingDependency(`${PACKAGE} cannot be used (${firstLine(cause)}): ${REBUILD}`, cause)
  }
}

function loadNodeSqlite(): Driver {
  if (!hasNodeSqlite(nodeVersion))
    throw missingDependency(
      `the driver ${BUILT_IN} needs Node 24 or newer; this is Node ${nodeVersion}. Use ${PACKAGE}: npm install ${PACKAGE}`,
    )
  const sqlite = process.getBuiltinModule(BUILT_IN) as unknown as NodeSqlite | undefined
  // A Node that was built with --without-sqlite.
  if (!sqlite)
    throw missingDependency(`this Node has no ${BUILT_IN}. Use ${PACKAGE}: npm install ${PACKAGE}`)
  const open = (filename: string, options: DriverOptions): SqliteDatabase =>
    openNodeSqlite(sqlite, filename, options)
  return { name: BUILT_IN, library: loadLibrary(BUILT_IN, open), open }
}
