import type { Condition } from '../../../src/filter/ast.js'
import type { JsonObject, JsonValue } from '../../../src/event/event.js'
import { isOwnField } from '../../../src/event/own-fields.js'
import { valueCondition } from '../data/query.js'

/** A member of an object or an element of an array, with its position in the tree. */
export interface TreeNode {
  /** The path as a JSON Pointer; unique in the tree. */
  readonly pointer: string
  readonly key: string
  readonly value: JsonValue
  /** 0 for the event's attributes. */
  readonly depth: number
  /** The attribute name for filters; `''` if filters cannot address it. */
  readonly name: string
}

// Longer values make filters and addresses unusable.
const MAX_FILTER_LENGTH = 300

export const isParent = (value: JsonValue): value is JsonValue[] | JsonObject =>
  value !== null && typeof value === 'object' && Object.keys(value).length > 0

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

const joinedName = (parent: TreeNode | undefined, key: string): string => {
  if (parent === undefined) return key
  return parent.name === '' || key === '' ? '' : `${parent.name}_${key}`
}

function nodeOf(parent: TreeNode | undefined, key: string, value: JsonValue): TreeNode {
  const isElement = parent !== undefined && Array.isArray(parent.value)
  return {
    pointer: `${parent?.pointer ?? ''}/${escaped(key)}`,
    key,
    value,
    depth: parent === undefined ? 0 : parent.depth + 1,
    name: isElement ? parent.name : joinedName(parent, key),
  }
}

/** The nodes of the attributes, in their order. */
export const rootNodes = (
  entries: readonly (readonly [key: string, value: JsonValue])[],
): readonly TreeNode[] => entries.map(([key, value]) => nodeOf(undefined, key, value))

/** The first `limit` children of a node, in their order. */
export function childNodes(node: TreeNode, limit: number): readonly TreeNode[] {
  const { value } = node
  if (Array.isArray(value))
    return value.slice(0, limit).map((element, i) => nodeOf(node, String(i), element))
  if (value === null || typeof value !== 'object') return []
  const keys = Object.keys(value).slice(0, limit)
  return keys.map((key) => nodeOf(node, key, value[key]!))
}

export const childCount = (value: JsonValue): number =>
  value !== null && typeof value === 'object' ? Object.keys(value).length : 0

const isReachable = ({ name, depth }: TreeNode): boolean =>
  name !== '' && (!isOwnField(name) || (depth === 0 && name === 'system'))

/**
 * The filter for this value; `undefined` if no filter can express it. The API ignores blank values and
 * trims others, and long values are excluded.
 */
export function nodeCondition(node: TreeNode, not = false): Condition | undefined {
  const { value, name } = node
  if (!isReachable(node) || (value !== null && typeof value === 'object')) return undefined
  if (value === null) return valueCondition(name, null, not)
  const text = String(value)
  if (text.trim() !== text || text === '' || text.length > MAX_FILTER_LENGTH) return undefined
  return valueCondition(name, text, not)
}

const PREVIEW_LENGTH = 48

const isShort = (value: JsonValue): boolean =>
  value === null || (typeof value !== 'object' && String(value).length < PREVIEW_LENGTH)

/** `{ parallel_changes: 8 }` for a short value. For a long or open value, the number of children: `[ 10000 ]`. */
export function preview(value: JsonValue[] | JsonObject, isOpen: boolean): string {
  const [begin, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const count = childCount(value)
  if (count === 0) return begin + end
  const number = `${begin} ${count} ${end}`
  if (isOpen || count > 4 || !Object.values(value).every(isShort)) return number
  const members = Object.entries(value).map(([key, child]) =>
    Array.isArray(value) ? JSON.stringify(child) : `${key}: ${JSON.stringify(child)}`,
  )
  const text = `${begin} ${members.join(', ')} ${end}`
  return text.length > PREVIEW_LENGTH ? number : text
}
