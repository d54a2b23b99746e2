import type { Sql } from '../../../src/store-kit/sql.js'
import { atPath, IN_TREE, type Place } from './pushdown-place.js'
import { orSql, sql } from './sql.js'

// Beyond these the predicate works alone, and the whole tree is looked at.
const MAX_NAME = 1000
const MAX_HEADS = 8
// JSON text escapes the other characters, and a path cannot.
const PATH_SAFE = /^[^"\\\p{Cc}]*$/u

const pathOf = (keys: readonly string[]): string => `$${keys.map((key) => `."${key}"`).join('')}`

/** Keys of the attributes object below which all is that the name leads to. */
function headsOf(name: string, parts: readonly string[]): string[] {
  if (!PATH_SAFE.test(name) || parts.length > MAX_HEADS) return ['$']
  return parts.map((_, i) => pathOf([parts.slice(0, i + 1).join('_')]))
}

// What follows the last key in the path of a value, arrays that hold it included.
const AFTER_KEY = '"[]0123456789'
const KEY_END = /["[\]0-9]+$/

/**
 * A GLOB pattern for the paths of values to which the name may lead, without AFTER_KEY: its segments
 * in their order, each at the beginning of a key or after `_`.
 */
function pathPattern(parts: readonly string[]): string {
  const segments = parts.map((part, i) => {
    const isLast = i === parts.length - 1
    const kept = isLast ? part.replace(KEY_END, '') : part
    const open = isLast && !PATH_SAFE.test(part) ? '*' : ''
    return kept.replace(/[*?[]/g, '[$&]').replace(/["\\\p{Cc}]/gu, '*') + open
  })
  return `$*[_."]${segments.join('*[_."]')}`
}

/**
 * That a place passes among those that the name leads to, however keys spell it and whatever arrays
 * are on the way; some other places count as well.
 */
export function somewhere(name: string, test: (place: Place) => Sql | undefined): Sql | undefined {
  const passes = test(IN_TREE)
  if (!passes || name.length > MAX_NAME) return undefined
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

/** That a place passes to which one key for the whole name leads, or a key for each segment. */
export function atCertainPlaces(name: string, test: (place: Place) => Sql): Sql | undefined {
  if (name.length > MAX_NAME || !PATH_SAFE.test(name)) return undefined
  const paths = new Set([pathOf([name]), pathOf(name.split('_'))])
  return orSql(Array.from(paths, (path) => test(atPath(path))))
}
