import type { Condition } from '../../../src/filter/ast.js'
import { ANY_TEXT } from '../../../src/event/own-fields.js'
import { isNegative } from './negation.js'
import { type Conjunct, conditionOn, isGrouping } from './query.js'

export { ANY_TEXT }

/** The condition that a text of the event contains the given text, or that no text does. */
export const textCondition = (text: string, not = false): Condition =>
  conditionOn(ANY_TEXT, not ? 'not_cont' : 'cont', [text])

/** True if the conjunct searches all texts. */
export const isFreeText = (conjunct: Conjunct): conjunct is Condition =>
  !isGrouping(conjunct) && conjunct.attributes.includes(ANY_TEXT)

/** The texts that a filter searches for in all texts. Excluded texts are left out. */
export const searchedTexts = (where: readonly Conjunct[]): readonly string[] =>
  where.flatMap((conjunct) => {
    if (isGrouping(conjunct)) return searchedTexts([...conjunct.conditions, ...conjunct.groupings])
    return isFreeText(conjunct) && !isNegative(conjunct.predicate) ? conjunct.values : []
  })
