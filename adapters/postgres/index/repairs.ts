import type {
  Rebuild,
  Repairs,
  UnsealedEvents,
  WrittenSegment,
} from '../../../src/store-kit/index-builder/index-driver.js'
import { createExtractor } from '../../../src/store-kit/index/extract.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { RebuildProgress } from '../../../src/store/verification.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import { STORED_COLUMNS } from '../schema/rows.js'
import type { Names } from '../schema/names.js'
import type { DriverContext } from './driver-context.js'
import { maxStoredBytes } from '../../../src/store-kit/index/index-bounds.js'
import { changeIndexState, loadIndexState, loadSegments } from './index-state.js'
import { forgetRemoved } from './removed-events.js'
import { hideSegments } from './segment-dropping.js'
import { setVisible } from './segment-writer.js'
import { addRow, attributeBytes } from './unsealed-rows.js'

/** Rows that are read at once: large ones take much memory. */
const STEP = 128

/** Makes queries read the events of the segment one by one, until a round has built it anew. */
export const setDamaged = (
  client: PostgresPoolClient,
  names: Names,
  id: number,
): Promise<boolean> =>
  changeIndexState(client, names, async (state) => {
    const rows = await ask(
      client,
      `UPDATE ${names.segments} SET state = ${SegmentState.damaged}
       WHERE id = $1 AND state = ${SegmentState.visible} RETURNING 1`,
      id,
    )
    return rows.length > 0 ? state : undefined
  })

/** Makes the next round build the whole index anew. */
export async function requestRebuild(
  client: PostgresPoolClient,
  { indexState }: Names,
): Promise<void> {
  await ask(client, `UPDATE ${indexState} SET rebuild = true`)
}

/** True until the index was built anew after `requestRebuild`. */
export const isRebuildRequested = async (
  client: PostgresPoolClient,
  names: Names,
): Promise<boolean> => (await loadIndexState(client, names)).isRebuildRequested

/** How far the building of a whole index is. */
export async function rebuildProgress(
  client: PostgresPoolClient,
  { segments }: Names,
): Promise<RebuildProgress> {
  const [row] = await ask(
    client,
    `SELECT coalesce(sum(size) FILTER (WHERE state = ${SegmentState.building}), 0),
       coalesce(sum(size) FILTER (WHERE state IN (${SegmentState.visible}, ${SegmentState.damaged})), 0)
     FROM ${segments}`,
  )
  return { done: Number(row![0]), total: Number(row![1]) }
}

/** One damaged segment; all segments if that was requested, or if the range of one is not known. */
async function nextRebuild(client: PostgresPoolClient, names: Names): Promise<Rebuild | undefined> {
  const { sealedTo, isRebuildRequested } = await loadIndexState(client, names)
  const segments = await loadSegments(client, names)
  if (isRebuildRequested || segments.some(({ isTrusted }) => !isTrusted))
    return { segments, from: 0, to: sealedTo, isWhole: true }
  const segment = segments.find(({ isDamaged }) => isDamaged)
  if (!segment) return undefined
  return { segments: [segment], from: segment.first, to: segment.last, isWhole: false }
}

async function readRange(
  { names, run, bounds, steps }: DriverContext,
  [from, to]: readonly [from: Microseconds, to: Microseconds],
  size: number,
): Promise<UnsealedEvents> {
  const { removed } = await run((client) => loadIndexState(client, names))
  const extractor = createExtractor(bounds)
  let last = from - 1
  let left = maxStoredBytes(bounds)
  while (extractor.size < size && left > 0) {
    const max = Math.min(STEP, size - extractor.size)
    const rows = await run((client) =>
      ask(
        client,
        `SELECT ${STORED_COLUMNS} FROM ${names.events} WHERE created_at > $1 AND created_at <= $2
         ORDER BY created_at LIMIT ${max}`,
        last,
        to,
      ),
    )
    for (const row of rows) {
      if (left <= 0) break
      await addRow(extractor, row, steps)
      last = Number(row[0])
      left -= attributeBytes(row)
    }
    if (rows.length < max) break
  }
  return { extract: extractor.extract(), removed }
}

/** Thrown to undo a transaction whose new segment lacks chunks after a crash. */
const INCOMPLETE = new Error('a segment that was built anew is incomplete')

/** See `Repairs.replaceRebuilt`. */
async function replaceRebuilt(
  { names, run }: DriverContext,
  { segments, isWhole }: Rebuild,
  built: readonly WrittenSegment[],
): Promise<boolean> {
  const replace = (client: PostgresPoolClient): Promise<boolean> =>
    changeIndexState(client, names, async (state) => {
      const there = new Set((await loadSegments(client, names)).map(({ id }) => id))
      if (!segments.every(({ id }) => there.has(id))) return undefined
      await hideSegments(
        client,
        names,
        segments.map(({ id }) => id),
      )
      for (const segment of built) if (!(await setVisible(client, names, segment))) throw INCOMPLETE
      if (isWhole) await ask(client, `UPDATE ${names.indexState} SET rebuild = false`)
      return state
    })
  try {
    return await run(replace)
  } catch (error) {
    if (error !== INCOMPLETE) throw error
    return false
  }
}

export const createRepairs = (context: DriverContext): Repairs => {
  const { names, run } = context
  return {
    setDamaged: async (id) => void (await run((client) => setDamaged(client, names, id))),
    nextRebuild: () => run((client) => nextRebuild(client, names)),
    readRange: (from, to, size) => readRange(context, [from, to], size),
    async replaceRebuilt(rebuild, built) {
      const isReplaced = await replaceRebuilt(context, rebuild, built)
      if (isReplaced) await forgetRemoved(context, rebuild.from, rebuild.to)
      return isReplaced
    },
  }
}
