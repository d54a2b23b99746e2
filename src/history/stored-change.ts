import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { changesBetween, type RecordedChange } from '../event/changes.js'
import { PERSONAL } from '../event/personal.js'
import { REDACTED } from '../event/secrets.js'

/** A change of an event's resource, as the event holds it. */
export interface StoredChange {
  /** The changes in the order in which they are applied. */
  readonly changes: readonly RecordedChange[]
  /** The complete state after the change; null if the resource no longer exists. */
  readonly after?: JsonValue
  /** Reason why the event holds only a part of the change. */
  readonly fault: string | undefined
}

/** Names of attributes. An event with a complete or partial change has a value of at least one of them. */
export const CHANGE_NAMES: readonly string[] = [
  'changes_path',
  'changes_cut',
  'before',
  'after',
  'recording_cut_bytes',
]

const OPERATIONS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace'])

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const isChange = (value: unknown): boolean =>
  isObject(value) &&
  OPERATIONS.has(value['op']) &&
  typeof value['path'] === 'string' &&
  (value['op'] === 'remove' || value['value'] !== undefined)

const isWithoutValue = (change: JsonValue): boolean =>
  isObject(change) && change['op'] !== 'remove' && change['value'] === undefined

/** True if the event has personal values, which may not be at their places. */
const hasNotes = ({ [PERSONAL]: notes }: JsonObject): boolean =>
  Array.isArray(notes) &&
  notes.some((note) => isObject(note) && typeof note['subject'] === 'string')

/** True if the value, at any depth, contains the mark of a redacted secret. */
export function isRedacted(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.includes(REDACTED)
  return value !== null && typeof value === 'object' && Object.values(value).some(isRedacted)
}

function faultOf(attributes: JsonObject, changes: readonly JsonValue[]): string | undefined {
  const { changes_cut: left, recording } = attributes
  if (left !== undefined && left !== null) return 'some of its changes are left out (changes_cut)'
  if (isObject(recording) && Number(recording['cut_bytes']) > 0) return 'its attributes are cut'
  const hidden = changes.findIndex(isWithoutValue)
  if (hidden >= 0 && hasNotes(attributes))
    return `the values of changes/${hidden} are encrypted or erased`
  const wrong = changes.findIndex((change) => !isChange(change))
  if (wrong >= 0) return `changes/${wrong} is not an operation that recordChange writes`
  const cut = changes.findIndex((change) => isObject(change) && Number(change['cut_bytes']) > 0)
  return cut >= 0 ? `the values of changes/${cut} are cut` : undefined
}

const STATES: ReadonlySet<unknown> = new Set(['/before', '/after'])

/** True if the states of a captured row were too large for its event. */
const isWithoutStates = ({ recording }: JsonObject): boolean =>
  isObject(recording) &&
  Array.isArray(recording['replaced']) &&
  recording['replaced'].some((place) => STATES.has(place))

/**
 * The change in the event: the attribute `changes`, or the states `before` and `after`. One state is missing or null
 * if the resource did not exist. The change has a fault if the states were too large for the event. `undefined` for
 * other events.
 */
export function storedChangeOf({
  attributes,
}: Pick<AuditEvent, 'attributes'>): StoredChange | undefined {
  const { changes, before = null, after = null } = attributes
  if (isWithoutStates(attributes)) return { changes: [], fault: 'its attributes are cut' }
  const isState = (state: JsonValue): boolean => state === null || isObject(state)
  const hasStates = isState(before) && isState(after) && (before !== null || after !== null)
  if (!Array.isArray(changes) && !hasStates) return undefined
  const fault = faultOf(attributes, Array.isArray(changes) ? changes : [])
  if (fault !== undefined) return { changes: [], fault }
  return {
    changes: Array.isArray(changes)
      ? (changes as unknown as RecordedChange[])
      : changesBetween(before ?? {}, after ?? {}),
    ...(hasStates && { after }),
    fault,
  }
}
