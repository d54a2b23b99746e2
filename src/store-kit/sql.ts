/** A piece of SQL; every value is a parameter, `?` in the text, never part of it. */
export interface Sql {
  readonly text: string
  readonly params: readonly unknown[]
}

export const sql = (text: string, ...params: readonly unknown[]): Sql => ({ text, params })

function joinSql(parts: readonly Sql[], operator: 'AND' | 'OR'): Sql {
  if (parts.length === 1) return parts[0]!
  return {
    text: `(${parts.map((part) => part.text).join(` ${operator} `)})`,
    params: parts.flatMap((part) => part.params),
  }
}

export const andSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'AND')
export const orSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'OR')

/** SQL's spelling of the predicates of order. */
export const OPERATORS = { lt: '<', lteq: '<=', gt: '>', gteq: '>=' } as const

/** A delimited identifier (SQL-92, 5.2): names come from the host's own code, never from a query. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`
