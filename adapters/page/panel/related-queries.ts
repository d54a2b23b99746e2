import type { AuditEvent } from '../../../src/event/event.js'
import { ALL_TIME, apiQuery, type Conjunct, conditionOn, type PageQuery } from '../data/query.js'

/** Kinds of relations between events. */
export type Relation =
  | 'change'
  | 'source'
  | 'request'
  | 'trace'
  | 'session'
  | 'user'
  | 'time'
  | 'type'

export interface RelatedQuery {
  readonly relation: Relation
  /** The query for all related events, including the event itself. */
  readonly query: PageQuery
}

const AROUND_MS = 300_000

const around = (created_at: string, by: number): string =>
  new Date(new Date(created_at).getTime() + by).toISOString()

const of = (relation: Relation, where: readonly Conjunct[], range = ALL_TIME): RelatedQuery => ({
  relation,
  query: { where, sorts: [], range },
})

/** The attribute that determines the source. The source ends with its value. */
export function sourceLink({ source, attributes }: AuditEvent): [string, string] | undefined {
  if (source === null) return undefined
  for (const [name, value] of Object.entries(attributes)) {
    const isLink = /_(?:id|path)$/.test(name) && typeof value === 'string' && value !== ''
    if (isLink && source.toLowerCase().endsWith(value.toLowerCase())) return [name, value]
  }
  return undefined
}

/** The relation of events with the same id in an attribute, if the event has it. */
function sameId(relation: Relation, name: string, { attributes }: AuditEvent): RelatedQuery[] {
  const id = attributes[name]
  return typeof id === 'string' && id !== '' ? [of(relation, [conditionOn(name, 'eq', [id])])] : []
}

/** The relations of an event, closest first. */
export function relationsOf(event: AuditEvent): readonly RelatedQuery[] {
  const { created_at, username, type, source } = event
  const link = sourceLink(event)
  const resource = link ?? (source === null ? undefined : (['source', source] as const))
  const range = { from: around(created_at, -AROUND_MS), to: around(created_at, AROUND_MS) }
  return [
    ...(link?.[0] === 'change_id' ? [] : sameId('change', 'change_id', event)),
    ...(resource ? [of('source', [conditionOn(resource[0], 'eq', [resource[1]])])] : []),
    ...sameId('request', 'request_id', event),
    ...sameId('trace', 'trace_id', event),
    ...sameId('session', 'session_id', event),
    username === null
      ? of('time', [], range)
      : of('user', [conditionOn('username', 'eq', [username])], range),
    of('type', [conditionOn('type', 'eq', [type])]),
  ]
}

/** The API query string with one more condition. */
const queryWith = (query: PageQuery, more: Conjunct, sorts: PageQuery['sorts'] = []): string =>
  apiQuery({ ...query, where: [...query.where, more], sorts })

const OLDEST_FIRST = [{ attribute: 'created_at', direction: 'asc' }] as const

/** The queries for the nearest related events before and after an event. */
export const beforeAndAfter = ({ query }: RelatedQuery, { created_at }: AuditEvent) => ({
  before: queryWith(query, conditionOn('created_at', 'lt', [created_at])),
  after: queryWith(query, conditionOn('created_at', 'gt', [created_at]), OLDEST_FIRST),
})

const SHOWN = 5

/** The number of events to load on either side. */
export const MAX_PER_SIDE = SHOWN - 1

/** Five consecutive events, oldest first. The event is in the middle if possible. */
export function centredOn(
  before: readonly AuditEvent[],
  event: AuditEvent,
  after: readonly AuditEvent[],
): readonly AuditEvent[] {
  const all = [...before, event, ...after]
  const first = before.length - Math.floor(SHOWN / 2)
  const start = Math.max(0, Math.min(first, all.length - SHOWN))
  return all.slice(start, start + SHOWN)
}

/**
 * The query for the event with the result of this event: the first later event of the same source whose type has the
 * same action. `undefined` without a source.
 */
export function resultQuery(event: AuditEvent): string | undefined {
  const link = sourceLink(event)
  const [, action] = /^[^:]+(:[^:]+:[^:]+)$/.exec(event.type) ?? []
  if (!link || action === undefined) return undefined
  const where = [
    conditionOn(link[0], 'eq', [link[1]]),
    conditionOn('type', 'cont', [action]),
    conditionOn('type', 'not_eq', [event.type]),
  ]
  const later = conditionOn('created_at', 'gt', [event.created_at])
  return queryWith({ where, sorts: [], range: ALL_TIME }, later, OLDEST_FIRST)
}
