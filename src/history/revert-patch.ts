import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import type { RecordedChange } from '../event/changes.js'
import type { Operation } from '../event/json-patch.js'
import { isRedacted, storedChangeOf } from './stored-change.js'
import { checkOptions, type OptionNames } from '../options.js'

export interface RevertOptions {
  /**
   * Precedes each operation by a `test` for the value that the change has set. So the patch fails if the value was
   * changed again. Redacted values are not tested. @default false
   */
  readonly test?: boolean
}

export const REVERT_OPTIONS: OptionNames<RevertOptions> = { test: true }

/**
 * The JSON Patch (RFC 6902) that undoes the change of an event. Applied to the state after the change, it returns the
 * previous state. For a created resource it removes each member, and leaves `{}`; for a deleted resource it adds each
 * member to `{}`. Throws `NOT_REVERTIBLE` with the reason as the message, if the event holds no change or only a part
 * of it, or if an old value is redacted or was bytes.
 */
export function revertPatch(
  event: Pick<AuditEvent, 'attributes'>,
  options: RevertOptions = {},
): Operation[] {
  checkOptions(options, REVERT_OPTIONS, 'revertPatch')
  const { test = false } = options
  const change = storedChangeOf(event)
  if (!change)
    throw notRevertible('it holds no change: it has no attribute changes, before or after')
  if (change.fault !== undefined) throw notRevertible(change.fault)
  checkExact(event.attributes, change.changes)
  return change.changes.flatMap((one, i) => invert(one, i, test)).toReversed()
}

/** A text that databases accept as a number. Used for numbers that no double can hold. */
const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|nan|infinity)$/i
/** The most places that `recording` lists. */
const MAX_REPLACED = 50

/** Throws if an old value differs from the recorded value, according to `recording`. */
function checkExact({ recording }: JsonObject, changes: readonly RecordedChange[]): void {
  const replaced = (recording as JsonObject | null | undefined)?.['replaced']
  if (!Array.isArray(replaced)) return
  const inexact = changes.find(({ op, path, old_value: old }) => {
    if (op === 'add' || (typeof old === 'string' && NUMBER.test(old)) || isByteCount(old))
      return false
    const place = `/before${path}`
    const isIn = (pointer: JsonValue): boolean =>
      typeof pointer === 'string' && (pointer === place || pointer.startsWith(`${place}/`))
    const isObject = old !== null && typeof old === 'object'
    return replaced.some(isIn) || (isObject && replaced.length >= MAX_REPLACED)
  })
  if (inexact) throw notRevertible(`the old value of ${inexact.path} is not recorded as it was`)
}

/** The operations that undo the change, in reverse order. */
function invert(change: RecordedChange, index: number, test: boolean): Operation[] {
  const { op, path, value, old_value: old } = change
  // The value that is added is not needed to remove it.
  if (op !== 'add' && old === undefined)
    throw notRevertible(`changes/${index} (${op} ${path}) has no old_value`)
  if (op !== 'add' && isRedacted(old))
    throw notRevertible(`the old value of ${path} is redacted`, `/changes/${index}/old_value`)
  if (op !== 'add' && isByteCount(old))
    throw notRevertible(`only the number of bytes of the old value of ${path} is recorded`)
  const undo: Operation =
    op === 'add'
      ? { op: 'remove', path }
      : { op: op === 'remove' ? 'add' : 'replace', path, value: old }
  const isTested = test && op !== 'remove' && !isRedacted(value)
  return isTested ? [undo, { op: 'test', path, value }] : [undo]
}

/** Bytes are shown as their number. */
const isByteCount = (value: JsonValue | undefined): boolean =>
  value !== null &&
  typeof value === 'object' &&
  Object.keys(value).length === 1 &&
  typeof (value as JsonObject)['bytes'] === 'number'

const notRevertible = (reason: string, pointer?: string): AuditLogError =>
  new AuditLogError('NOT_REVERTIBLE', `the event cannot be undone: ${reason}`, { pointer })
