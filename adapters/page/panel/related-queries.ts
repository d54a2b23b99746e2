import type { AuditEvent } from '../../../src/event/event.js'
import { ALL_TIME, apiQuery, type Conjunct, conditionOn, type PageQuery } from '../data/query.js'

/** What events may have in common with one of them. */
export type Kinship = 'change' | 'source' | 'user' | 'time' | 'type'

export interface Neighbours {
  readonly kinship: Kinship
  /** Finds them all, the event itself too. */
  readonly query: PageQuery
}

const AROUND_MS = 300_000

const around = (created_at: string, by: number): string =>
  new Date(new Date(created_at).getTime() + by).toISOString()

const of = (kinship: Kinship, where: readonly Conjunct[], range = ALL_TIME): Neighbours => ({
  kinship,
  query: { where, sorts: [], range },
})

/** The link attribute that the source comes from: it ends with the id or path that was linked. */
export function sourceLink({ source, attributes }: AuditEvent): [string, string] | undefined {
  if (source === null) return undefined
  for (const [name, value] of Object.entries(attributes)) {
    const isLink = /_(?:id|path)$/.test(name) && typeof value === 'string' && value !== ''
    if (isLink && source.toLowerCase().endsWith(value.toLowerCase())) return [name, value]
  }
  return undefined
}

/** Whom an event can be seen among, the nearest first. */
export function neighboursOf(event: AuditEvent): readonly Neighbours[] {
  const { attributes, created_at, username, type } = event
  const link = sourceLink(event)
  const change = attributes['change_id']
  const hasChange = typeof change === 'string' && link?.[0] !== 'change_id'
  const range = { from: around(created_at, -AROUND_MS), to: around(created_at, AROUND_MS) }
  return [
    ...(hasChange ? [of('change', [conditionOn('change_id', 'eq', [change])])] : []),
    ...(link ? [of('source', [conditionOn(link[0], 'eq', [link[1]])])] : []),
    username === null
      ? of('time', [], range)
      : of('user', [conditionOn('username', 'eq', [username])], range),
    of('type', [conditionOn('type', 'eq', [type])]),
  ]
}

/** The query with more conditions, as the endpoint takes it. */
const asked = (query: PageQuery, more: Conjunct, sorts: PageQuery['sorts'] = []): string =>
  apiQuery({ ...query, where: [...query.where, more], sorts })

const OLDEST_FIRST = [{ attribute: 'created_at', direction: 'asc' }] as const

/** Asks for what comes before the event, and after it, the nearest each time. */
export const beforeAndAfter = ({ query }: Neighbours, { created_at }: AuditEvent) => ({
  before: asked(query, conditionOn('created_at', 'lt', [created_at])),
  after: asked(query, conditionOn('created_at', 'gt', [created_at]), OLDEST_FIRST),
})

const SHOWN = 5

/** How many are asked for on either side. */
export const SIDE = SHOWN - 1

/** Five in a row, oldest first, with the event in the middle as far as there are others. */
export function inARow(
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
 * Asks for the event that tells how the work of this one ended: the first later one of the same source
 * whose type tells of the same action. `undefined` without a source.
 */
export function closingQuery(event: AuditEvent): string | undefined {
  const link = sourceLink(event)
  const [, action] = /^[^:]+(:[^:]+:[^:]+)$/.exec(event.type) ?? []
  if (!link || action === undefined) return undefined
  const where = [
    conditionOn(link[0], 'eq', [link[1]]),
    conditionOn('type', 'cont', [action]),
    conditionOn('type', 'not_eq', [event.type]),
  ]
  const later = conditionOn('created_at', 'gt', [event.created_at])
  return asked({ where, sorts: [], range: ALL_TIME }, later, OLDEST_FIRST)
}
