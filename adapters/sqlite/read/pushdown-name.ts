import type { Sql } from '../../../src/store-kit/sql.js'
import { atPath, IN_TREE, type Place } from './pushdown-place.js'
import { orSql, sql } from './sql.js'

// A longer name is not pushed down.
const MAX_NAME_LENGTH = 1000
// With more parts, the whole tree is searched.
const MAX_HEADS = 8
// Other characters are escaped in JSON text, which a path cannot do.
const PATH_SAFE = /^[^"\\\p{Cc}]*$/u

const pathOf = (keys: readonly string[]): string => `$${keys.map((key) => `."${key}"`).join('')}`

/** Paths to the top-level keys of `attributes` below which the name may lead to a value. */
function headsOf(name: string, parts: readonly string[]): string[] {
  if (!PATH_SAFE.test(name) || parts.length > MAX_HEADS) return ['$']
  return parts.map((_, i) => pathOf([parts.slice(0, i + 1).join('_')]))
}

// The characters that may follow the last key in the path of a value, with the indexes of arrays.
const AFTER_KEY = '"[]0123456789'
const KEY_END = /["[\]0-9]+$/

/**
 * A GLOB pattern for the paths of values that the name may refer to, without AFTER_KEY: its parts in
 * order, each at the start of a key or after `_`.
 */
function pathPattern(parts: readonly string[]): string {
  const segments = parts.map((part, i) => {
    const isLast = i === parts.length - 1
    const text = isLast ? part.replace(KEY_END, '') : part
    const end = isLast && !PATH_SAFE.test(part) ? '*' : ''
    return text.replace(/[*?[]/g, '[$&]').replace(/["\\\p{Cc}]/gu, '*') + end
  })
  return `$*[_."]${segments.join('*[_."]')}`
}

/**
 * SQL that is true if a value to which the name leads passes the test, for any split of the name into keys
 * and through any arrays. It may also be true because of other values.
 */
export function anyPlace(name: string, test: (place: Place) => Sql | undefined): Sql | undefined {
  const passes = test(IN_TREE)
  if (!passes || name.length > MAX_NAME_LENGTH) return undefined
  const parts = name.split('_')
  const heads = headsOf(name, parts)
  return sql(
    `EXISTS (SELECT 1 FROM (VALUES ${heads.map(() => '(?)').join(', ')}), json_tree(attributes, column1)
      WHERE ${passes.text} AND rtrim(fullkey, '${AFTER_KEY}') GLOB ?)`,
    ...heads,
    ...passes.params,
    pathPattern(parts),
  )
}

/** SQL that is true if a place passes at the whole name as one key, or at each part as a key. */
export function atKnownPlaces(name: string, test: (place: Place) => Sql): Sql | undefined {
  if (name.length > MAX_NAME_LENGTH || !PATH_SAFE.test(name)) return undefined
  const paths = new Set([pathOf([name]), pathOf(name.split('_'))])
  return orSql(Array.from(paths, (path) => test(atPath(path))))
}
