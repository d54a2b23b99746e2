import { formatTimestamp } from 'daybook'

/* A query as data, and its translation into Daybook's query string and into SQL. */

type Path = readonly string[]

export type Predicate = 'eq' | 'not_eq' | 'lt' | 'gt' | 'start' | 'cont' | 'null' | 'not_null'

export interface Condition {
  /** `type`, `username`, `created_at`, or the path of an attribute. */
  readonly path: Path
  readonly predicate: Predicate
  /** A number for `gt`, microseconds for `created_at`, missing for `null` and `not_null`, else a string. */
  readonly value?: string | number
}

export interface Query {
  readonly combinator: 'and' | 'or'
  readonly conditions: readonly Condition[]
  readonly sort?: { readonly path: Path; readonly direction: 'asc' | 'desc' }
  readonly limit: number
}

const OWN_FIELDS = new Set(['type', 'username', 'created_at'])

export const isOwnField = ([first]: Path): boolean => OWN_FIELDS.has(first!)

const nameOf = (path: Path): string => path.join('_')

function valueText({ path: [first], value }: Condition): string {
  if (value === undefined) return '1'
  return first === 'created_at' ? formatTimestamp(Number(value)) : String(value)
}

/** The query string that a client of Daybook sends. */
export function toQueryString({ combinator, conditions, sort, limit }: Query): string {
  const query = new URLSearchParams({ limit: String(limit) })
  if (combinator === 'or') query.set('filter[m]', 'or')
  for (const condition of conditions)
    query.append(`filter[${nameOf(condition.path)}_${condition.predicate}]`, valueText(condition))
  if (sort) query.append('filter[sorts][]', `${nameOf(sort.path)} ${sort.direction}`)
  return String(query)
}

/** What differs between SQLite and Postgres. */
export interface Dialect {
  /** Expression for the text of an attribute; `created_at`, `type` and `username` are columns. */
  field(path: Path): string
  /** Expression for an attribute whose values are numbers. */
  number(path: Path): string
  placeholder(number: number): string
  readonly isNot: string
  readonly like: string
}

export interface SqlQuery {
  readonly condition: string
  readonly order: string
  readonly values: readonly (string | number)[]
}

/** Escapes a value for LIKE. The values of the query cases have no wildcard but `_`. */
const asPattern = (value: string): string => value.replaceAll('_', String.raw`\_`)

/** Events without the attribute sort as if their value were the greatest. */
const NULLS = { asc: 'ASC NULLS LAST', desc: 'DESC NULLS FIRST' } as const

/** Without a sort, the newest events come first. */
export function toSql({ combinator, conditions, sort }: Query, dialect: Dialect): SqlQuery {
  const values: (string | number)[] = []
  const bind = (value: string | number): string => {
    values.push(value)
    return dialect.placeholder(values.length)
  }
  const field = (path: Path): string => (isOwnField(path) ? path[0]! : dialect.field(path))
  const like = (path: Path, pattern: string): string =>
    `${field(path)} ${dialect.like} ${bind(pattern)} ESCAPE '\\'`
  const predicates: {
    readonly [name in Predicate]: (path: Path, value: string | number) => string
  } = {
    eq: (path, value) => `${field(path)} = ${bind(value)}`,
    not_eq: (path, value) => `${field(path)} ${dialect.isNot} ${bind(value)}`,
    lt: (path, value) => `${field(path)} < ${bind(value)}`,
    gt: (path, value) => `${dialect.number(path)} > ${bind(value)}`,
    start: (path, value) => like(path, `${asPattern(String(value))}%`),
    cont: (path, value) => like(path, `%${asPattern(String(value))}%`),
    null: (path) => `${field(path)} IS NULL`,
    not_null: (path) => `${field(path)} IS NOT NULL`,
  }
  const parts = conditions.map(({ path, predicate, value = '' }) =>
    predicates[predicate](path, value),
  )
  return {
    condition: parts.length === 0 ? 'true' : parts.join(` ${combinator} `),
    order: sort
      ? `${dialect.number(sort.path)} ${NULLS[sort.direction]}, created_at`
      : 'created_at DESC',
    values,
  }
}
