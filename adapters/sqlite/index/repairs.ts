import type {
  Rebuild,
  Repairs,
  UnsealedEvents,
  WrittenSegment,
} from '../../../src/store-kit/index-builder/index-driver.js'
import { createExtractor } from '../../../src/store-kit/index/extract.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import type { RebuildProgress } from '../../../src/store/verification.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { createEventReader, onlyRow } from '../schema/events.js'
import { readAfter } from '../schema/read-after.js'
import type { DriverContext } from './driver-context.js'
import { loadIndexState } from './index-state.js'
import { hideSegment, nextVersion } from './segment-dropping.js'
import { isBuilding, setVisible } from './segment-writer.js'
import { addRow } from './unsealed-rows.js'

/** Rows that are read at once, in a few milliseconds. */
const STEP = 256

const SET_DAMAGED = `UPDATE daybook_segments SET state = ${SegmentState.damaged}
  WHERE id = ? AND state = ${SegmentState.visible}`

const REMOVED = 'SELECT removed FROM daybook_index'

const REBUILD = 'SELECT rebuild FROM daybook_index'

const SET_REBUILD = 'UPDATE daybook_index SET rebuild = ?'

/** Makes queries read the events of the segment one by one, within a transaction, until a round has built it anew. */
export function setDamaged(connection: Connection, id: number): void {
  if (connection.statement(SET_DAMAGED).run(id).changes > 0) nextVersion(connection)
}

/** Makes the next round build the whole index anew, within a transaction. */
export function requestRebuild({ statement }: Connection): void {
  statement(SET_REBUILD).run(1)
}

/** True until the index was built anew after `requestRebuild`. */
export const isRebuildRequested = (connection: Connection): boolean =>
  (onlyRow(connection, REBUILD) as { readonly rebuild: number }).rebuild === 1

const REBUILT = `SELECT coalesce(sum(size) FILTER (WHERE state = ${SegmentState.building}), 0) AS done,
  coalesce(sum(size) FILTER (WHERE state IN (${SegmentState.visible}, ${SegmentState.damaged})), 0) AS total
  FROM daybook_segments`

/** How far the building of a whole index is. */
export const rebuildProgress = (connection: Connection): RebuildProgress =>
  onlyRow(connection, REBUILT) as unknown as RebuildProgress

/** One damaged segment; all segments if that was requested, or if the range of one is not known. */
function nextRebuild(connection: Connection): Rebuild | undefined {
  const { segments, damaged, sealedTo } = loadIndexState(connection)
  if (isRebuildRequested(connection) || damaged.some(({ isTrusted }) => !isTrusted)) {
    return { segments: [...segments, ...damaged], from: 0, to: sealedTo, isWhole: true }
  }
  const [segment] = damaged
  if (!segment) return undefined
  return { segments: [segment], from: segment.first, to: segment.last, isWhole: false }
}

async function readRange(
  { connection, steps, bounds }: DriverContext,
  from: Microseconds,
  to: Microseconds,
  size: number,
): Promise<UnsealedEvents> {
  const { removed } = onlyRow(connection, REMOVED) as { readonly removed: number }
  const extractor = createExtractor(bounds)
  // The store's own connection reports events that cannot be read.
  const events = createEventReader(connection, createDamageReporter())
  let last = from - 1
  while (extractor.size < size && extractor.bytes < bounds.bytes) {
    const rows = readAfter({ connection, events }, last, Math.min(STEP, size - extractor.size))
    for (const row of rows) {
      if (row.time > to || extractor.bytes >= bounds.bytes) break
      await addRow(extractor, row, steps)
      last = row.time
    }
    if (rows.length === 0 || rows.at(-1)!.time > to) break
    await steps.pause()
  }
  return { extract: extractor.extract(), removed }
}

/** See `Repairs.replaceRebuilt`. */
function replaceRebuilt(
  { connection, write }: DriverContext,
  { segments, isWhole }: Rebuild,
  built: readonly WrittenSegment[],
): Promise<boolean> {
  return write(() => {
    const { segments: visible, damaged } = loadIndexState(connection)
    const there = new Set([...visible, ...damaged].map(({ id }) => id))
    if (!segments.every(({ id }) => there.has(id))) return false
    if (!built.every(({ id }) => isBuilding(connection, id))) return false
    for (const { id } of segments) hideSegment(connection, id)
    for (const segment of built) setVisible(connection, segment)
    if (isWhole) connection.statement(SET_REBUILD).run(0)
    nextVersion(connection)
    return true
  })
}

export const createRepairs = (context: DriverContext): Repairs => ({
  setDamaged: (id) => context.write(() => setDamaged(context.connection, id)),
  nextRebuild: async () => nextRebuild(context.connection),
  readRange: (from, to, size) => readRange(context, from, to, size),
  replaceRebuilt: (rebuild, built) => replaceRebuilt(context, rebuild, built),
})
