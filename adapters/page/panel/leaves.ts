import type { JsonValue } from '../../../src/event/event.js'
import { dottedPath } from './change-rows.js'

/** A value without members, and its place. */
export interface Leaf {
  /** `limits.parallel_changes`, `approvals[1]`; `''` for the whole value. */
  readonly path: string
  readonly value: JsonValue
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

const hasMembers = (value: JsonValue): value is JsonValue & object =>
  value !== null && typeof value === 'object' && Object.keys(value).length > 0

/** The leaves of a value in their order; empty objects and arrays are leaves. */
export function leavesOf(value: JsonValue, pointer = ''): Leaf[] {
  if (!hasMembers(value)) return [{ path: dottedPath(pointer), value }]
  return Object.entries(value).flatMap(([key, member]) =>
    leavesOf(member, `${pointer}/${escaped(key)}`),
  )
}
