import { AuditLogError } from '../../../src/errors.js'
import { splitKey } from '../../../src/filter/predicates.js'

/** A token of a query string. Brackets and separators are `plain`. */
export interface Token {
  readonly kind: 'plain' | 'attribute' | 'predicate' | 'value'
  readonly text: string
  /** True if this is the invalid part. */
  readonly isBad?: boolean
}

/** The invalid part of a query, taken from the parse error. */
export interface Fault {
  readonly part: 'predicate' | 'value' | 'name'
  readonly parameter: string
  /** The nearest valid key: `type_start`. */
  readonly suggestion: string | undefined
}

const PARTS: Readonly<Record<string, Fault['part']>> = {
  UNKNOWN_PREDICATE: 'predicate',
  INVALID_VALUE: 'value',
}

/** A `RangeError` concerns `range`, which is a parameter of the page. */
export function faultOf(error: Error): Fault {
  if (!(error instanceof AuditLogError))
    return { part: 'value', parameter: 'range', suggestion: undefined }
  const { code, parameter = '', suggestion } = error
  return { part: PARTS[code] ?? 'name', parameter, suggestion }
}

/** The decoded text of a part of a query string; the part itself if it cannot be decoded. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Characters that have a meaning in URLs, break copied links, or are invisible. */
const SPECIAL = /[%&+#\s"<>\\^`{|}]|[\p{C}\p{Zl}\p{Zp}]/gu

/** The inverse of {@link decode}, with only the percent-encoding that is needed. */
export const encoded = (text: string): string =>
  text.toWellFormed().replace(SPECIAL, encodeURIComponent)

const split = (pair: string): [name: string, value: string | undefined] => {
  const at = pair.indexOf('=')
  return at === -1
    ? [decode(pair), undefined]
    : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))]
}

const readablePair = (pair: string): string => {
  const [name, value] = split(pair)
  const text = encoded(name).replaceAll('=', '%3D')
  return value === undefined ? text : `${text}=${encoded(value)}`
}

/** The query string with only the percent-encoding that it needs. */
export const readableQuery = (query: string): string => query.split('&').map(readablePair).join('&')

const KEY = /^(.*\[)([^[\]]*[^[\]\d][^[\]]*)(\](?:\[\d*\])*)$/

/** Splits a key with an unknown predicate into attribute and rest. */
function splitUnknown(key: string, suggestion: string | undefined): [string, string] {
  const near = suggestion === undefined ? undefined : splitKey(suggestion)?.attribute
  const isNear = near !== undefined && key.startsWith(`${near}_`)
  return isNear ? [near, key.slice(near.length)] : ['', key]
}

function nameTokens(name: string, fault: Fault | undefined): Token[] {
  const [, before, key, after] = KEY.exec(name) ?? []
  if (key === undefined) return [{ kind: 'plain', text: name, isBad: fault?.part === 'name' }]
  const known = splitKey(key)
  const attribute = known?.attribute ?? (fault ? splitUnknown(key, fault.suggestion)[0] : key)
  const isBad = fault?.part === 'name'
  return [
    { kind: 'plain', text: before! },
    { kind: 'attribute', text: attribute, isBad },
    {
      kind: 'predicate',
      text: key.slice(attribute.length),
      isBad: isBad || fault?.part === 'predicate',
    },
    { kind: 'plain', text: after! },
  ]
}

const isOf = (name: string, fault: Fault): boolean =>
  fault.parameter !== '' &&
  (name.startsWith(fault.parameter) || fault.parameter.startsWith(name.replace(/(\[\])+$/, '[')))

/** The tokens of a {@link readableQuery} query string. With a fault, its tokens are marked. */
export function queryTokens(query: string, fault?: Fault): readonly Token[] {
  const pairs = query.split('&').filter((pair) => pair !== '')
  const tokens = pairs.flatMap((pair, index): Token[] => {
    const at = pair.indexOf('=')
    const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    const its = fault && isOf(name, fault) ? fault : undefined
    return [
      { kind: 'plain', text: index === 0 ? '' : '&' },
      ...nameTokens(name, its),
      { kind: 'plain', text: at === -1 ? '' : '=' },
      { kind: 'value', text: value, isBad: its?.part === 'value' },
    ]
  })
  return tokens.filter(({ text }) => text !== '')
}
