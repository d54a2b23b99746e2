import { inspect } from 'node:util'

/** A warning of the process. `name` is an own property, because a host may have frozen the prototype of errors. */
export class ProcessWarning extends Error {
  override readonly name = 'Warning'
}

/**
 * Emits a process warning. Never throws. (Node throws for a text if the prototype of errors is frozen, and for an
 * error of another realm, such as Jest's.)
 */
export function warn(message: string): void {
  for (const warning of [message, new ProcessWarning(message)])
    try {
      process.emitWarning(warning)
      return
    } catch {
      // The other form may still work.
    }
}

function shownText(thrown: unknown): string {
  try {
    return inspect(thrown)
  } catch {
    return 'a value was thrown that cannot be shown'
  }
}

/** Emits a warning of the process about a thrown value, which need not be an error. Never throws. */
export function warnThrown(thrown: unknown): void {
  try {
    process.emitWarning(thrown instanceof Error ? thrown : new Error(shownText(thrown)))
  } catch {
    warn(shownText(thrown))
  }
}
