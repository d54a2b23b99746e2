import { createRequire } from 'node:module'
import { AuditLogError } from '../errors.js'
import { moduleUrl } from './module-url.js'
import { isError } from '../event/realm.js'

const require = createRequire(moduleUrl)

const hasCode = (error: unknown, code: string): boolean =>
  isError(error) && 'code' in error && error.code === code

/** An optional package as it is installed. */
export interface InstalledPackage {
  /** `undefined` if its `package.json` cannot be read. */
  readonly version: string | undefined
}

/** Reads the `package.json` of an optional package without loading the package; `undefined` if there is none. */
export function findPackage(name: string): InstalledPackage | undefined {
  try {
    const { version } = require(`${name}/package.json`) as { readonly version?: unknown }
    return { version: typeof version === 'string' ? version : undefined }
  } catch (error) {
    return hasCode(error, 'MODULE_NOT_FOUND') ? undefined : { version: undefined }
  }
}

export const missingDependency = (message: string, cause?: unknown): AuditLogError =>
  new AuditLogError('MISSING_DEPENDENCY', message, { cause })

/** The first line of an error's message. Messages of native modules and of `require` list paths after it. */
export function firstLine(error: unknown): string {
  const message = isError(error) ? error.message : String(error)
  return message.split('\n', 1)[0]!
}

export interface PackageUse {
  readonly name: string
  /** The feature that needs the package: `the Postgres store`. */
  readonly neededBy: string
  /** An alternative to installing the package, as the end of a sentence of the error. */
  readonly otherwise?: string
}

/** Loads an optional package. Throws `MISSING_DEPENDENCY`, with the remedy, if it is not installed or is broken. */
export function loadPackage({ name, neededBy, otherwise = '' }: PackageUse): unknown {
  const found = findPackage(name)
  if (!found)
    throw missingDependency(
      `${neededBy} needs the package ${name}: npm install ${name}${otherwise}`,
    )
  try {
    return require(name)
  } catch (cause) {
    throw brokenPackage(name, cause, otherwise)
  }
}

/** `MISSING_DEPENDENCY` for a package that is installed and cannot be used. */
export function brokenPackage(name: string, cause: unknown, otherwise = ''): AuditLogError {
  const reason = firstLine(cause)
  return missingDependency(
    `the package ${name} is installed but cannot be loaded (${reason}). Install it again: npm uninstall ${name} && npm install ${name}${otherwise}`,
    cause,
  )
}
