import { formatTimestamp } from 'daybook'

/* A question to a log, spelled for Daybook and for SQL written by hand. */

type Path = readonly string[]

export type Comparison = 'eq' | 'not_eq' | 'lt' | 'gt' | 'start' | 'cont' | 'null' | 'not_null'

export interface Term {
  /** `type`, `username`, `created_at`, or where an attribute lies. */
  readonly path: Path
  readonly comparison: Comparison
  /** A text; of `gt` a number, of `created_at` microseconds, of `null` and `not_null` nothing. */
  readonly value?: string | number
}

export interface Ask {
  readonly combinator: 'and' | 'or'
  readonly terms: readonly Term[]
  readonly sort?: { readonly path: Path; readonly direction: 'asc' | 'desc' }
  readonly limit: number
}

const OWN = new Set(['type', 'username', 'created_at'])

export const isOwn = ([first]: Path): boolean => OWN.has(first!)

const nameOf = (path: Path): string => path.join('_')

function valueText({ path: [first], value }: Term): string {
  if (value === undefined) return '1'
  return first === 'created_at' ? formatTimestamp(Number(value)) : String(value)
}

/** As clients of the package write it. */
export function toQuery({ combinator, terms, sort, limit }: Ask): string {
  const query = new URLSearchParams({ limit: String(limit) })
  if (combinator === 'or') query.set('filter[m]', 'or')
  for (const term of terms)
    query.append(`filter[${nameOf(term.path)}_${term.comparison}]`, valueText(term))
  if (sort) query.append('filter[sorts][]', `${nameOf(sort.path)} ${sort.direction}`)
  return String(query)
}

/** How SQL says it in one database. */
export interface Dialect {
  /** An attribute's text; `created_at`, `type` and `username` are columns. */
  field(path: Path): string
  /** An attribute that is a number wherever it is something. */
  number(path: Path): string
  placeholder(number: number): string
  readonly isNot: string
  readonly like: string
}

export interface Where {
  readonly condition: string
  readonly order: string
  readonly values: readonly (string | number)[]
}

/** The values that are asked for hold none of the signs that mean something to LIKE but `_`. */
const asPattern = (value: string): string => value.replaceAll('_', String.raw`\_`)

/** No value is last ascending and first descending. */
const NULLS = { asc: 'ASC NULLS LAST', desc: 'DESC NULLS FIRST' } as const

/** Of the newest, or the first in the order that is asked for. */
export function toWhere({ combinator, terms, sort }: Ask, dialect: Dialect): Where {
  const values: (string | number)[] = []
  const bind = (value: string | number): string => {
    values.push(value)
    return dialect.placeholder(values.length)
  }
  const field = (path: Path): string => (isOwn(path) ? path[0]! : dialect.field(path))
  const like = (path: Path, pattern: string): string =>
    `${field(path)} ${dialect.like} ${bind(pattern)} ESCAPE '\\'`
  const spelled: {
    readonly [name in Comparison]: (path: Path, value: string | number) => string
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
  const conditions = terms.map(({ path, comparison, value = '' }) =>
    spelled[comparison](path, value),
  )
  return {
    condition: conditions.length === 0 ? 'true' : conditions.join(` ${combinator} `),
    order: sort
      ? `${dialect.number(sort.path)} ${NULLS[sort.direction]}, created_at`
      : 'created_at DESC',
    values,
  }
}
