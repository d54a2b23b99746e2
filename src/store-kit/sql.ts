/** A piece of SQL. Values are always parameters, written `?`, and never part of the text. */
export interface Sql {
  readonly text: string
  readonly params: readonly unknown[]
}

export const sql = (text: string, ...params: readonly unknown[]): Sql => ({ text, params })

/** The text with `$1`, `$2` … for each `?` outside of quoted names. */
export function numbered({ text }: Sql): string {
  let count = 0
  return text.replaceAll(/"(?:[^"]|"")*"|\?/g, (part) => (part === '?' ? `$${++count}` : part))
}

function joinSql(parts: readonly Sql[], operator: 'AND' | 'OR'): Sql {
  if (parts.length === 1) return parts[0]!
  return {
    text: `(${parts.map((part) => part.text).join(` ${operator} `)})`,
    params: parts.flatMap((part) => part.params),
  }
}

export const andSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'AND')
export const orSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'OR')

/** SQL operators of the ordering predicates. */
export const OPERATORS = { lt: '<', lteq: '<=', gt: '>', gteq: '>=' } as const

/** A delimited identifier (SQL-92, 5.2). Names come from the host's code, never from a query. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`
