import type { JsonObject } from '../event/event.js'
import type { CollapseRule } from '../event/event-types.js'
import { OWN_FIELDS, SOURCE } from '../event/own-fields.js'
import type { Condition, Grouping } from '../filter/ast.js'
import type { PersonalForm } from './personal-values.js'
import { parseQuery } from '../filter/parse.js'

/** A read of the log by a user. */
export interface RecordedRead {
  /** The action, as `authorize` names it, such as `list`. */
  readonly action: string
  readonly username: string
  /** The query string. Parameters that are no conditions count by their names. */
  readonly query: string
  /** The id of the event, if one is read by its id. */
  readonly id?: string | undefined
  /** The form of personal attributes. Only `open` is noted. */
  readonly personal?: PersonalForm | undefined
}

/** The parts of a log that recording a read uses. */
interface ReadLog {
  readonly ownEvents: { readonly reads: boolean }
  recordSystem(
    type: string,
    data: object,
    options: {
      readonly username: string
      readonly collapse: CollapseRule
    },
  ): Promise<unknown>
}

const READ = 'info:audit_log:read'
const BY_CONDITIONS: CollapseRule = {
  by: ['username', 'action', 'conditions', 'personal'],
  window: { hours: 1 },
}

/** Fields of the event itself, whose values may be kept: they are no words of its content. */
const FIELDS: ReadonlySet<string> = new Set([...OWN_FIELDS, SOURCE])
const MAX_NAMES = 100
const MAX_VALUES = 100

/** True for the parameters that make conditions, of a query string as sent. */
const isCondition = (part: string): boolean => /^(?:filter|q)(?:\[|%5b|=|$)/i.test(part)

/** The names of parameters that say how to answer, and nothing about what is asked for. */
const FORM: ReadonlySet<string> = new Set(['limit', 'page', 'format', 'within', 'top', 'after'])

function conditionsOf(where: Grouping | undefined): readonly Condition[] {
  if (!where) return []
  return [...where.conditions, ...where.groupings.flatMap(conditionsOf)]
}

const ANY_NAME = '*'

/** Names of conditions, sorted, and the values of those on the event's own fields. */
function asked({ query, id }: RecordedRead): {
  readonly conditions: string[]
  readonly values: JsonObject
} {
  const parts = query.replace(/^\?/, '').split('&')
  const conditions = conditionsOf(parseQuery(parts.filter(isCondition).join('&')).where)
  const others = [...new URLSearchParams(parts.filter((part) => !isCondition(part)).join('&'))]
    .map(([name, value]) => ({ name: name.split('[', 1)[0]!, value }))
    .filter(({ name }) => !FORM.has(name))
  if (id) others.push({ name: 'id', value: id })
  const names = conditions.flatMap(({ attributes }) =>
    attributes.map((name) => (name === ANY_NAME ? 'q' : name)),
  )
  const own = conditions.filter(
    ({ attributes, joinedName }) =>
      joinedName === undefined && attributes.every((name) => FIELDS.has(name)),
  )
  return {
    conditions: [...new Set([...names, ...others.map(({ name }) => name)])]
      .toSorted()
      .slice(0, MAX_NAMES),
    values: Object.fromEntries([
      ...others.filter(({ name }) => FIELDS.has(name)).map(({ name, value }) => [name, [value]]),
      ...own.map(({ attributes, predicate, values }) => [
        `${attributes.join('_and_')}_${predicate}`,
        values.slice(0, MAX_VALUES),
      ]),
    ]),
  }
}

/**
 * Records a read, if the log records reads. Call it before events leave the process. Resolves when the event is durable, and rejects by
 * the failure policy of its type: under `block`, the default, a read that cannot be recorded is refused.
 */
export async function recordRead(log: ReadLog, read: RecordedRead): Promise<void> {
  if (!log.ownEvents.reads) return
  const { action, username, personal } = read
  const { conditions, values } = asked(read)
  const data = { action, conditions, values, ...(personal === 'open' && { personal }) }
  await log.recordSystem(READ, data, { username, collapse: BY_CONDITIONS })
}
