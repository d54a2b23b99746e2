import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { ownValue } from '../data/own-property.js'
import { leavesOf } from '../panel/leaves.js'
import { diffWords, type Piece } from '../panel/word-diff.js'

/** One attribute of two events. A side is `undefined` if the event lacks it. */
export interface ComparedRow {
  readonly path: string
  readonly left: readonly Piece[] | undefined
  readonly right: readonly Piece[] | undefined
  readonly kind: 'equal' | 'changed' | 'left' | 'right'
}

// An attribute with more values is compared as one text.
const MAX_LEAVES = 500

const valuesOf = (value: JsonValue): ReadonlyMap<string, JsonValue> =>
  new Map(leavesOf(value).map((leaf) => [leaf.path, leaf.value]))

const textOf = (value: JsonValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)

const whole = (value: JsonValue | undefined): readonly Piece[] | undefined =>
  value === undefined ? undefined : [{ text: textOf(value), isChanged: false }]

const asJson = (value: JsonValue): readonly Piece[] => [
  { text: JSON.stringify(value), isChanged: true },
]

function rowOf(path: string, left: JsonValue | undefined, right: JsonValue | undefined) {
  if (left === undefined || right === undefined)
    return {
      path,
      left: whole(left),
      right: whole(right),
      kind: left === undefined ? 'right' : 'left',
    } as const
  if (JSON.stringify(left) === JSON.stringify(right))
    return { path, left: whole(left), right: whole(right), kind: 'equal' } as const
  const isText = typeof left === 'string' && typeof right === 'string'
  // Values are shown as JSON, so that 8 and "8" look different.
  if (!isText) return { path, left: asJson(left), right: asJson(right), kind: 'changed' } as const
  const { before, after } = diffWords(left, right)
  return { path, left: before, right: after, kind: 'changed' } as const
}

const joined = (name: string, path: string): string =>
  path === '' || path.startsWith('[') ? name + path : `${name}.${path}`

/** The compared members. The id and the time always differ. */
const membersOf = ({
  type,
  username,
  source,
  system,
  attributes,
}: AuditEvent): Readonly<Record<string, JsonValue>> => ({
  type,
  username,
  source,
  system,
  ...attributes,
})

/** The attributes of both events, down to single values, in the order of the first event. */
export function comparedRows(left: AuditEvent, right: AuditEvent): readonly ComparedRow[] {
  const [one, other] = [membersOf(left), membersOf(right)]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name): ComparedRow[] => {
    const [left, right] = [ownValue(one, name), ownValue(other, name)]
    // An attribute that only one event has is one row.
    if (left === undefined || right === undefined) return [rowOf(name, left, right)]
    const [a, b] = [valuesOf(left), valuesOf(right)]
    const paths = new Set([...a.keys(), ...b.keys()])
    if (paths.size > MAX_LEAVES) return [rowOf(name, JSON.stringify(left), JSON.stringify(right))]
    return [...paths].map((path) => rowOf(joined(name, path), a.get(path), b.get(path)))
  })
}
