import { type Format, FORMAT_NAMES, formatOf, plain, type Parts } from './formats.js'
import type { SentencePart } from './sentence.js'

/** Values of an event that a template can read. */
export interface TemplateValues {
  /** The attribute's values in this format. */
  attribute(name: string, format: Format): Parts
  isAttribute(name: string, text: string): boolean
  /** The parts that `{@word}` stands for. */
  word(word: string): Parts
  /** The name that `{@word:name}` stands for. */
  nameOf(word: string): Parts
}

/** A piece of a template. Returns `undefined` if the event lacks a value that it needs. */
type Piece = (values: TemplateValues) => Parts

/** A parsed template: one form that follows the user's name, and one form without a user. */
export interface Template {
  /** `undefined` if the sentence starts with the thing even when there is a user. */
  readonly afterUser: Piece | undefined
  readonly alone: Piece
}

const TOKEN = /\\([\\{}[\]|*“”])|\{([^{}]*)\}|\*\*|[{}[\]|“”\\]|[^\\*{}[\]|“”]+|\*/gu
const PLACE =
  /^(?:@(?<word>[a-z_]+)(?<nameOnly>:name)?|(?<name>[^@:=][^:=]*)(?::(?<format>[^:]+)|=(?<text>.+))?)$/u

/**
 * Reads a template:
 *
 *     template := part | part '|' part | '|' part      with a user, without; the same for both;
 *                                                       the thing first for both
 *     part     := ( text | place | '**' part '**' | '“' part '”' | '[' part { '|' part } ']' )*
 *     place    := '{' name [ ':' format | '=' text ] '}' | '{@' word [ ':name' ] '}'
 *
 * A backslash makes the next character ordinary. Throws a `SyntaxError` that names the fault and
 * where.
 */
export function readTemplate(template: string): Template {
  if (typeof template !== 'string' || template.trim() === '')
    throw new SyntaxError('a sentence must be a text that is not blank')
  const tokens = [...template.matchAll(TOKEN)]
  let at = 0
  const fault = (problem: string, index = tokens[at]?.index ?? template.length): SyntaxError =>
    new SyntaxError(`${problem} at character ${index + 1}`)

  const place = (content: string): Piece => {
    const { word, nameOnly, name, format, text } = PLACE.exec(content)?.groups ?? {}
    if (word !== undefined)
      return (values) => (nameOnly === undefined ? values.word(word) : values.nameOf(word))
    if (name === undefined)
      throw fault(`{${content}} is not {name}, {name:format}, {name=text}, {@word} or {@word:name}`)
    if (text !== undefined) return (values) => (values.isAttribute(name, text) ? [] : undefined)
    const print = formatOf(name, format)
    if (!print)
      throw fault(
        `unknown format ${format}; the formats are ${FORMAT_NAMES} and two words such as item/items`,
      )
    return (values) => values.attribute(name, print)
  }

  const enclosed = (closer: string, read: () => Piece): Piece => {
    const { 0: opener, index } = tokens[at++]!
    const piece = read()
    if (tokens[at]?.[0] !== closer) throw fault(`${opener} has no ${closer}`, index)
    at++
    return piece
  }

  const marked = (kind: 'name' | 'quote', closer: string): Piece => {
    const inner = enclosed(closer, () => sequence([closer]))
    return (values) => {
      const text = inner(values)
        ?.map((part) => part.text)
        .join('')
      return text === undefined ? undefined : [{ kind, text }]
    }
  }

  const choice = (): Piece => {
    const choices: Piece[] = []
    return enclosed(']', () => {
      choices.push(sequence([']', '|']))
      while (tokens[at]?.[0] === '|') {
        at++
        choices.push(sequence([']', '|']))
      }
      return (values) => firstParts(choices, values) ?? []
    })
  }

  const next = (): Piece => {
    const [token, escaped, content] = tokens[at]!
    if (token === '**') return marked('name', '**')
    if (token === '“') return marked('quote', '”')
    if (token === '[') return choice()
    if (/^[{}\]|”\\]$/.test(token))
      throw fault(`unexpected ${token}; write \\${token} for the character itself`)
    const piece = content === undefined ? literal(escaped ?? token) : place(content)
    at++
    return piece
  }

  const sequence = (ends: readonly string[]): Piece => {
    const pieces: Piece[] = []
    while (at < tokens.length && !ends.includes(tokens[at]![0])) pieces.push(next())
    return (values) => allParts(pieces, values)
  }

  const first = sequence(['|'])
  if (at === tokens.length) return { afterUser: first, alone: first }
  const isEmpty = template.slice(0, tokens[at]!.index).trim() === ''
  if (template.slice(tokens[at]!.index + 1).trim() === '')
    throw fault('there is no form without a user')
  at++
  const second = sequence([])
  return { afterUser: isEmpty ? undefined : first, alone: second }
}

const literal = (text: string): Piece => {
  const parts = plain(text)
  return () => parts
}

function firstParts(pieces: readonly Piece[], values: TemplateValues): Parts {
  for (const piece of pieces) {
    const parts = piece(values)
    if (parts) return parts
  }
  return undefined
}

function allParts(pieces: readonly Piece[], values: TemplateValues): Parts {
  const parts: SentencePart[] = []
  for (const piece of pieces) {
    const more = piece(values)
    if (!more) return undefined
    parts.push(...more)
  }
  return parts
}
