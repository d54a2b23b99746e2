import { AuditLogError } from '../errors.js'

/** Permissions of the files that Daybook creates, unless an option says otherwise. */
export const DEFAULT_FILE_MODE = 0o600

const OWNER = 0o600

/** Returns the fault of the permissions of a file to be created, or `undefined`. */
export function fileModeFault(mode: number): string | undefined {
  const isMode = Number.isInteger(mode) && mode >= 0 && mode <= 0o777
  if (isMode && (mode & OWNER) === OWNER) return undefined
  const given = isMode ? `0o${mode.toString(8)}` : JSON.stringify(mode)
  return `must be from 0o600 to 0o777, with read and write for the owner; it is ${given}`
}

/** The option `mode`. Throws `INVALID_OPTION`. */
export function readFileMode(mode: number = DEFAULT_FILE_MODE): number {
  const fault = fileModeFault(mode)
  if (fault !== undefined) throw new AuditLogError('INVALID_OPTION', `mode ${fault}`)
  return mode
}
