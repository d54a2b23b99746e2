import { AuditLogError } from '../errors.js'
import { readBoolean } from '../filter/values.js'

/** Decoded parameters of a query string, in order. */
export type Parameters = readonly (readonly [name: string, value: string])[]

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function decodeValue(text: string, parameter: string): string {
  const value = decode(text)
  if (value !== undefined) return value
  throw new AuditLogError(
    'MALFORMED_PARAMETER',
    `the percent-encoding of ${parameter} is not valid UTF-8; a literal % is written %25`,
    { parameter },
  )
}

/**
 * Splits a query string into the wanted parameters and the rest as it was sent, which the filter parser
 * reads. Throws `MALFORMED_PARAMETER` if the value of a wanted parameter cannot be decoded.
 */
export function extractParameters(
  query: string,
  isWanted: (name: string) => boolean,
): { readonly extracted: Parameters; readonly rest: string } {
  const extracted: [name: string, value: string][] = []
  const rest: string[] = []
  for (const part of query.split('&')) {
    const at = part.indexOf('=')
    // The parser of the rest reports invalid names.
    const name = decode(at === -1 ? part : part.slice(0, at))
    if (name === undefined || !isWanted(name)) rest.push(part)
    else extracted.push([name, at === -1 ? '' : decodeValue(part.slice(at + 1), name)])
  }
  return { extracted, rest: rest.join('&') }
}

/** The query strings as one. */
export const joinQueries = (...queries: readonly string[]): string =>
  queries.filter((text) => text !== '').join('&')

/** An error that describes the allowed values of a parameter. */
export const invalidParameter = (parameter: string, message: string): AuditLogError =>
  new AuditLogError('INVALID_VALUE', `${parameter} ${message}`, { parameter })

/** Values by parameter name. */
export type SingleValues = ReadonlyMap<string, string>

/** Throws `INVALID_VALUE` if a parameter is repeated. */
export function readSingleValues(parameters: Parameters): SingleValues {
  const values = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (values.has(name)) throw invalidParameter(name, 'must not be repeated')
    values.set(name, value)
  }
  return values
}

/** A boolean parameter; `false` if it is missing. */
export function readFlag(values: SingleValues, name: string): boolean {
  const flag = readBoolean(values.get(name) ?? 'false')
  if (flag === undefined) throw invalidParameter(name, 'must be true or false')
  return flag
}

/** The allowed range of an integer parameter, and its default. */
export interface IntegerRange {
  readonly min: number
  readonly max: number
  readonly default: number
}

export function readInteger(
  values: SingleValues,
  name: string,
  { min, max, default: defaultValue }: IntegerRange,
): number {
  const text = values.get(name) ?? String(defaultValue)
  const whole = /^\d+$/.test(text) ? Number(text) : NaN
  if (whole >= min && whole <= max) return whole
  throw invalidParameter(name, `must be a whole number from ${min} to ${max}`)
}

/** Throws `UNKNOWN_PARAMETER` for the first parameter; `known` is the only one that is allowed. */
export function refuseParameters(query: string, known?: string): void {
  if (query === '') return
  const [parameter] = new URLSearchParams(query).keys()
  if (parameter === undefined) return
  const allowed =
    known === undefined ? 'no parameters are allowed here' : `only ${known} is allowed here`
  throw new AuditLogError('UNKNOWN_PARAMETER', `${parameter}: ${allowed}`, { parameter })
}
