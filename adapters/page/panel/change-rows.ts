import type { RecordedChange } from '../../../src/event/changes.js'
import type { JsonValue } from '../../../src/event/event.js'
import { diffWords, type Piece } from './word-diff.js'

/** One changed value, before and after. */
export interface ChangeRow {
  /** `limits.parallel_changes`, `requires_approval_from[1]`; `''` is the whole document. */
  readonly path: string
  readonly kind: 'changed' | 'added' | 'removed'
  /** `undefined` if there was no value, or it was not recorded. */
  readonly before: readonly Piece[] | undefined
  readonly after: readonly Piece[] | undefined
  /** The number of bytes of the values that were not recorded. */
  readonly cutBytes: number
}

const KINDS: Readonly<Record<RecordedChange['op'], ChangeRow['kind']>> = {
  add: 'added',
  remove: 'removed',
  replace: 'changed',
}

function isChange(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { op, path } = value
  return typeof op === 'string' && Object.hasOwn(KINDS, op) && typeof path === 'string'
}

/** The attribute `changes` if it has the form that the library records, else `undefined`. */
export function recordedChanges(
  changes: JsonValue | undefined,
): readonly RecordedChange[] | undefined {
  const isRecorded = Array.isArray(changes) && changes.length > 0 && changes.every(isChange)
  return isRecorded ? (changes as unknown as readonly RecordedChange[]) : undefined
}

const PLAIN_KEY = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u
const INDEX = /^(?:0|[1-9]\d*|-)$/

/** Converts a JSON Pointer (RFC 6901) to a dotted path. */
export function dottedPath(pointer: string): string {
  const keys = pointer.split('/').slice(1)
  return keys.reduce((path, escaped) => {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    if (INDEX.test(key)) return `${path}[${key}]`
    if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`
    return path === '' ? key : `${path}.${key}`
  }, '')
}

const whole = (value: JsonValue | undefined, isChanged: boolean): readonly Piece[] | undefined =>
  value === undefined ? undefined : [{ text: JSON.stringify(value, null, 2), isChanged }]

const isWords = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value !== ''

/** A row of a change. A changed text becomes a word diff without quotes. Other values are JSON. */
export function changeRow({ op, path, value, old_value, cut_bytes }: RecordedChange): ChangeRow {
  const kind = KINDS[op]
  const sides =
    isWords(old_value) && isWords(value)
      ? diffWords(old_value, value)
      : {
          before: whole(old_value, kind === 'changed'),
          after: op === 'remove' ? undefined : whole(value, kind === 'changed'),
        }
  return { path: dottedPath(path), kind, ...sides, cutBytes: cut_bytes ?? 0 }
}
