import type { Microseconds } from '../../event/timestamp.js'
import { SegmentState } from '../index/segment-source.js'
import { sql } from '../sql.js'
import { loadSegments, lockState, nextVersion, type SegmentRow } from './index-rows.js'
import type { Dialect } from './dialect.js'
import type { IndexStore } from './index-store.js'
import type { Program } from './program.js'
import { hide } from './publishing.js'
import { forgetRemoved } from './removed-events.js'

const IS_HIDDEN = `state IN (${SegmentState.building}, ${SegmentState.gone})`

/** Ids of the segments that no query reads. */
export function* hiddenSegments({ tables }: Dialect): Program<readonly number[]> {
  const rows = yield sql(`SELECT id FROM ${tables.segments} WHERE ${IS_HIDDEN}`)
  return rows.map(([id]) => Number(id))
}

/**
 * Marks a segment as gone, so that no process writes to it any more. False if it is visible, as an abandoned segment may be
 * since it was listed, or removed.
 */
export function* markGone({ tables, undurable }: Dialect, id: number): Program<boolean> {
  const marked = yield sql(
    undurable(
      `UPDATE ${tables.segments} SET state = ${SegmentState.gone} WHERE id = ? AND ${IS_HIDDEN}`,
    ),
    id,
  )
  return marked.length > 0
}

/** Removes the row of a segment that has no chunks any more. */
export function* deleteSegment({ tables, undurable }: Dialect, id: number): Program<void> {
  yield sql(undurable(`DELETE FROM ${tables.segments} WHERE id = ?`), id)
}

/** SQL that is true if segments were abandoned or damaged, or end before the oldest event. */
export const hasStaleSql = ({ segments, events }: Dialect['tables']): string =>
  `EXISTS (SELECT 1 FROM ${segments} WHERE state <> ${SegmentState.visible}
     OR last < coalesce((SELECT min(created_at) FROM ${events}), ${Number.MAX_SAFE_INTEGER}))`

interface Expired {
  readonly segments: readonly SegmentRow[]
  /** The time of the oldest event. */
  readonly oldest: Microseconds
}

function* findExpired(dialect: Dialect): Program<Expired> {
  const [row] = yield sql(`SELECT min(created_at) FROM ${dialect.tables.events}`)
  const oldest = Number(row![0] ?? Number.MAX_SAFE_INTEGER)
  const segments = yield* loadSegments(dialect)
  return { oldest, segments: segments.filter(({ last }) => last < oldest) }
}

function* hideFound(dialect: Dialect): Program<Expired & { readonly sealedTo: Microseconds }> {
  const { sealedTo } = yield* lockState(dialect)
  const expired = yield* findExpired(dialect)
  yield* hide(dialect, expired.segments)
  yield* nextVersion(dialect, sealedTo)
  return { ...expired, sealedTo }
}

/** Hides the segments that end before the oldest event, and returns their ids. */
export async function hideExpired(store: IndexStore): Promise<readonly number[]> {
  const { dialect } = store
  const found = await store.read(() => findExpired(dialect))
  if (found.segments.length === 0) return []
  const { segments, oldest, sealedTo } = await store.change(() => hideFound(dialect))
  await forgetRemoved(store, 0, Math.min(oldest, sealedTo))
  return segments.map(({ id }) => id)
}
