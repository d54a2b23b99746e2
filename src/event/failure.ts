import { inspect, types } from 'node:util'
import { errorsWithin, isError as mayBeError, textWithCauses } from './realm.js'
import { redact } from './redact.js'
import { redactText } from './secret-values.js'

/* Attributes of an event about a thrown value. */

const MAX_TEXT = 2000
/** How much of a text is read: more than is kept, because redaction may shorten it. */
const MAX_TEXT_READ = 65_536
/** Maximum size of the redacted copy of a thrown value that is not an error; leaves more text than `MAX_TEXT`. */
const MAX_THROWN_BYTES = 65_536

/** True for an error of any realm, but not for a proxy, whose traps may throw. Never throws. */
export const isError = (value: unknown): value is Error =>
  !types.isProxy(value) && mayBeError(value)

/** The short text without recognisable secrets. */
export const shortReason = (text: string): string =>
  redactText(text.slice(0, MAX_TEXT_READ)).slice(0, MAX_TEXT)

/** The message of an error, or what `inspect` shows of another value. */
function ownText(value: unknown): string {
  if (typeof value === 'string') return value
  const content: unknown = isError(value) ? value.message : value
  return isError(value) && typeof content === 'string'
    ? content
    : inspect(redact(content, MAX_THROWN_BYTES))
}

/** The messages of an error and of its causes, or what `inspect` shows of another value; never blank. May throw. */
export function thrownText(value: unknown): string {
  if (!isError(value)) return typeof value === 'string' ? value : ownText(value)
  const name: unknown = value.name
  const found = [textWithCauses(value, ownText), name].find(isText)
  return found ?? 'the error has no text'
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

/** The stacks of an error and of its causes, without recognisable secrets; `undefined` for anything else. */
export function backtraceOf(value: unknown): string | undefined {
  if (!isError(value)) return undefined
  const stacks = errorsWithin(value).map(({ stack }): unknown => stack)
  const found = stacks.filter((stack) => typeof stack === 'string')
  return found.length > 0 ? redactText(found.join('\nCaused by: ')) : undefined
}

/** The attributes `error`, which is never blank, and `backtrace` for an error or a text. Never throws. */
export function failureOf(error: unknown): { readonly error: string; readonly backtrace?: string } {
  try {
    const text = shortReason(thrownText(error))
    const backtrace = backtraceOf(error)
    return { error: isText(text) ? text : 'the error has no text', ...(backtrace && { backtrace }) }
  } catch {
    return { error: 'the error cannot be read' }
  }
}
