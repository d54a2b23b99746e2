import type { Scalar } from '../../filter/attributes.js'
import { eachGram, GRAM_COUNT, gramsOf } from './grams.js'
import { mayBeCut } from './part.js'

/**
 * The texts whose JSON may contain the part, or that were cut; `undefined` if the filter cannot exclude any.
 * Yields where the work may pause.
 */
export type TextFilter = (
  part: string,
) => Generator<undefined, readonly string[] | undefined, undefined>

/*
 * A bitmap with a row for each range of grams (grams.ts) and a bit for each text, which is set in the rows of
 * all grams that the text has. A text can contain a part only if its bit is set in the rows of all of the
 * part's grams.
 */

// With this many rows for each gram of a text, most rows are not set for a text.
const ROWS_PER_GRAM = 4
const MIN_ROWS = 32
const SAMPLES = 64
// More rows hardly exclude more texts.
const MAX_GRAMS = 8
/** Texts are added 32 at a time; the remaining ones are in no row and always candidates. */
const WORD = 32
/** The rows are rebuilt once the number of texts has grown by this factor. */
const MAX_GROWTH = 4
/** Words between two points where the work may pause. */
const STEP = 8

/** Filters the keys of a map that are texts, also keys that are added later. */
export function textFilter(values: ReadonlyMap<Scalar, unknown>): TextFilter {
  const texts: string[] = []
  const keys = values.keys()
  let known = 0
  let rows: Rows | undefined
  /** Number of texts when the rows were made. */
  let textsAtStart = 0

  const learn = (): void => {
    for (; known < values.size; known++) {
      const value = keys.next().value!
      if (typeof value === 'string') texts.push(value)
    }
  }
  return function* (part) {
    const grams = gramsOf(part).slice(0, MAX_GRAMS)
    if (grams.length === 0) return undefined
    learn()
    if (!rows || texts.length > MAX_GROWTH * textsAtStart) {
      rows = createRows(texts)
      textsAtStart = texts.length
    }
    for (let words = 1; rows.add(texts); words++) if (words % STEP === 0) yield
    return rows.candidates(grams, texts)
  }
}

interface Rows {
  /** Adds the next 32 texts; false if there are fewer left. */
  add(texts: readonly string[]): boolean
  candidates(grams: readonly number[], texts: readonly string[]): readonly string[]
}

/** Mean number of grams of a text, from a sample. */
function meanGrams(texts: readonly string[]): number {
  const every = Math.ceil(texts.length / SAMPLES)
  let [sum, count] = [0, 0]
  for (let i = 0; i < texts.length; i += every, count++)
    sum += gramsOf(JSON.stringify(texts[i]!)).length
  return count === 0 ? 0 : sum / count
}

function createRows(first: readonly string[]): Rows {
  const count = Math.max(MIN_ROWS, Math.ceil(meanGrams(first) * ROWS_PER_GRAM))
  /** Number of words between the starts of two rows. */
  let stride = Math.max(1, Math.floor(first.length / WORD))
  let bits = new Uint32Array(count * stride)
  let words = 0
  const rowOf = (gram: number): number => Math.floor((gram * count) / GRAM_COUNT)
  /** The bits of the current word of texts, by row. */
  const column = new Uint32Array(count)

  const addText = (text: string, bit: number): void => {
    if (mayBeCut(text)) for (let row = 0; row < count; row++) column[row]! |= bit
    else eachGram(JSON.stringify(text), (gram) => void (column[rowOf(gram)]! |= bit))
  }
  const widen = (): void => {
    const wider = Math.ceil(stride * 1.5)
    const next = new Uint32Array(count * wider)
    for (let row = 0; row < count; row++)
      next.set(bits.subarray(row * stride, row * stride + words), row * wider)
    stride = wider
    bits = next
  }
  return {
    add(texts) {
      if ((words + 1) * WORD > texts.length) return false
      if (words === stride) widen()
      column.fill(0)
      for (let bit = 0; bit < WORD; bit++) addText(texts[words * WORD + bit]!, 1 << bit)
      for (let row = 0; row < count; row++) bits[row * stride + words] = column[row]!
      words += 1
      return true
    },
    candidates(grams, texts) {
      const found: string[] = []
      const starts = grams.map((gram) => rowOf(gram) * stride)
      for (let word = 0; word < words; word++) {
        let all = -1
        for (let i = 0; i < starts.length && all !== 0; i++) all &= bits[starts[i]! + word]!
        for (; all !== 0; all &= all - 1)
          found.push(texts[word * WORD + 31 - Math.clz32(all & -all)]!)
      }
      return found.concat(texts.slice(words * WORD))
    },
  }
}
