/** The result of one check of a log's environment. */
export interface Checkup {
  /** Name of the check: `disk`, `fsync`. */
  readonly name: string
  /** `warn`: works, but is slow or will not last. `fail`: does not work, or loses events. */
  readonly status: 'pass' | 'warn' | 'fail'
  /** Result, in one sentence. */
  readonly found: string
  /** Advice, unless the check has passed. */
  readonly remedy?: string | undefined
}

/** A checkup that passes if the found fact is right; otherwise it has the status and the advice of `fault`. */
export const checkup = (
  name: string,
  isRight: boolean,
  found: string,
  fault: Pick<Checkup, 'status' | 'remedy'>,
): Checkup =>
  isRight
    ? { name, status: 'pass', found }
    : { name, status: fault.status, found, remedy: fault.remedy }

/** In place of a checkup that has failed, for example because a right is missing. */
export const unchecked = (name: string, error: unknown): Checkup => ({
  name,
  status: 'warn',
  found: `this could not be checked: ${error instanceof Error ? error.message : String(error)}`,
})
