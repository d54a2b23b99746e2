/** The error of the driver, which libraries wrap in one of their own. */
export function driverError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('driverError' in error && error.driverError instanceof Error) return error.driverError
  return error.cause instanceof Error ? error.cause : error
}
