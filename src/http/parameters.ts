import { AuditLogError } from '../errors.js'
import { readBoolean } from '../filter/values.js'

/** Parameters of a query string, decoded, in order. */
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
 * Parts a query string: the parameters that are wanted, and the rest as it was sent, which the grammar
 * of filters reads. Throws `MALFORMED_PARAMETER` where the value of a wanted one cannot be decoded.
 */
export function takeParameters(
  query: string,
  isWanted: (name: string) => boolean,
): { readonly taken: Parameters; readonly rest: string } {
  const taken: [name: string, value: string][] = []
  const rest: string[] = []
  for (const part of query.split('&')) {
    const at = part.indexOf('=')
    // Who reads the rest tells what is wrong with its names.
    const name = decode(at === -1 ? part : part.slice(0, at))
    if (name === undefined || !isWanted(name)) rest.push(part)
    else taken.push([name, at === -1 ? '' : decodeValue(part.slice(at + 1), name)])
  }
  return { taken, rest: rest.join('&') }
}

/** Says what the value of a parameter must be. */
export const invalidParameter = (parameter: string, message: string): AuditLogError =>
  new AuditLogError('INVALID_VALUE', `${parameter} ${message}`, { parameter })

/** Values by the names of parameters that may be given once. */
export type SingleValues = ReadonlyMap<string, string>

/** Throws `INVALID_VALUE` where one of them is there twice. */
export function readSingleValues(parameters: Parameters): SingleValues {
  const values = new Map<string, string>()
  for (const [name, value] of parameters) {
    if (values.has(name)) throw invalidParameter(name, 'may be given once')
    values.set(name, value)
  }
  return values
}

/** `false` where it is not given. */
export function readFlag(values: SingleValues, name: string): boolean {
  const flag = readBoolean(values.get(name) ?? 'false')
  if (flag === undefined) throw invalidParameter(name, 'must be true or false')
  return flag
}

/** The whole numbers that a parameter takes, and what it is where it is not given. */
export interface IntegerRange {
  readonly min: number
  readonly max: number
  readonly standard: number
}

export function readInteger(
  values: SingleValues,
  name: string,
  { min, max, standard }: IntegerRange,
): number {
  const text = values.get(name) ?? String(standard)
  const whole = /^\d+$/.test(text) ? Number(text) : NaN
  if (whole >= min && whole <= max) return whole
  throw invalidParameter(name, `must be one whole number from ${min} to ${max}`)
}

/** For what takes no other parameters than those named: throws `UNKNOWN_PARAMETER` for the first one. */
export function refuseParameters(query: string, known?: string): void {
  if (query === '') return
  const [parameter] = new URLSearchParams(query).keys()
  if (parameter === undefined) return
  const allowed =
    known === undefined ? 'no parameter is taken here' : `${known} is taken here alone`
  throw new AuditLogError('UNKNOWN_PARAMETER', `${parameter}: ${allowed}`, { parameter })
}
