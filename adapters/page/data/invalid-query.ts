import { AuditLogError } from '../../../src/errors.js'
import { type Conjunct, parsePageQuery } from './query.js'
import { type Fault, faultOf } from './query-tokens.js'

/** A part of a query string that can be parsed separately. */
export interface QueryPart {
  /** The text of the part in the address. */
  readonly text: string
  readonly conjuncts: readonly Conjunct[]
  readonly fault: Fault | undefined
}

const nameOf = (pair: string): string =>
  pair.split('=', 1)[0]!.replaceAll('%5B', '[').replaceAll('%5D', ']')

/** The common name of pairs that belong together: elements of a list, of a numbered group or condition. */
function rootOf(pair: string): string {
  const name = nameOf(pair)
  return /^filter\[(?:g|groupings|c|conditions)\](?:\[\d+\])?/.exec(name)?.[0] ?? name
}

function readPart(text: string): QueryPart {
  try {
    const isRange = text.startsWith('range=')
    const { where } = parsePageQuery(isRange ? text : `range=all&${text}`)
    return { text, conjuncts: where, fault: undefined }
  } catch (error) {
    return { text, conjuncts: [], fault: faultOf(error as Error) }
  }
}

/** Splits an invalid query string into parts, each parsed on its own. */
export function queryParts(search: string): readonly QueryPart[] {
  const parts = new Map<string, string>()
  for (const pair of search.split('&').filter((text) => text !== '')) {
    const root = rootOf(pair)
    const before = parts.get(root)
    parts.set(root, before === undefined ? pair : `${before}&${pair}`)
  }
  return [...parts.values()].map(readPart)
}

/** The query string without one of its parts. */
export const withoutPart = (parts: readonly QueryPart[], part: QueryPart): string =>
  parts
    .filter((other) => other !== part)
    .map(({ text }) => text)
    .join('&')

/** The query string with the unknown key replaced by the suggested one; `undefined` without a suggestion. */
export function repairedQuery(search: string, error: Error): string | undefined {
  if (!(error instanceof AuditLogError) || error.code !== 'UNKNOWN_PREDICATE') return undefined
  const { parameter, suggestion } = error
  const [, key] = /\[([^[\]]*)\](?:\[\d*\])*$/.exec(parameter ?? '') ?? []
  if (key === undefined || suggestion === undefined) return undefined
  return search
    .split('&')
    .map((pair) => (nameOf(pair).startsWith(parameter!) ? pair.replace(key, suggestion) : pair))
    .join('&')
}
