import { isError } from '../../src/event/realm.js'

/** The error of the driver, which libraries wrap in other errors. */
export function driverError(error: unknown): unknown {
  if (!isError(error)) return error
  if ('driverError' in error && isError(error.driverError)) return error.driverError
  return isError(error.cause) ? error.cause : error
}
