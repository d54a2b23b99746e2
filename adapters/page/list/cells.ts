import type { AuditEvent } from '../../../src/event/event.js'
import { levelOf } from '../../../src/event/level.js'
import { levelChoice, levelConjunct } from '../data/level-choice.js'
import {
  type Conjunct,
  isGrouping,
  type PageQuery,
  valueCondition,
  withConjunct,
} from '../data/query.js'
import type { Column } from './column-names.js'

export { COLUMNS, type Column } from './column-names.js'

/** The condition on the attribute that the event's source was made from. */
function sourceCondition({ source, attributes }: AuditEvent, not: boolean): Conjunct | undefined {
  for (const [name, value] of Object.entries(attributes)) {
    const isLink = typeof value === 'string' && /_(?:id|path)$/.test(name)
    if (isLink && (source?.endsWith(`/${value}`) || source === `/api${value}`))
      return valueCondition(name, value, not)
  }
  return undefined
}

/** The filter for *is* and *is not* of a cell; `undefined` if the cell does not show a single attribute. */
export function cellConjunct(
  event: AuditEvent,
  column: Column,
  not: boolean,
): Conjunct | undefined {
  switch (column) {
    case 'level':
      return levelConjunct({ levels: [levelOf(event.type)], not })
    case 'who':
      return valueCondition('username', event.username, not)
    case 'type':
      return valueCondition('type', event.type, not)
    case 'source':
      return sourceCondition(event, not)
    default:
      return undefined
  }
}

/** True if the conjuncts require different values of the same attribute. Together they would match nothing. */
function isRival(one: Conjunct, other: Conjunct): boolean {
  const [level, otherLevel] = [levelChoice(one), levelChoice(other)]
  if (level && otherLevel) return !level.not && !otherLevel.not
  if (isGrouping(one) || isGrouping(other)) return false
  return (
    one.predicate === 'eq' &&
    other.predicate === 'eq' &&
    one.attributes.join() === other.attributes.join()
  )
}

/** Adds the filter of a cell to the query. It replaces an `is` filter on the same attribute. */
export function withCell(query: PageQuery, conjunct: Conjunct): PageQuery {
  const where = query.where.filter((other) => !isRival(other, conjunct))
  return withConjunct({ ...query, where }, conjunct)
}
