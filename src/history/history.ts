import { inspect, isDeepStrictEqual } from 'node:util'
import jsonPatch, { type Operation } from 'fast-json-patch'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonValue } from '../event/event.js'
import type { EventOfLog } from '../event/event-of-log.js'
import { splitEventType } from '../event/event-types.js'
import { linkPath, type LinkRules } from '../event/links.js'
import { previousName } from '../event/changes.js'
import { SOURCE } from '../event/own-fields.js'
import { parseTimestamp } from '../event/timestamp.js'
import {
  bothOf,
  type Condition,
  type EventQuery,
  type Grouping,
  MAX_LIMIT,
  oneCondition,
} from '../filter/ast.js'
import { compileFilter } from '../filter/evaluate.js'
import type { PredicateName } from '../filter/predicates.js'
import {
  CHANGE_NAMES,
  isObject,
  isRedacted,
  type StoredChange,
  storedChangeOf,
} from './stored-change.js'
import type { OptionNames } from '../options.js'

/**
 * A source path such as `/api/projects/<id>`, or the attributes that identify the resource, such as
 * `{ order_id: 'A-17' }`. Names are as in filters: `primary_key_line` is the member `line` of `primary_key`.
 */
export type HistoryResource = string | Readonly<Record<string, string | number | boolean>>

export interface HistoryOptions {
  /** Leaves out changes after this time, which has the same format as in filters. @default now */
  readonly asOf?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** See {@link AuditLog.consistencyToken}. */
  readonly consistencyToken?: string | undefined
}

export const HISTORY_OPTIONS: OptionNames<HistoryOptions> = {
  asOf: true,
  signal: true,
  consistencyToken: true,
}

/** One change of a resource. */
export interface HistoryEntry {
  readonly event: AuditEvent
  /** The operations of the change (RFC 6902); `undefined` if the event holds only a part of them. */
  readonly patch: readonly Operation[] | undefined
  /**
   * The state after the change; null if the resource was deleted, `undefined` if the state is not known. Secrets are
   * `[redacted]`.
   */
  readonly state: JsonValue | undefined
}

const invalid = (parameter: string, message: string): AuditLogError =>
  new AuditLogError('INVALID_VALUE', `${parameter} ${message}`, { parameter })

export const test = (
  attribute: string,
  predicate: PredicateName,
  values: readonly string[] = [],
): Condition => ({ attributes: [attribute], combinator: 'and', predicate, values })

export const allOf = (conditions: readonly Condition[]): Grouping => ({
  combinator: 'and',
  conditions,
  groupings: [],
})

type Attribute = readonly [name: string, value: string | number | boolean]

export function identityOf(resource: HistoryResource): readonly Attribute[] {
  const isObject = resource !== null && typeof resource === 'object' && !Array.isArray(resource)
  if (typeof resource !== 'string' && !isObject)
    throw invalid('resource', `must be a source path or attributes; it is ${inspect(resource)}`)
  if (typeof resource === 'string' && !resource.includes('/'))
    throw invalid('resource', `must be a path such as /api/orders/1; it is ${inspect(resource)}`)
  const attributes = typeof resource === 'string' ? { source: resource } : resource
  const identity = Object.entries(attributes)
  if (identity.length === 0) throw invalid('resource', 'must have at least one attribute')
  for (const [name, value] of identity)
    if (name === '' || !['string', 'number', 'boolean'].includes(typeof value))
      throw invalid(
        'resource',
        `${name} must be a text, a number or a boolean; it is ${inspect(value)}`,
      )
  return identity
}

/** The attributes by which a query finds the resource. */
export const resourceNames = (resource: HistoryResource): readonly string[] =>
  typeof resource === 'string' ? [SOURCE] : Object.keys(Object(resource) as object)

/** The previous keys of a captured row that was this resource. */
type PreviousKey = readonly (readonly [name: string, values: readonly string[]])[]

/** The link attribute for which an event has this source. */
function linkOf(path: string, rules: LinkRules): PreviousKey {
  const id = path.slice(path.lastIndexOf('/') + 1)
  const link = Array.from(rules.values()).find((rule) => linkPath(rule, id) === path)
  if (link === undefined) return []
  // A UUID is in lower case in a source, but perhaps not in the key of a row.
  return [[link.attribute, link.kind === 'uuid' ? [id, id.toUpperCase()] : [id]]]
}

/** Filters for the events of a resource. */
export interface ResourceFilters {
  /** Events that name the resource, or may do so by the previous key of a captured row. */
  readonly found: Grouping
  /** Events that name the resource. */
  readonly named: Grouping
  /** Updates that have changed the key of a captured row; `undefined` if the resource has no key. */
  readonly renamed?: Grouping
  /** Updates whose previous key is the key of the resource. */
  readonly left?: Grouping
}

/** The filters for a resource. `rules` are the rules of the link attributes. Throws `INVALID_VALUE`. */
export function readResource(resource: HistoryResource, rules: LinkRules): ResourceFilters {
  const equal = ([name, value]: Attribute): Condition => test(name, 'eq', [String(value)])
  const identity = identityOf(resource)
  const isSource = typeof resource === 'string'
  const named = allOf(identity.map(equal))
  const key: PreviousKey = isSource
    ? linkOf(resource, rules)
    : identity.flatMap(([name, value]) => (name === 'table' ? [] : [[name, [String(value)]]]))
  if (key.length === 0) return { found: named, named }
  const previous = key.map(([name, values]) => test(previousName(name), 'in', values))
  const captured = [
    ...(isSource ? [] : identity.filter(([name]) => name === 'table').map(equal)),
    test('system', 'true'),
    test('type', 'start', ['audit:']),
    test('type', 'end', [':update']),
  ]
  return {
    found: { combinator: 'or', conditions: [], groupings: [named, allOf(previous)] },
    named,
    renamed: allOf([...captured, ...key.map(([name]) => test(previousName(name), 'not_null'))]),
    left: allOf([...captured, ...previous]),
  }
}

/** The query for the events of the history, oldest first. Throws `INVALID_VALUE`. */
export function historyQuery({ found }: ResourceFilters, { asOf }: HistoryOptions): EventQuery {
  const isChange: Condition = {
    attributes: CHANGE_NAMES,
    combinator: 'or',
    predicate: 'not_null',
    values: [],
  }
  if (asOf !== undefined && (typeof asOf !== 'string' || parseTimestamp(asOf) === undefined))
    throw invalid('asOf', `must be a time such as 2026-03-01T12:00:00Z; it is ${inspect(asOf)}`)
  const where: Grouping = {
    combinator: 'and',
    conditions: [isChange],
    groupings: [found],
  }
  return {
    where: asOf === undefined ? where : bothOf(where, oneCondition('created_at', 'lteq', [asOf])),
    sorts: [{ attribute: 'created_at', direction: 'asc' }],
    limit: MAX_LIMIT,
  }
}

/** The known state of the resource after an event. */
interface Known {
  readonly state: JsonValue | undefined
  /**
   * The last state of a row that had the key, after another row has taken it. If two rows exchange their keys in one
   * statement, the event of the first row comes later.
   */
  readonly displaced?: { readonly state: JsonValue | undefined }
}

/** True if the states have the same values in all shared columns. Columns may be added and dropped. */
function agree(state: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (!isObject(state) || !isObject(other)) return false
  return Object.keys(state).every(
    (name) => !Object.hasOwn(other, name) || isDeepStrictEqual(state[name], other[name]),
  )
}

/** Returns the known state after a row with this state has left the key. */
function afterLeaving({ state, displaced }: Known, before: JsonValue | undefined): Known {
  const isDisplaced =
    displaced?.state === undefined ? !agree(state, before) : agree(displaced.state, before)
  if (displaced && isDisplaced) return { state }
  const fits = !isObject(state) || !isObject(before) || agree(state, before)
  return { state: fits ? null : undefined }
}

/**
 * The states of the resource, from pages of the events that {@link historyQuery} finds, oldest first. Keeps one page
 * and one or two states in memory.
 */
export async function* historyOf<Found extends EventOfLog>(
  pages: AsyncIterable<readonly Found[]>,
  filters: ResourceFilters,
): AsyncGenerator<Found & HistoryEntry, void, void> {
  const isNamed = compileFilter(filters.named)
  const isRenamed = filters.renamed ? compileFilter(filters.renamed) : () => false
  const hasLeft = filters.left ? compileFilter(filters.left) : () => false
  let known: Known = { state: undefined }
  for await (const page of pages)
    for (const found of page) {
      const { event } = found
      const change = storedChangeOf(event)
      const isNow = isNamed(event)
      const wasBefore = hasLeft(event)
      if (!change || !(isNow || wasBefore)) continue
      if (!isNow) known = afterLeaving(known, event.attributes['before'])
      else if (isRenamed(event) && !wasBefore) {
        const { state } = known
        known = {
          state: stateAfter(change, event, undefined),
          ...(state !== null && { displaced: { state } }),
        }
      } else known = { state: stateAfter(change, event, known.state) }
      yield { ...found, patch: patchOf(change), state: known.state }
    }
}

function patchOf({ changes, fault }: StoredChange): Operation[] | undefined {
  if (fault !== undefined) return undefined
  return changes.map(({ op, path, value }): Operation =>
    op === 'remove' ? { op, path } : { op, path, value },
  )
}

/** The state after the event; `undefined` if the event and the previous state do not determine it. */
function stateAfter(
  { changes, after, fault }: StoredChange,
  { type }: AuditEvent,
  before: JsonValue | undefined,
): JsonValue | undefined {
  if (after !== undefined) return after
  const action = splitEventType(type).action.split(':').at(-1)!
  if (action === 'destroy' || action === 'delete') return null
  if (fault !== undefined) return undefined
  const base = action === 'create' ? {} : before
  if (base === undefined || base === null) return wholeOf(changes)
  try {
    const { newDocument } = jsonPatch.applyPatch(base, checked(changes), true, false)
    return newDocument
  } catch {
    // A change in between is not in the log.
    return wholeOf(changes)
  }
}

/** The state that a change of the whole document sets. */
function wholeOf([first, ...more]: StoredChange['changes']): JsonValue | undefined {
  return first?.path === '' && more.length === 0 ? first.value : undefined
}

/** The operations, each after a `test` for its old value. */
function checked(changes: StoredChange['changes']): Operation[] {
  return changes.flatMap(({ op, path, value, old_value: old }) => {
    const operation: Operation = op === 'remove' ? { op, path } : { op, path, value }
    const isTested = op !== 'add' && old !== undefined && !isRedacted(old)
    return isTested ? [{ op: 'test', path, value: old }, operation] : [operation]
  })
}
