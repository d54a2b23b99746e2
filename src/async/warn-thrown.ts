import { inspect } from 'node:util'

/** Emits a warning of the process about a thrown value, which need not be an error. Never throws. */
export function warnThrown(thrown: unknown): void {
  let warning: Error
  try {
    warning = thrown instanceof Error ? thrown : new Error(inspect(thrown))
  } catch (cause) {
    warning = new Error('a value was thrown that cannot be shown', { cause })
  }
  process.emitWarning(warning)
}
