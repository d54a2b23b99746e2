import { AuditLogError } from '../errors.js'
import type { Combinator } from './ast.js'
import type { Drop, Param, ParamMap } from './params.js'
import { isBlank, trimAscii } from './values.js'

/*
 * Values of parameters, as the grammar of queries expects them. `at` is the name of the parameter, which errors
 * contain. All functions throw `AuditLogError`s.
 */

export const wrong = (
  code: 'INVALID_VALUE' | 'MALFORMED_PARAMETER',
  parameter: string,
  message: string,
): AuditLogError => new AuditLogError(code, `${parameter}: ${message}`, { parameter })

export const tooLarge = (message: string, parameter?: string): AuditLogError =>
  new AuditLogError('QUERY_TOO_LARGE', message, { parameter })

export function readText(value: Param, at: string): string {
  if (typeof value === 'string') return value
  throw wrong('INVALID_VALUE', at, 'takes one text')
}

/** The elements of a list, or of a hash by index, with their names, in the given order. */
export function readMembers(value: Param, at: string): [name: string, element: Param][] {
  if (typeof value === 'string') {
    if (isBlank(value)) return []
    throw wrong('MALFORMED_PARAMETER', at, 'takes a list or a hash')
  }
  const entries = value instanceof Map ? [...value] : value.map((child, i) => [i, child] as const)
  return entries.map(([index, child]) => [`${at}[${index}]`, child])
}

/** One text, a list of texts, or a list of hashes with each text under `member` (Ransack's long form). */
export function readTexts(value: Param, at: string, member: 'name' | 'value'): string[] {
  if (typeof value === 'string') return [value]
  if (value instanceof Map && value.has(member))
    return [readText(value.get(member)!, `${at}[${member}]`)]
  return readMembers(value, at).map(([index, element]) =>
    element instanceof Map && element.size === 1 && element.has(member)
      ? readText(element.get(member)!, `${index}[${member}]`)
      : readText(element, index),
  )
}

export function readMap(value: Param, at: string): ParamMap {
  if (value instanceof Map) return value
  throw wrong('MALFORMED_PARAMETER', at, 'takes a hash of members')
}

/** White space around the combinator of the top grouping is ignored. */
export function readCombinator(value: Param, at: string, drop: Drop, top = false): Combinator {
  const given = readText(value, at)
  const text = top ? trimAscii(given) : given
  if (isBlank(text)) {
    drop(at)
    return 'and'
  }
  if (text !== 'or' && text !== 'and')
    throw wrong('INVALID_VALUE', at, `must be or, or and; it is ${JSON.stringify(text)}`)
  return text
}
