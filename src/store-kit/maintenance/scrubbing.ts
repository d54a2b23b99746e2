import type { RebuildProgress } from '../../store/verification.js'
import { nameRow } from '../index/attribute-names.js'
import { SegmentState } from '../index/segment-source.js'
import { sql } from '../sql.js'
import { insertNames, lockNames } from './column-names.js'
import type { Dialect } from './dialect.js'
import { lockState, nextVersion } from './index-rows.js'
import type { IndexStore } from './index-store.js'
import type { Program } from './program.js'
import { isListedSql } from './removed-events.js'
import { rebuildIndex } from './repairs.js'

/* Removes what the index has of events that were removed: their values, and names that no other event has. */

/** True if a segment may have values of removed events, or if the index is being built anew. */
function* hasRemovedValues({ tables }: Dialect): Program<boolean> {
  const rows = yield sql(
    `SELECT 1 FROM ${tables.indexState} AS i WHERE i.rebuild
       OR EXISTS (SELECT 1 FROM ${tables.segments} AS s WHERE s.first < i.removed_before)
       OR EXISTS (SELECT 1 FROM ${tables.segments} AS s, ${tables.removed} AS r WHERE ${isListedSql})`,
  )
  return rows.length > 0
}

/** False while a segment is being built or removed: it may have names that no visible segment has. */
function* isSettled({ tables }: Dialect): Program<boolean> {
  const rows = yield sql(
    `SELECT 1 FROM ${tables.indexState} AS i WHERE i.rebuild
       OR EXISTS (SELECT 1 FROM ${tables.segments} AS s WHERE s.state <> ${SegmentState.visible})`,
  )
  return rows.length === 0
}

/** The numbers of names that no segment has. */
function* unusedNames({ tables }: Dialect): Program<readonly number[]> {
  const rows = yield sql(
    `SELECT n.id FROM ${tables.attributeNames} AS n WHERE n.name IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM ${tables.segments} AS s WHERE EXISTS (
         SELECT 1 FROM ${tables.chunkKeys} AS k WHERE k.segment = s.id AND k.name = n.id))`,
  )
  return rows.map(([id]) => Number(id))
}

/**
 * Forgets the names that no segment has; their numbers stay in use. False, without effect, if the index is not settled. The new version keeps a
 * segment from being published that another process has begun with one of the names.
 */
function* forgetNames(dialect: Dialect): Program<boolean> {
  const { tables, isIn, list } = dialect
  const { sealedTo } = yield* lockState(dialect)
  yield* lockNames(dialect)
  if (!(yield* isSettled(dialect))) return false
  const unused = yield* unusedNames(dialect)
  if (unused.length === 0) return true
  yield sql(`DELETE FROM ${tables.attributeNames} WHERE ${isIn('id')}`, list(unused))
  yield* insertNames(
    dialect,
    unused.map((number) => nameRow(number, null)),
  )
  yield* nextVersion(dialect, sealedTo)
  return true
}

/** Resolves once the index has nothing of removed events. `pause` wakes the builder, and waits a little. */
export async function scrubIndex(
  store: Pick<IndexStore, 'dialect' | 'read' | 'write' | 'change'>,
  pause: () => Promise<void>,
  onProgress: (progress: RebuildProgress) => void,
): Promise<void> {
  const { dialect, read, change } = store
  if (await read(() => hasRemovedValues(dialect))) await rebuildIndex(store, pause, onProgress)
  for (;;) {
    if ((await read(() => isSettled(dialect))) && (await change(() => forgetNames(dialect)))) return
    await pause()
  }
}
