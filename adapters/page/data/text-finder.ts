import { textFinder } from '../../../src/filter/find-text.js'
import { fold } from '../../../src/filter/values.js'

/** A part of a text, as positions of UTF-16 units. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Finds texts in others, with the case folding of filters. */
export interface TextsFinder {
  /** The parts of the text that match a wanted text, in their order. Overlapping parts are joined. */
  spansIn(text: string): readonly Span[]
  /** The wanted texts that the text contains, by their index. */
  foundIn(text: string): readonly number[]
}

// A text that repeats a wanted text could have thousands of marks.
const MAX_SPANS = 200

/** Joins spans that overlap or touch. */
function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = []
  for (const span of spans.toSorted((left, right) => left.from - right.from)) {
    const last = result.at(-1)
    if (last && span.from <= last.to)
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
    else result.push(span)
  }
  return result
}

export function findTexts(wanted: readonly string[]): TextsFinder {
  // Folding keeps the length of a text, so positions are the same.
  const all = wanted.map((text) => ({ length: text.length, find: textFinder(fold(text)) }))
  return {
    spansIn(text) {
      const folded = fold(text)
      const spans: Span[] = []
      for (const { find, length } of all)
        for (let from = find(folded, 0); from !== -1 && spans.length < MAX_SPANS;) {
          spans.push({ from, to: from + length })
          from = find(folded, from + length)
        }
      return joined(spans)
    },
    foundIn(text) {
      const folded = fold(text)
      return all.flatMap(({ find }, index) => (find(folded, 0) === -1 ? [] : [index]))
    },
  }
}
