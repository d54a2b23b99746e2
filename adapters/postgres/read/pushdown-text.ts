import { readBoolean, readExact } from '../../../src/filter/values.js'
import { isTextTest, type Predicate } from '../../../src/filter/predicates.js'
import { andSql, orSql, type Sql, sql } from '../../../src/store-kit/sql.js'
import { allOf, anyOf, jsonTextPattern } from './sql.js'

/*
 * A search in the JSON text of the attributes rules out most rows, at a small part of the cost of parsing the JSON. Keys and
 * texts have one spelling there: Postgres escapes the same characters as JSON.stringify, in the same way.
 * `json_send` returns the text as UTF-8, the encoding of all connections of pg, in half the time of a cast to `text`.
 */

const INCLUDES = 'position(?::bytea in json_send(attributes)) > 0'
const bytesOf = (text: string): string => String.raw`\x${Buffer.from(text).toString('hex')}`
const includes = (text: string): Sql => sql(INCLUDES, bytesOf(text))

/** The end of the key at which a value of the attribute is: the key may begin with any of the parts before the last one. */
function keyEnd(name: string): string {
  const last = name.lastIndexOf('_') + 1
  const end = `${JSON.stringify(name.slice(last))}:`
  return last === 0 ? end : end.slice(1)
}

/** Holds if the attributes have such a key, maybe elsewhere. */
export const hasKey = (name: string): Sql => includes(keyEnd(name))

// A regular expression takes as long as so many searches, however many texts it has.
const MAX_SEARCHES = 8
// A longer one takes long to compile.
const MAX_PATTERN = 1000

/** Holds if the attributes have one of the texts; `undefined` if these are too long. */
function includesSome(texts: readonly string[]): Sql | undefined {
  if (texts.length <= MAX_SEARCHES) return orSql(texts.map(includes))
  const pattern = anyOf(texts)
  return pattern.length > MAX_PATTERN ? undefined : sql('attributes::text COLLATE "C" ~ ?', pattern)
}

/** The values that a text in a query equals, as JSON.stringify writes them. */
const textsOf = (text: string): string[] =>
  [text, readExact(text), readBoolean(text)].flatMap((value) => JSON.stringify(value) ?? [])

/** The values that pass, as JSON.stringify writes them; `undefined` if they are not known. */
function passing({ test, negated }: Predicate, values: readonly string[]): string[] | undefined {
  if (negated || values.length === 0) return undefined
  if (test === 'true' || test === 'false') return [test]
  const isAmong = test === 'eq' || test === 'in'
  return isAmong ? values.flatMap(textsOf) : undefined
}

/** Holds if the attributes have a value that passes, maybe elsewhere; `undefined` if it may be written in several ways, as a number can. */
export function hasValue(predicate: Predicate, values: readonly string[]): Sql | undefined {
  const json = passing(predicate, values)
  return json && json.length <= values.length ? includesSome(json) : undefined
}

/**
 * Holds if attributes that have the key may pass, without a look at `byPath` if the key is followed by a value. Elements of
 * an array may follow anywhere, and after a space is what a trigger wrote, which may write numbers in another way.
 */
export function passesAtKey(
  name: string,
  predicate: Predicate,
  values: readonly string[],
  byPath: Sql,
): Sql {
  const { test, negated } = predicate
  const end = keyEnd(name)
  if (test === 'null' && negated)
    return orSql([sql(`NOT (${INCLUDES})`, bytesOf(`${end}null`)), byPath])
  const json = passing(predicate, values)
  const follows = json && includesSome(json.map((value) => end + value))
  if (!follows) return byPath
  return orSql([follows, andSql([orSql([includes(`${end}[`), includes(`${end} `)]), byPath])])
}

/** Holds if the attributes have the key, and a text that passes, maybe elsewhere. */
export function hasKeyAndText(
  name: string,
  { test, negated }: Predicate,
  values: readonly string[],
): Sql {
  const pattern = isTextTest(test) && !negated ? jsonTextPattern(test, values[0]!) : undefined
  return allOf(
    hasKey(name),
    pattern === undefined ? undefined : sql('attributes::text COLLATE "C" ~ ?', pattern),
  )
}
