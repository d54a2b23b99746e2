import { isOwnField } from '../../../src/event/own-fields.js'
import type { PushDownAttribute } from '../../../src/store-kit/pushdown.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import { atCertainPlaces, somewhere } from './pushdown-name.js'
import { narrowOwn } from './pushdown-own.js'
import { isEmptyText, isFilled, isPresent, narrowPlace } from './pushdown-place.js'
import { andSql, notSql, orSql } from './sql.js'

/** `null` and `blank` hold only where nothing stands that they rule out. */
function narrowAbsence(name: string, test: 'null' | 'blank'): Sql | undefined {
  const present = atCertainPlaces(name, isPresent)
  if (!present || test === 'null') return present && notSql(present)
  const filled = atCertainPlaces(name, isFilled)
  const empty = somewhere(name, isEmptyText)
  // Null, or there are values and all of them are empty text.
  return filled && empty && andSql([notSql(filled), orSql([notSql(present), empty])])
}

/** What SQLite can tell of an attribute, or of an own field, which is a column. */
export const narrowAttribute: PushDownAttribute = (attribute, predicate, values) => {
  if (isOwnField(attribute)) return narrowOwn(attribute, predicate, values)
  const { test, negated } = predicate
  if (!negated && (test === 'null' || test === 'blank')) return narrowAbsence(attribute, test)
  return somewhere(attribute, (place) => narrowPlace(place, predicate, values))
}
