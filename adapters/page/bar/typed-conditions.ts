import { type Level, LEVELS } from '../../../src/event/level.js'
import type { PredicateName } from '../../../src/filter/predicates.js'
import { textCondition } from '../data/free-text.js'
import { negated } from '../data/negation.js'
import { levelConjunct } from '../data/level-choice.js'
import { conditionOn, type Conjunct, groupingOf } from '../data/query.js'
import { nearestAttribute, type TypedContext } from './nearest-attribute.js'

/*
 * The conditions that people type: `status >= 500`, `user:bob`, `-type:deploy`, `name = "two words"`. Everything
 * else is a text to search for:
 *
 *   typed     = *( condition | text ), with white space between them
 *   condition = [ "-" ] name operator value *( "," value )
 *   text      = [ "-" ] ( word | phrase )
 *   value     = word | phrase
 *   phrase    = quotation marks around any characters; one among them is written twice
 */

interface Operator {
  readonly predicate: PredicateName
  /** The predicate for several values. Missing if the operator takes one value. */
  readonly list?: PredicateName
}

const EQUAL: Operator = { predicate: 'eq', list: 'in' }
const NOT_EQUAL: Operator = { predicate: 'not_eq', list: 'not_in' }

/** Longer operators come first. The meaning of a colon depends on the attribute: see `colonCondition`. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '>=': { predicate: 'gteq' },
  '<=': { predicate: 'lteq' },
  '!=': NOT_EQUAL,
  '<>': NOT_EQUAL,
  '!~': { predicate: 'not_cont', list: 'not_cont_all' },
  '==': EQUAL,
  '≥': { predicate: 'gteq' },
  '≤': { predicate: 'lteq' },
  '≠': NOT_EQUAL,
  '>': { predicate: 'gt' },
  '<': { predicate: 'lt' },
  '~': { predicate: 'cont', list: 'cont_any' },
  '=': EQUAL,
  ':': EQUAL,
}

const PHRASE = '"(?:[^"]|"")*"?'
const VALUE = `(?:${PHRASE}|[^\\s,"][^\\s,]*)`
const SYMBOLS = Object.keys(OPERATORS)
  .filter((symbol) => symbol !== ':')
  .join('|')

const CONDITION = new RegExp(
  `(?<minus>-?)(?<name>[\\p{L}_][\\p{L}\\p{N}_.-]*)(?<space>\\s*)` +
    `(?:(?<symbol>${SYMBOLS})\\s*|(?<colon>:))(?<values>${VALUE}(?:,\\s*${VALUE})*)?(?!\\S)`,
  'uy',
)
const TEXT = new RegExp(`(?<minus>-?)(?:(?<phrase>${PHRASE})|(?<word>[^\\s"]\\S*))`, 'uy')
const SPACE = /\s*/y

/** A part of the typed text, with its position. */
export interface TypedPart {
  readonly from: number
  readonly to: number
  readonly conjuncts: readonly Conjunct[]
  /** True for a word without quotation marks, which may also be part of a time. */
  readonly isWord: boolean
  /** The name of an attribute that no event has. */
  readonly unknown?: string
  readonly problem?: TypedProblem
}

/** Reason why a typed text cannot be read: the key of a message. */
export interface TypedProblem {
  readonly key: 'noValue' | 'oneValue' | 'noLevel'
  readonly text: string
}

const unquoted = (text: string): string =>
  text.startsWith('"') ? text.slice(1).replace(/"$/, '').replaceAll('""', '"') : text

const valuesIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(VALUE, 'gu'))].map(([value]) => unquoted(value))

const LEVEL_NAMES: readonly string[] = LEVELS

/** Texts with asterisks: `bo*`, `*bo`, `*bo*` and `*`. */
const WILDCARDS: readonly (readonly [RegExp, PredicateName])[] = [
  [/^\*+$/, 'not_null'],
  [/^\*(.+)\*$/s, 'cont'],
  [/^(.+)\*$/s, 'start'],
  [/^\*(.+)$/s, 'end'],
]

/**
 * The condition of `name:value`. It tests for equality. But a value with an asterisk, or an unknown type, matches
 * parts of values.
 */
function colonCondition(name: string, value: string, { attributes }: TypedContext): Conjunct {
  for (const [pattern, predicate] of WILDCARDS) {
    const [found, part] = pattern.exec(value) ?? []
    if (found !== undefined) return conditionOn(name, predicate, part === undefined ? [] : [part])
  }
  const types = attributes.find((attribute) => attribute.name === 'type')?.values ?? []
  const isType = name !== 'type' || types.some((type) => type.value === value)
  return conditionOn(name, isType ? 'eq' : 'cont', [value])
}

/** `5xx` means at least 500 and less than 600. */
function statusClass(name: string, value: string): readonly Conjunct[] | undefined {
  const [, digit] = /^([1-5])xx$/i.exec(value) ?? []
  if (digit === undefined) return undefined
  return [
    conditionOn(name, 'gteq', [`${digit}00`]),
    conditionOn(name, 'lt', [`${Number(digit) + 1}00`]),
  ]
}

interface TypedCondition {
  readonly name: string
  readonly symbol: string
  readonly values: readonly string[]
}

type Meant = Pick<TypedPart, 'conjuncts' | 'problem'>

const NONE: readonly Conjunct[] = []

function levelCondition({ symbol, values }: TypedCondition): Meant {
  const { predicate, list } = OPERATORS[symbol]!
  const wrong = values.find((value) => !LEVEL_NAMES.includes(value.toLowerCase()))
  if (wrong !== undefined || !list?.endsWith('in'))
    return { conjuncts: NONE, problem: { key: 'noLevel', text: wrong ?? symbol } }
  const levels = values.map((value) => value.toLowerCase()) as Level[]
  return { conjuncts: [levelConjunct({ levels, not: predicate === 'not_eq' })] }
}

function attributeCondition(typed: TypedCondition, context: TypedContext): Meant {
  const { name, symbol, values } = typed
  const { predicate, list } = OPERATORS[symbol]!
  const [value = ''] = values
  if (values.length > 1) {
    if (!list) return { conjuncts: NONE, problem: { key: 'oneValue', text: symbol } }
    return { conjuncts: [conditionOn(name, list, values)] }
  }
  if (value.trim() === '' && list) {
    // The API ignores blank values.
    return { conjuncts: [conditionOn(name, predicate.startsWith('not') ? 'present' : 'blank')] }
  }
  if (predicate === 'eq') {
    const range = statusClass(name, value)
    if (range) return { conjuncts: range }
    if (symbol === ':') return { conjuncts: [colonCondition(name, value, context)] }
  }
  return { conjuncts: [conditionOn(name, predicate, [value])] }
}

/** The opposite of all conjuncts, joined. */
function excluded(conjuncts: readonly Conjunct[]): readonly Conjunct[] {
  const all = conjuncts.length > 1 ? groupingOf(conjuncts)! : conjuncts[0]
  return all ? [negated(all)] : NONE
}

function readCondition(found: RegExpExecArray, context: TypedContext): TypedPart | undefined {
  const { minus, name, symbol, colon, values } = found.groups as Record<string, string | undefined>
  const { index: from } = found
  const { words } = context
  const isLevel = [words.level.toLowerCase(), 'level'].includes(name!.toLowerCase())
  const isColon = colon !== undefined
  const known = isLevel ? words.level : nearestAttribute(name!, context, !isColon)
  // `http://x` is not a condition. But `x > 1` is a condition, even if no event has an `x`.
  if (isColon && known === undefined) return undefined
  const part = { from, to: from + found[0].length, isWord: false }
  const typed: TypedCondition = {
    name: known ?? name!.replaceAll('.', '_'),
    symbol: symbol ?? ':',
    values: valuesIn(values ?? ''),
  }
  if (typed.values.length === 0)
    return { ...part, conjuncts: NONE, problem: { key: 'noValue', text: found[0].trim() } }
  const meant = isLevel ? levelCondition(typed) : attributeCondition(typed, context)
  return {
    ...part,
    ...meant,
    conjuncts: minus ? excluded(meant.conjuncts) : meant.conjuncts,
    ...(known === undefined && { unknown: typed.name }),
  }
}

/** The type that a word names, or the types that start with it: `api:changes`. */
function typeCondition(word: string, { attributes }: TypedContext): Conjunct | undefined {
  if (!/^[a-z]\w*:./i.test(word)) return undefined
  const types = attributes.find(({ name }) => name === 'type')?.values ?? []
  if (types.some(({ value }) => value === word)) return conditionOn('type', 'eq', [word])
  return types.some(({ value }) => value.startsWith(word))
    ? conditionOn('type', 'start', [word])
    : undefined
}

/** True if a text without quotation marks is the start of a type: `api:changes`. */
const isType = ({ groups }: RegExpExecArray, context: TypedContext): boolean =>
  groups!['word'] !== undefined && typeCondition(groups!['word'], context) !== undefined

function readText(found: RegExpExecArray, context: TypedContext): TypedPart {
  const { minus, phrase, word } = found.groups as Record<string, string | undefined>
  const { index: from } = found
  const part = { from, to: from + found[0].length }
  const text = phrase === undefined ? word! : unquoted(phrase)
  const type = word === undefined ? undefined : typeCondition(word, context)
  const condition = type ?? textCondition(text)
  const isBlank = text.trim() === ''
  return {
    ...part,
    conjuncts: isBlank ? NONE : [minus ? negated(condition) : condition],
    isWord: word !== undefined && !type,
  }
}

/** The parts of a typed text, in its order. */
export function readParts(text: string, context: TypedContext): readonly TypedPart[] {
  const parts: TypedPart[] = []
  const readAt = (pattern: RegExp, at: number): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }
  for (let at = 0; ;) {
    at += readAt(SPACE, at)![0].length
    const word = readAt(TEXT, at)
    if (!word) return parts
    const condition = isType(word, context) ? null : readAt(CONDITION, at)
    const part = (condition && readCondition(condition, context)) ?? readText(word, context)
    parts.push(part)
    at = part.to
  }
}
