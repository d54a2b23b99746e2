import { AuditLogError } from '../../../src/errors.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import { parseQuery } from '../../../src/filter/parse.js'
import { usageError } from '../terminal/exit-codes.js'
import type { Call, Option } from './command.js'

/** The options of every command that takes a query. */
export const queryOptions: readonly Option[] = [
  {
    flags: '-f, --filter <condition>',
    description:
      'a condition as in the query, without brackets: type_start=error:, or n_gteq=490; an empty value needs the =',
    repeatable: true,
  },
  {
    flags: '-q, --q <text>',
    description: 'words and phrases that the event contains: \'deploy "by hand" -staging\'',
    repeatable: true,
  },
]

export const limitOption: Option = {
  flags: '-n, --limit <n>',
  description: 'the largest number of events, 1 to 1000',
  default: '10',
}

/** `n_gteq=490` as a parameter. A name that is repeated becomes a list, as `type_in` needs it. */
function conditionsOf(filters: readonly string[]): string[] {
  const read = filters.map((text): [name: string, value: string] => {
    const sign = text.indexOf('=')
    if (sign < 1) throw usageError(`--filter ${text}: must be <attribute>_<predicate>=<value>`)
    return [text.slice(0, sign), text.slice(sign + 1)]
  })
  const isList = (name: string): boolean =>
    /_(?:in|not_in|any|all)$/.test(name) || read.filter(([other]) => other === name).length > 1
  return read.map(
    ([name, value]) => `filter[${name}]${isList(name) ? '[]' : ''}=${encodeURIComponent(value)}`,
  )
}

/** The query string of an argument, which may also be an address with a query. */
function textOf(argument: string): string {
  const address = /^https?:\/\/[^?#]*(?:\?([^#]*))?/.exec(argument)
  return address ? (address[1] ?? '') : argument.replace(/^\?/, '')
}

/** Reads the argument `query` and the options of {@link queryOptions}. Throws a usage error that names the nearest word. */
export function readQuery({ arguments: { query }, options }: Call): EventQuery {
  const {
    filter = [],
    q = [],
    limit,
  } = options as {
    readonly filter?: readonly string[]
    readonly q?: readonly string[]
    readonly limit?: string
  }
  const parts = [
    textOf(typeof query === 'string' ? query : ''),
    ...conditionsOf(filter),
    ...q.map((text) => `q=${encodeURIComponent(text)}`),
  ].filter((part) => part !== '')
  const text = parts.join('&')
  const hasLimit = /(?:^|&)limit=/.test(text)
  try {
    return parseQuery(hasLimit || limit === undefined ? text : `${text}&limit=${limit}`, {
      strict: true,
    })
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
    throw usageError(error.message, error.suggestion)
  }
}
