import type { Extract } from '../index/extract.js'
import { addToOtherNames, type Columns } from '../index/columns.js'
import type { Builder } from './builder.js'
import { columnChunks, unnamedChunks } from './column-chunks.js'
import type { NamedChunk, NewSegment, WrittenSegment } from '../maintenance/index-store.js'
import type { NumberedColumn } from '../maintenance/column-numbers.js'
import { withGrams } from './list-grams.js'
import { dropSegment } from './segment-dropping.js'
import { EARLY_LEVEL } from './segment-levels.js'
import { writeSegment } from './segment-writing.js'

/**
 * Seals the oldest unsealed events into a segment, late events first, if there are enough for one. Returns
 * false if there are not. Returns true if another attempt may find more, even if another process sealed
 * these events first. If it throws, a hidden segment may remain, which `dropAbandoned` removes.
 */
export const sealNext = (builder: Builder): Promise<boolean> =>
  seal(builder, { atLeast: builder.tuning.segmentSize, level: 0 })

/** Does the same with fewer events, if that is part of the tuning. */
export const sealEarly = async (builder: Builder): Promise<boolean> => {
  const { early } = builder.tuning
  return early ? seal(builder, { atLeast: early.minEvents, level: EARLY_LEVEL }) : false
}

interface Seal {
  readonly atLeast: number
  readonly level: number
}

async function seal(builder: Builder, { atLeast, level }: Seal): Promise<boolean> {
  const { driver, tuning } = builder
  const unsealed = await driver.readUnsealed(tuning.segmentSize, atLeast)
  if (!unsealed) return false
  const { extract, removed } = unsealed
  let segment: WrittenSegment | undefined
  if (extract.times.length > 0) {
    segment = await writeSealed(builder, extract, { removed, level })
  }
  const isPublished = !segment?.isLost && (await driver.publish(segment, unsealed))
  if (!isPublished && segment) await dropSegment(builder, segment.id)
  return true
}

/** Writes a segment that no query reads yet; there is at least one event. */
export async function writeSealed(
  builder: Builder,
  { times, columns }: Extract,
  { removed, level }: Pick<NewSegment, 'removed' | 'level'>,
): Promise<WrittenSegment> {
  const numbered = await numberColumns(builder, columns)
  const isPartial = hasPartial(columns)
  const chunks = sealedChunks(builder, numbered, columns)
  return writeSegment(builder, { level, times, removed, isPartial }, chunks)
}

/** The chunks of a segment in the order of their keys. */
function* sealedChunks(
  { driver, tuning }: Builder,
  numbered: readonly NumberedColumn[],
  columns: Columns,
): Generator<NamedChunk, void> {
  function* chunks(): Generator<NamedChunk, void> {
    yield* columnChunks(numbered, driver.maxChunkBytes)
    yield* unnamedChunks({ ...columns, partialTexts: partialTextsOf(columns, numbered) })
  }
  yield* withGrams(chunks(), driver.hasGramsWhenSealed ? tuning.minGramChunks : Infinity)
}

/** The events that may have more texts than the numbered columns list. */
function partialTextsOf(
  { byName, partialTexts }: Columns,
  numbered: readonly NumberedColumn[],
): readonly number[] {
  if (numbered.length === byName.size) return partialTexts
  const kept = new Set(numbered.map(([, column]) => column))
  const all = new Set(partialTexts)
  for (const column of byName.values())
    if (!kept.has(column)) for (const ordinal of column.ordinals) all.add(ordinal)
  return Array.from(all).toSorted((a, b) => a - b)
}

/** The columns that get numbers, in the order of these. The events of the rest are added to `otherNames`. */
async function numberColumns(
  { driver }: Builder,
  { byName, otherNames }: Columns,
): Promise<readonly NumberedColumn[]> {
  const numbered = await driver.numberColumns([...byName.values()])
  if (numbered.length < byName.size) {
    const kept = new Set(numbered.map(([, column]) => column))
    for (const column of byName.values()) if (!kept.has(column)) addToOtherNames(otherNames, column)
  }
  return numbered.toSorted(([a], [b]) => a - b)
}

const hasPartial = ({ byName, otherNames, others, partialTexts }: Columns): boolean =>
  partialTexts.length > 0 ||
  otherNames.size > 0 ||
  others.length > 0 ||
  [...byName.values()].some(({ partial }) => partial.length > 0)
