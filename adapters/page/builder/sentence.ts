import type { Combinator } from '../../../src/filter/ast.js'
import { isFreeText } from '../data/free-text.js'
import { describeConjunct, type Phrase, type Words } from '../data/phrases.js'
import { levelChoice } from '../data/level-choice.js'
import { type Conjunct, isGrouping } from '../data/query.js'

/** The words around the phrases. */
export interface SentenceWords extends Words {
  readonly events: string
  /** Word before each attribute; empty in some languages. */
  readonly whose: string
  /** Stands before the search in all texts. */
  readonly theEvent: string
  readonly all: string
}

/**
 * The filters as a sentence: `Events whose type is x and whose level is error, and whose user is ann or
 * whose name contains y`. Commas separate nested groups.
 */
export function querySentence(where: readonly Conjunct[], words: SentenceWords): readonly Phrase[] {
  const join = (text: string): Phrase => ({ kind: 'join', text })
  const before = (part: Conjunct): readonly Phrase[] => {
    const word = isFreeText(part) ? words.theEvent : words.whose
    return word === '' ? [] : [join(word)]
  }

  function clauses(parts: readonly Conjunct[], combinator: Combinator): readonly Phrase[] {
    return parts.flatMap((part, index): Phrase[] => {
      const isNested = isGrouping(part) && !levelChoice(part)
      const phrases = isNested
        ? clauses([...part.conditions, ...part.groupings], part.combinator)
        : [...before(part), ...describeConjunct(part, words)]
      if (index === 0) return [...phrases]
      const isSetApart = isNested || isGrouping(parts[index - 1]!)
      return [join(isSetApart ? `, ${words[combinator]}` : words[combinator]), ...phrases]
    })
  }

  if (where.length === 0) return [join(words.all)]
  return [join(words.events), ...clauses(where, 'and')]
}
