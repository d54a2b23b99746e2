import type { Sql } from '../../../src/store-kit/sql.js'
import { isStorableText } from '../../../src/event/json-copy.js'

/*
 * SQL with its parameters as literals, so that several statements can be sent in one message: the
 * protocol allows that only without parameters
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT).
 */

// Longer SQL is sent in a message of its own.
const MAX_LENGTH = 20_000

/** Escapes all but letters, digits and spaces, so that it is read the same whatever the server's settings. */
const textLiteral = (text: string): string =>
  `E'${text.replaceAll(/[^ 0-9A-Za-z]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`

/**
 * A literal whose type Postgres infers, as for a parameter. `undefined` for a value that is not a number, a
 * boolean, a storable text, or a list of numbers or of texts.
 */
function literal(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return `'${value}'`
  if (typeof value === 'string') return isStorableText(value) ? textLiteral(value) : undefined
  return Array.isArray(value) ? listLiteral(value) : undefined
}

function listLiteral(values: readonly unknown[]): string | undefined {
  if (values.every((value) => typeof value === 'number')) return `'{${values.join()}}'`
  const texts = values.map((value) => (typeof value === 'string' ? literal(value) : undefined))
  return texts.includes(undefined) ? undefined : `ARRAY[${texts.join()}]`
}

/** `undefined` if a parameter has no literal or the SQL would be too long. */
export function inlined({ text, params }: Sql): string | undefined {
  const values: (string | undefined)[] = []
  let length = text.length
  for (const param of params) {
    const value = literal(param)
    length += value?.length ?? Infinity
    if (length > MAX_LENGTH) return undefined
    values.push(value)
  }
  let count = 0
  return text.replaceAll(/"(?:[^"]|"")*"|\?/g, (part) => (part === '?' ? values[count++]! : part))
}
