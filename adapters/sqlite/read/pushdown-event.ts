import { ANY_TEXT, isOwnField, SOURCE } from '../../../src/event/own-fields.js'
import { SEALED_DATA } from '../../../src/event/searched.js'
import type { Grouping } from '../../../src/filter/ast.js'
import { type PushDownAttribute, pushDownFilter } from '../../../src/store-kit/pushdown.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import { atKnownPlaces, anyPlace } from './pushdown-name.js'
import { pushDownOwnField } from './pushdown-own.js'
import { isEmptyText, isFilled, isPresent, pushDownPlace } from './pushdown-place.js'
import { andSql, notSql, orSql } from './sql.js'

/** `null` and `blank` depend on all places: they are false if any place has a value. */
function pushDownAbsence(name: string, test: 'null' | 'blank'): Sql | undefined {
  const present = atKnownPlaces(name, isPresent)
  if (!present || test === 'null') return present && notSql(present)
  const filled = atKnownPlaces(name, isFilled)
  const empty = anyPlace(name, isEmptyText)
  // True for null, and if all values are empty text.
  return filled && empty && andSql([notSql(filled), orSql([notSql(present), empty])])
}

/** The source in its column, or an attribute of the same name. What must hold for both is left to the predicate. */
const pushDownSource: PushDownAttribute = (name, predicate, values) => {
  const { test, negated } = predicate
  if (negated || test === 'null' || test === 'blank') return undefined
  const column = pushDownOwnField(SOURCE, predicate, values)
  const attribute = anyPlace(name, (place) => pushDownPlace(place, predicate, values))
  return column && attribute && orSql([column, attribute])
}

/** Pushes a predicate down to an own field, which has a column, or to an attribute in the JSON. */
export const pushDownAttribute: PushDownAttribute = (attribute, predicate, values) => {
  // SQL would find ciphertexts, too.
  if (attribute === ANY_TEXT || attribute === SEALED_DATA) return undefined
  if (isOwnField(attribute)) return pushDownOwnField(attribute, predicate, values)
  if (attribute === SOURCE) return pushDownSource(attribute, predicate, values)
  const { test, negated } = predicate
  if (!negated && (test === 'null' || test === 'blank')) return pushDownAbsence(attribute, test)
  return anyPlace(attribute, (place) => pushDownPlace(place, predicate, values))
}

// Longer SQL could exceed SQLite's limit of 1000 for the depth of an expression.
const MAX_LENGTH = 12_000

/** Pushes a filter down as far as possible; `undefined` if the SQL is too long. */
export function pushDownEvents(
  where: Grouping | undefined,
  pushDown = pushDownAttribute,
): Sql | undefined {
  const pushdown = pushDownFilter(where, pushDown)
  return pushdown && pushdown.text.length <= MAX_LENGTH ? pushdown : undefined
}
