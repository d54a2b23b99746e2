import type { EventQuery } from '../filter/ast.js'
import { formatQuery } from '../filter/format.js'

const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value

/** Like `formatQuery`, but half of a surrogate pair, which query strings cannot contain, becomes U+FFFD. */
export function queryText(query: EventQuery): string {
  try {
    return formatQuery(query)
  } catch {
    return formatQuery(JSON.parse(JSON.stringify(query), wellFormed) as EventQuery)
  }
}
