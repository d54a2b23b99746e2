import { isOwnField } from '../../src/event.js'
import type { NarrowAttribute, Sql } from '../../src/filter/narrow.js'
import type { Predicate } from '../../src/filter/predicates.js'
import { readBoolean, readNumber } from '../../src/filter/values.js'
import { narrowOwn } from './narrow-own.js'
import { atPath, ELEMENT, narrowPlace, typeIs } from './narrow-place.js'
import { andSql, orSql, sql } from './sql.js'

// A name of n segments can be reached by 2^n paths and array places; beyond this they cost more
// than the predicate does.
const MAX_SEGMENTS = 4
const PATH_SAFE = /^[^"\\\p{Cc}]+$/u

interface Paths {
  /** The paths of keys that spell the whole name. */
  readonly full: readonly string[]
  /** The paths of keys that spell its beginning: an array of objects there may hold the rest. */
  readonly partial: readonly string[]
}

function compositions(parts: readonly string[]): string[] {
  return parts.flatMap((_, at) => {
    const head = `."${parts.slice(0, at + 1).join('_')}"`
    const rest = parts.slice(at + 1)
    return rest.length === 0 ? [head] : compositions(rest).map((tail) => head + tail)
  })
}

function pathsOf(name: string): Paths | undefined {
  const parts = name.split('_')
  if (parts.length > MAX_SEGMENTS || !parts.every((part) => PATH_SAFE.test(part))) return undefined
  const at = (count: number): string[] =>
    compositions(parts.slice(0, count)).map((path) => `$${path}`)
  return { full: at(parts.length), partial: parts.slice(1).flatMap((_, i) => at(i + 1)) }
}

/** The scalar at the path, or the elements of the array there. */
function narrowPath(path: string, predicate: Predicate, values: readonly string[]): Sql[] {
  const place = atPath(path)
  const scalar = narrowPlace(place, predicate, values)
  const isArray = typeIs(place, 'array')
  // An object or array that is not empty makes an attribute present, whatever it holds.
  const isPresence = predicate.test === 'null' || predicate.test === 'blank'
  if (!scalar || isPresence) return scalar ? [scalar, isArray] : [isArray]
  return [scalar, andSql([isArray, narrowElements(path, predicate, values)])]
}

/** An array where the name ends holds its elements as values; arrays within are left open. */
function narrowElements(path: string, predicate: Predicate, values: readonly string[]): Sql {
  const test = narrowPlace(ELEMENT, predicate, values)
  const open = typeIs(ELEMENT, 'array')
  const passes = test ? orSql([open, test]) : open
  return sql(
    `EXISTS (SELECT 1 FROM json_each(attributes, ?) WHERE ${passes.text})`,
    path,
    ...passes.params,
  )
}

/** `null` and `blank` hold only where no path has what they rule out. */
function narrowAbsence(paths: Paths, test: 'null' | 'blank'): Sql {
  const empty = test === 'blank' ? ` OR json_extract(attributes, ?) = ''` : ''
  return andSql(
    paths.full.map((path) =>
      sql(
        `(json_extract(attributes, ?) IS NULL OR json_type(attributes, ?) IN ('object', 'array')${empty})`,
        ...(empty ? [path, path, path] : [path, path]),
      ),
    ),
  )
}

// JSON text keeps such a text as it is, so its bytes stand in the stored JSONB.
const VERBATIM = /^[^"\\\p{Cc}]+$/u

/** The event's bytes hold one of the texts, or the number that it reads as: cheap for any name. */
function holdsBytes(texts: readonly string[]): Sql | undefined {
  if (texts.length > 3) return undefined
  if (!texts.every((text) => VERBATIM.test(text) && readBoolean(text) === undefined))
    return undefined
  const needles = texts.flatMap((text) => {
    const number = readNumber(text)
    return number === undefined ? [text] : [text, JSON.stringify(number)]
  })
  return orSql(needles.map((needle) => sql('instr(attributes, CAST(? AS BLOB)) > 0', needle)))
}

/**
 * What SQLite can tell of an attribute. JSON paths stand for one spelling of a name, so all of its
 * spellings are asked, and an event with an array on the way is left to the predicate.
 */
export const narrowAttribute: NarrowAttribute = (attribute, predicate, values) => {
  if (isOwnField(attribute)) return narrowOwn(attribute, predicate, values)
  const { test, negated } = predicate
  const isEquality = !negated && (test === 'eq' || test === 'in')
  const bytes = isEquality ? holdsBytes(values) : undefined
  const paths = pathsOf(attribute)
  if (!paths) return bytes
  if (!negated && (test === 'null' || test === 'blank')) return narrowAbsence(paths, test)
  const narrowed = orSql([
    ...paths.full.flatMap((path) => narrowPath(path, predicate, values)),
    ...paths.partial.map((path) => typeIs(atPath(path), 'array')),
  ])
  return bytes ? andSql([bytes, narrowed]) : narrowed
}
