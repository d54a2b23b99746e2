import { inspect, types } from 'node:util'
import { redact } from './redact.js'
import { redactText } from './secret-values.js'

/* What an event says of a thrown value. */

const MAX_TEXT = 2000
/** How much of a text is read: more than is kept, because redaction may shorten it. */
const MAX_TEXT_READ = 65_536
/** Maximum size of the redacted copy of a thrown value that is not an error; leaves more text than `MAX_TEXT`. */
const MAX_THROWN_BYTES = 65_536

/** True for an error of any realm. Never throws. */
export function isError(value: unknown): value is Error {
  if (types.isNativeError(value)) return true
  try {
    return !types.isProxy(value) && value instanceof Error
  } catch {
    return false
  }
}

/** The short text without recognisable secrets. */
export const shortReason = (text: string): string =>
  redactText(text.slice(0, MAX_TEXT_READ)).slice(0, MAX_TEXT)

/** The message of an error, or what `inspect` shows of another value. */
export function thrownText(value: unknown): string {
  const content: unknown = isError(value) ? value.message : value
  return isError(value) && typeof content === 'string'
    ? content
    : inspect(redact(content, MAX_THROWN_BYTES))
}

/** The stack of an error without recognisable secrets; `undefined` for anything else. */
export function backtraceOf(value: unknown): string | undefined {
  const stack: unknown = isError(value) ? value.stack : undefined
  return typeof stack === 'string' ? redactText(stack) : undefined
}

/** The attributes `error`, which is never blank, and `backtrace` for an error or a text. Never throws. */
export function failureOf(error: unknown): { readonly error: string; readonly backtrace?: string } {
  try {
    const text = shortReason(typeof error === 'string' ? error : thrownText(error))
    const backtrace = backtraceOf(error)
    const name: unknown = isError(error) ? error.name : undefined
    const found = [text, name].find((one) => typeof one === 'string' && one.trim() !== '')
    return {
      error: (found as string | undefined) ?? 'the error has no text',
      ...(backtrace && { backtrace }),
    }
  } catch {
    return { error: 'the error cannot be read' }
  }
}
