import { ANY_TEXT } from '../event/own-fields.js'
import type { Condition, Grouping } from './ast.js'
import { readMembers, readText, tooLarge, wrong } from './param-values.js'
import type { Drop, Param } from './params.js'
import { isBlank } from './values.js'

/*
 * The parameter `q`:
 *
 *   q      = term *( white space term )
 *   term   = [ "-" ] ( word | phrase )      a minus excludes events
 *   word   = characters other than white space, of which the first is no quotation mark
 *   phrase = quotation marks around any characters; one among them is written twice
 */

export const FREE_TEXT = 'q'

/** Limits of all `q` of a query. */
const MAX_CHARS = 1000
const MAX_TERMS = 20

const TERM = /\p{White_Space}*(-?)(?:"((?:[^"]|"")*)"|([^"\p{White_Space}]\P{White_Space}*))/uy
// Such a text is written without quotation marks.
const WORD = /^[^-"\p{White_Space}]\P{White_Space}*$/u

function textCondition(text: string, isExcluded: boolean): Condition {
  const predicate = isExcluded ? 'not_cont' : 'cont'
  return { attributes: [ANY_TEXT], combinator: 'and', predicate, values: [text] }
}

/** True if `q` can express the condition. */
export const isFreeText = ({ attributes, predicate }: Condition): boolean =>
  attributes.length === 1 &&
  attributes[0] === ANY_TEXT &&
  (predicate === 'cont' || predicate === 'not_cont')

function readTerms(text: string): Condition[] {
  const terms: Condition[] = []
  for (let at = 0; !isBlank(text.slice(at)); at = TERM.lastIndex) {
    TERM.lastIndex = at
    const [, minus, phrase, word] = TERM.exec(text) ?? []
    const found = phrase?.replaceAll('""', '"') ?? word ?? '"'
    if (phrase === undefined && (found[0] === '"' || (!minus && found[0] === '-')))
      throw wrong(
        'MALFORMED_PARAMETER',
        FREE_TEXT,
        found === '-'
          ? 'a minus stands directly before what it excludes; "-" in quotation marks finds one'
          : `the quotation mark at position ${text.indexOf('"', at) + 1} is not closed`,
      )
    if (isBlank(found)) throw wrong('INVALID_VALUE', FREE_TEXT, 'a phrase must not be blank')
    terms.push(textCondition(found, minus === '-'))
  }
  return terms
}

/** The conditions of one `q`, or of a list of them. */
export function readFreeText(value: Param | undefined, drop: Drop): readonly Condition[] {
  if (value === undefined) return []
  const texts =
    typeof value === 'string'
      ? [value]
      : readMembers(value, FREE_TEXT).map(([name, member]) => readText(member, name))
  if (texts.length === 0 || texts.some(isBlank)) drop(FREE_TEXT)
  if (texts.join('').length > MAX_CHARS)
    throw tooLarge(`${FREE_TEXT} has more than ${MAX_CHARS} characters`, FREE_TEXT)
  const terms = texts.flatMap(readTerms)
  if (terms.length <= MAX_TERMS) return terms
  throw tooLarge(`${FREE_TEXT} has more than ${MAX_TERMS} words and phrases`, FREE_TEXT)
}

/** The filter and all of the conditions, joined by `and`. */
export function withConditions(
  where: Grouping | undefined,
  conditions: readonly Condition[],
): Grouping | undefined {
  if (conditions.length === 0) return where
  if (where?.combinator === 'and')
    return { ...where, conditions: [...where.conditions, ...conditions] }
  return { combinator: 'and', conditions, groupings: where ? [where] : [] }
}

const formatTerm = ({ predicate, values: [text = ''] }: Condition): string =>
  (predicate === 'cont' ? '' : '-') + (WORD.test(text) ? text : `"${text.replaceAll('"', '""')}"`)

/** The `q` with these conditions; `undefined` if there are none, or too many for a `q`. */
export function formatFreeText(conditions: readonly Condition[]): string | undefined {
  const text = conditions.map(formatTerm).join(' ')
  const fits = text.length <= MAX_CHARS && conditions.length <= MAX_TERMS
  return conditions.length > 0 && fits ? text : undefined
}
