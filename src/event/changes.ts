import type { JsonObject, JsonValue } from './event.js'
import type { JsonLimits } from './json.js'
import { type Budget, Copier, copyPlain, setKey } from './json-copy.js'
import { cutText } from './json-cut.js'
import { comparePatch, type Operation } from './json-patch.js'
import { redactAt } from './redact.js'

/** An operation of JSON Patch (RFC 6902), with the old value. */
export interface RecordedChange {
  readonly op: 'add' | 'remove' | 'replace'
  /** JSON Pointer; `''` is the whole document. */
  readonly path: string
  /** The value after the change; missing for `remove`. */
  readonly value?: JsonValue
  /** The value before the change; missing for `add`. RFC 6902 lets readers ignore it. */
  readonly old_value?: JsonValue
  /** How many bytes of the two values are cut. */
  readonly cut_bytes?: number
}

/** The attribute that has the key of a row before an update has changed it: `previous_order_id` for `order_id`. */
export const previousName = (attribute: string): string => `previous_${attribute}`

/** The attributes of a recorded change. */
export interface ChangeData {
  /** The changes in the order to apply them; empty if nothing changed. */
  readonly changes: readonly RecordedChange[]
  /** How many further changes are left out. A lower bound if the states are too large to compare. */
  readonly changes_cut?: number
}

const MAX_CHANGES = 1000
const MAX_TEXT_BYTES = 4096
// States with more values take too long to compare.
const MAX_VALUES = 400_000

/**
 * The changes from one state to the other. A missing state counts as an empty object, so for a created
 * or deleted object every member is a change. Values are compared as `record` would store them.
 * Secrets become `[redacted]` after the comparison, so a changed password is still a change. Long texts
 * are cut, and large values become their JSON text, cut.
 */
export function changeData(
  before: unknown,
  after: unknown,
  { maxDepth, maxBytes }: JsonLimits,
): ChangeData {
  const states = [stateOf(before, maxDepth), stateOf(after, maxDepth)] as const
  if (states[0] === undefined || states[1] === undefined) return { changes: [], changes_cut: 1 }
  const operations = changesBetween(states[0], states[1])
  // The other half is for the other attributes of the event.
  let room = maxBytes >> 1
  const changes: RecordedChange[] = []
  for (const operation of operations.slice(0, MAX_CHANGES)) {
    const change = recordedChange(operation, maxBytes >> 4)
    room -= Buffer.byteLength(JSON.stringify(change)) + 1
    if (room < 0) break
    changes.push(change)
  }
  const left = operations.length - changes.length
  return left > 0 ? { changes, changes_cut: left } : { changes }
}

/** A JSON copy of the state; `undefined` if it is too large to compare. */
function stateOf(state: unknown, maxDepth: number): JsonValue | undefined {
  if (state === undefined || state === null) return {}
  const copy = (attempt: (budget: Budget) => JsonValue | undefined): JsonValue | undefined => {
    const budget = { values: MAX_VALUES }
    const value = attempt(budget)
    return budget.values < 0 ? undefined : value
  }
  const plain = (budget: Budget): JsonValue | undefined => {
    try {
      return copyPlain(state, maxDepth, budget)
    } catch {
      // A getter threw. The copier finds out where.
      return undefined
    }
  }
  return copy(plain) ?? copy((budget) => new Copier(maxDepth, budget).copy(state))
}

type Change = Pick<RecordedChange, 'op' | 'path' | 'value' | 'old_value'>

/** The changes from one JSON value to the other, whole and unredacted. */
export function changesBetween(before: JsonValue, after: JsonValue): Change[] {
  return withOldValues(comparePatch(before, after, { invertible: true }))
}

/** Merges each `test` into the operation that follows it. */
function withOldValues(operations: readonly Operation[]): Change[] {
  const changes: Change[] = []
  let old: Pick<Change, 'old_value'> = {}
  for (const operation of operations) {
    if (operation.op === 'test') old = { old_value: operation.value as JsonValue }
    else {
      changes.push({ ...(operation as Change), ...old })
      old = {}
    }
  }
  return changes
}

/** The change with redacted values, each cut to about `maxBytes` bytes. */
function recordedChange({ op, path, ...values }: Change, maxBytes: number): RecordedChange {
  const keys = path.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  let cutBytes = 0
  const recorded = Object.entries(values).map(([name, value]) => {
    const redacted = redactAt(keys, value) as JsonValue
    const cut = cutValue(redacted, maxBytes)
    if (cut !== redacted)
      cutBytes +=
        Buffer.byteLength(JSON.stringify(redacted)) - Buffer.byteLength(JSON.stringify(cut))
    return [name, cut] as const
  })
  return { op, path, ...Object.fromEntries(recorded), ...(cutBytes > 0 && { cut_bytes: cutBytes }) }
}

/** The value if it is small enough; else the value with cut texts, or its JSON text, cut. */
function cutValue(value: JsonValue, maxBytes: number): JsonValue {
  const textBytes = Math.min(MAX_TEXT_BYTES, maxBytes)
  const cut = cutTexts(value, textBytes)
  const json = JSON.stringify(cut)
  return Buffer.byteLength(json) > maxBytes ? cutText(json, textBytes) : cut
}

function cutTexts(value: JsonValue, textBytes: number): JsonValue {
  if (typeof value === 'string') return cutText(value, textBytes)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const copy = value.map((element) => cutTexts(element, textBytes))
    return copy.some((element, i) => element !== value[i]) ? copy : value
  }
  const copy: JsonObject = {}
  let isCut = false
  for (const [key, member] of Object.entries(value)) {
    const cut = cutTexts(member, textBytes)
    isCut ||= cut !== member
    setKey(copy, key, cut)
  }
  return isCut ? copy : value
}
