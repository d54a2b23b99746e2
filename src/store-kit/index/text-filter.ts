import type { Scalar } from '../../filter/attributes.js'
import { eachGram, GRAMS, gramsOf } from './grams.js'
import { mayBeCut } from './part.js'

/**
 * The texts that may have the part of JSON text in theirs, or have been cut; `undefined` where nothing
 * is known of it. Yields where the work may be laid down.
 */
export type TextFilter = (
  part: string,
) => Generator<undefined, readonly string[] | undefined, undefined>

/*
 * Grams (grams.ts) are dealt out to some rows, which have a bit for each text: it is set in the rows of
 * all grams that the text has. So a text can only have a part if its bits are set in the rows of all of
 * the part's grams.
 */

// So that a gram that a text has not mostly leads to a row in which the text has no other one.
const ROWS_FOR_EACH = 4
const LEAST_ROWS = 32
const SAMPLES = 64
// A few rows tell as much as all.
const MOST_GRAMS = 8
/** The texts of a word are added at once, those that are fewer yet are in no row. */
const WORD = 32
const MOST_GROWTH = 4
// Words of texts between two looks at the time.
const STEP = 8

/** Of those keys of a map that are texts, also of those that come to it later. */
export function textFilter(values: ReadonlyMap<Scalar, unknown>): TextFilter {
  const texts: string[] = []
  const keys = values.keys()
  let known = 0
  let rows: Rows | undefined
  /** By how many texts it was found how many rows there should be. */
  let madeOf = 0

  const learn = (): void => {
    for (; known < values.size; known++) {
      const value = keys.next().value!
      if (typeof value === 'string') texts.push(value)
    }
  }
  return function* (part) {
    const grams = gramsOf(part).slice(0, MOST_GRAMS)
    if (grams.length === 0) return undefined
    learn()
    if (!rows || texts.length > MOST_GROWTH * madeOf) {
      rows = createRows(texts)
      madeOf = texts.length
    }
    for (let words = 1; rows.add(texts); words++) if (words % STEP === 0) yield
    return rows.candidates(grams, texts)
  }
}

interface Rows {
  /** Takes in a further word of the texts; false where there is none. */
  add(texts: readonly string[]): boolean
  candidates(grams: readonly number[], texts: readonly string[]): readonly string[]
}

/** The number of grams that a text has on average. */
function meanGrams(texts: readonly string[]): number {
  const every = Math.ceil(texts.length / SAMPLES)
  let [sum, count] = [0, 0]
  for (let i = 0; i < texts.length; i += every, count++)
    sum += gramsOf(JSON.stringify(texts[i]!)).length
  return count === 0 ? 0 : sum / count
}

function createRows(first: readonly string[]): Rows {
  const count = Math.max(LEAST_ROWS, Math.ceil(meanGrams(first) * ROWS_FOR_EACH))
  /** Words from the start of a row to that of the next one. */
  let stride = Math.max(1, Math.floor(first.length / WORD))
  let bits = new Uint32Array(count * stride)
  let words = 0
  const rowOf = (gram: number): number => Math.floor((gram * count) / GRAMS)
  /** Of the texts of a word, by row. */
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
