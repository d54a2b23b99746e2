import { inspect } from 'node:util'
import jsonPatch, { type Operation } from 'fast-json-patch'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonValue } from '../event/event.js'
import { splitEventType } from '../event/event-types.js'
import { parseTimestamp } from '../event/timestamp.js'
import { bothOf, type Condition, type EventQuery, MAX_LIMIT, oneCondition } from '../filter/ast.js'
import { CHANGE_NAMES, isRedacted, type StoredChange, storedChangeOf } from './stored-change.js'
import type { OptionNames } from '../options.js'

/**
 * A source path such as `/api/projects/<id>`, or the attributes that identify the resource, such as
 * `{ order_id: 'A-17' }`. Names are those of filters: `primary_key_line` is the member `line` of `primary_key`.
 */
export type HistoryResource = string | Readonly<Record<string, string | number | boolean>>

export interface HistoryOptions {
  /** Leaves out changes after this time, which is read as in filters. @default now */
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
   * The state after the change: null if the resource was deleted, `undefined` if it is not known. Secrets in it are
   * `[redacted]`.
   */
  readonly state: JsonValue | undefined
}

const invalid = (parameter: string, message: string): AuditLogError =>
  new AuditLogError('INVALID_VALUE', `${parameter} ${message}`, { parameter })

function identityOf(resource: HistoryResource): Condition[] {
  const isObject = resource !== null && typeof resource === 'object' && !Array.isArray(resource)
  if (typeof resource !== 'string' && !isObject)
    throw invalid('resource', `must be a source path or attributes; it is ${inspect(resource)}`)
  if (typeof resource === 'string' && !resource.includes('/'))
    throw invalid('resource', `must be a path such as /api/orders/1; it is ${inspect(resource)}`)
  const attributes = typeof resource === 'string' ? { source: resource } : resource
  const identity = Object.entries(attributes)
  if (identity.length === 0) throw invalid('resource', 'must have at least one attribute')
  return identity.map(([name, value]) => {
    if (name === '' || !['string', 'number', 'boolean'].includes(typeof value))
      throw invalid(
        'resource',
        `${name} must be a text, a number or a boolean; it is ${inspect(value)}`,
      )
    return { attributes: [name], combinator: 'and', predicate: 'eq', values: [String(value)] }
  })
}

/** The query for the events of the history, oldest first. Throws `INVALID_VALUE`. */
export function historyQuery(resource: HistoryResource, { asOf }: HistoryOptions): EventQuery {
  const isChange: Condition = {
    attributes: CHANGE_NAMES,
    combinator: 'or',
    predicate: 'not_null',
    values: [],
  }
  if (asOf !== undefined && (typeof asOf !== 'string' || parseTimestamp(asOf) === undefined))
    throw invalid('asOf', `must be a time such as 2026-03-01T12:00:00Z; it is ${inspect(asOf)}`)
  const where = {
    combinator: 'and' as const,
    conditions: [...identityOf(resource), isChange],
    groupings: [],
  }
  return {
    where: asOf === undefined ? where : bothOf(where, oneCondition('created_at', 'lteq', [asOf])),
    sorts: [{ attribute: 'created_at', direction: 'asc' }],
    limit: MAX_LIMIT,
  }
}

/** The states of a resource from pages of its events, oldest first. Keeps one page and one state. */
export async function* historyOf(
  pages: AsyncIterable<readonly AuditEvent[]>,
): AsyncGenerator<HistoryEntry, void, void> {
  let state: JsonValue | undefined
  for await (const events of pages)
    for (const event of events) {
      const change = storedChangeOf(event)
      if (!change) continue
      state = stateAfter(change, event, state)
      yield { event, patch: patchOf(change), state }
    }
}

function patchOf({ changes, fault }: StoredChange): Operation[] | undefined {
  if (fault !== undefined) return undefined
  return changes.map(({ op, path, value }): Operation =>
    op === 'remove' ? { op, path } : { op, path, value },
  )
}

/** `undefined` if the event and the state before it do not give it. */
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

/** Each operation after a `test` for its old value. */
function checked(changes: StoredChange['changes']): Operation[] {
  return changes.flatMap(({ op, path, value, old_value: old }) => {
    const operation: Operation = op === 'remove' ? { op, path } : { op, path, value }
    const isTested = op !== 'add' && old !== undefined && !isRedacted(old)
    return isTested ? [{ op: 'test', path, value: old }, operation] : [operation]
  })
}
