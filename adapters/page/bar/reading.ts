import { isFreeText } from '../data/free-text.js'
import type { Conjunct, Range } from '../data/query.js'
import type { TypedContext } from './nearest-attribute.js'
import { readParts, type TypedPart, type TypedProblem } from './typed-conditions.js'
import { readTypedRange, type TypedAt } from './typed-range.js'

/** Meaning of a text typed into the query bar. */
export interface Reading {
  readonly conjuncts: readonly Conjunct[]
  readonly range: Range | undefined
  /** True if the whole text is to be searched for. */
  readonly isText: boolean
  /** Names of attributes that no event has. */
  readonly unknown: readonly string[]
  readonly problem: TypedProblem | undefined
}

interface FoundRange {
  readonly range: Range
  readonly parts: ReadonlySet<TypedPart>
}

/** Words that are typed without quotation marks, one after the other. */
function wordRuns(parts: readonly TypedPart[]): readonly (readonly TypedPart[])[] {
  const runs: TypedPart[][] = [[]]
  for (const part of parts) {
    if (part.isWord) runs.at(-1)!.push(part)
    else runs.push([])
  }
  return runs
}

const MAX_RANGE_WORDS = 8

/** The longest range at the start or the end of some words. */
function rangeInRun(text: string, run: readonly TypedPart[], at: TypedAt): FoundRange | undefined {
  for (let count = Math.min(run.length, MAX_RANGE_WORDS); count > 0; count--)
    for (const words of [run.slice(0, count), run.slice(-count)]) {
      const range = readTypedRange(text.slice(words[0]!.from, words.at(-1)!.to), at)
      if (range) return { range, parts: new Set(words) }
    }
  return undefined
}

/** Reads a typed text: conditions, a time range, and text to search for. */
export function readTyped(text: string, context: TypedContext, at: TypedAt): Reading {
  const parts = readParts(text, context)
  const found = wordRuns(parts)
    .map((run) => rangeInRun(text, run, at))
    .find((range) => range !== undefined)
  const rest = parts.filter((part) => !found?.parts.has(part))
  return {
    conjuncts: rest.flatMap(({ conjuncts }) => conjuncts),
    range: found?.range,
    isText: !found && parts.every(isFreeTextPart),
    unknown: rest.flatMap(({ unknown }) => (unknown === undefined ? [] : [unknown])),
    problem: rest.find(({ problem }) => problem)?.problem,
  }
}

const isFreeTextPart = ({ conjuncts, problem }: TypedPart): boolean =>
  !problem && conjuncts.every(isFreeText)
