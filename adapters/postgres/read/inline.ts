import type { Sql } from '../../../src/store-kit/sql.js'
import { isStorableText } from '../../../src/event/json-copy.js'

/*
 * SQL whose parameters are written into its text, so that it can be sent in one message with other statements:
 * only without parameters does the protocol know several at once
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT).
 */

// What is longer is worth a message of its own.
const MAX_LENGTH = 20_000

/** All but letters, digits and spaces is escaped, which reads the same whatever the server's settings. */
const textLiteral = (text: string): string =>
  `E'${text.replaceAll(/[^ 0-9A-Za-z]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`

/** Of no type of its own, as a parameter is; `undefined` for what is no number, text or list of these. */
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

/** `undefined` where a parameter cannot be written, or they are long. */
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
