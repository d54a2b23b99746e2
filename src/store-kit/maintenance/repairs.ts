import { finishInTurns } from '../../filter/steps.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { RebuildProgress } from '../../store/verification.js'
import { createExtractor, type ExtractedRow, type Extractor } from '../index/extract.js'
import { type SegmentInfo, SegmentState } from '../index/segment-source.js'
import { sql } from '../sql.js'
import { loadSegments, loadState, lockState, nextVersion } from './index-rows.js'
import type { Dialect } from './dialect.js'
import type { IndexStore, UnsealedRows } from './index-store.js'
import type { Program } from './program.js'

/** Segments that are built anew from the events of a time range. */
export interface Rebuild {
  readonly segments: readonly SegmentInfo[]
  readonly from: Microseconds
  readonly to: Microseconds
  /** True if these are all segments, because that was requested. */
  readonly isWhole: boolean
}

/**
 * Makes queries read the events of a visible segment one by one until it is built anew. False if the segment was not
 * visible.
 */
export function* setDamaged(dialect: Dialect, id: number): Program<boolean> {
  const { sealedTo } = yield* lockState(dialect)
  const { visible, damaged } = SegmentState
  const changed = yield sql(
    `UPDATE ${dialect.tables.segments} SET state = ${damaged} WHERE id = ? AND state = ${visible} RETURNING 1`,
    id,
  )
  if (changed.length > 0) yield* nextVersion(dialect, sealedTo)
  return changed.length > 0
}

/** Makes the next round build the whole index anew. */
export function* requestRebuild({ tables }: Dialect): Program<void> {
  yield sql(`UPDATE ${tables.indexState} SET rebuild = true`)
}

/** How far the building of a whole index is. */
function* rebuildProgress({ tables }: Dialect): Program<RebuildProgress> {
  const sizeOf = (state: string): string =>
    `coalesce(sum(CASE WHEN state ${state} THEN size END), 0)`
  const [row] = yield sql(
    `SELECT ${sizeOf(`= ${SegmentState.building}`)}, ${sizeOf(`IN (${SegmentState.visible}, ${SegmentState.damaged})`)}
     FROM ${tables.segments}`,
  )
  return { done: Number(row![0]), total: Number(row![1]) }
}

/** Makes the builder build the whole index anew, and resolves once it has. `pause` wakes the builder, and waits a little. */
export async function rebuildIndex(
  { dialect, read, write }: Pick<IndexStore, 'dialect' | 'read' | 'write'>,
  pause: () => Promise<void>,
  onProgress: (progress: RebuildProgress) => void = () => {},
): Promise<void> {
  await write(() => requestRebuild(dialect))
  while ((await read(() => loadState(dialect))).isRebuildRequested) {
    onProgress(await read(() => rebuildProgress(dialect)))
    await pause()
  }
}

/** The next part to build anew: one damaged segment; all segments if that was requested, or if the range of one is not known. */
export function* nextRebuild(dialect: Dialect): Program<Rebuild | undefined> {
  const { sealedTo, isRebuildRequested } = yield* loadState(dialect)
  const segments = yield* loadSegments(dialect)
  if (isRebuildRequested || segments.some(({ isTrusted }) => !isTrusted))
    return { segments, from: 0, to: sealedTo, isWhole: true }
  const segment = segments.find(({ isDamaged }) => isDamaged)
  if (!segment) return undefined
  return { segments: [segment], from: segment.first, to: segment.last, isWhole: false }
}

/** An event that cannot be read has no values in the index. */
export const UNREADABLE_ROW: Omit<ExtractedRow, 'time'> = {
  type: '',
  username: null,
  system: false,
  source: null,
  attributes: '{}',
}

/** Adds an event to those of a segment; the builder may rest meanwhile. */
export async function addInTurns(
  extractor: Extractor,
  row: ExtractedRow,
  steps: IndexStore['steps'],
): Promise<void> {
  const rest = extractor.add(row)
  const isOver = (): boolean => steps.isSliceOver()
  if (rest) await finishInTurns(rest, isOver, () => steps.pause())
  if (isOver()) await steps.pause()
}

/** Rows that are read at once: large ones take much memory. */
const STEP = 128

/** The first `size` events within the times, or fewer if a segment has no room for more. */
export async function readRange(
  { dialect, steps, bounds, read, readEvents }: IndexStore,
  [from, to]: readonly [from: Microseconds, to: Microseconds],
  size: number,
): Promise<Pick<UnsealedRows, 'extract' | 'removed'>> {
  const { removed } = await read(() => loadState(dialect))
  const extractor = createExtractor(bounds)
  const hasRoom = (): boolean => extractor.size < size && extractor.bytes < bounds.bytes
  for (let after = from - 1; hasRoom();) {
    const max = Math.min(STEP, size - extractor.size)
    const rows = await readEvents(after, to, max)
    for (const row of rows) {
      if (!hasRoom()) break
      await addInTurns(extractor, row, steps)
      after = row.time
    }
    if (rows.length < max) break
  }
  return { extract: extractor.extract(), removed }
}
