import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { Connection } from '../connection/connection.js'
import { State } from './index-tables.js'
import { mergeNext } from './merging.js'
import { isSealDue, sealNext } from './sealing.js'
import type { SealingSteps } from './round.js'
import { dropGone, removeOrphans } from './segment-dropping.js'

// Left behind by somebody, or before the oldest event.
const TO_TIDY = `SELECT EXISTS (SELECT 1 FROM daybook_segments WHERE state <> ${State.visible}
  OR last < (SELECT coalesce(min(created_at), ${Number.MAX_SAFE_INTEGER}) FROM daybook_events)) AS hasSome`

/** True where a round would find something to do. Takes some microseconds. */
export function isWorkDue(connection: Connection, tuning: SealingTuning): boolean {
  if (isSealDue(connection, tuning)) return true
  const { hasSome } = connection.statement(TO_TIDY).get() as { readonly hasSome: 0 | 1 }
  return hasSome === 1
}

export const sealingSteps = (connection: Connection, tuning: SealingTuning): SealingSteps => ({
  tidy: [() => removeOrphans(connection), () => dropGone(connection)],
  seal: () => sealNext(connection, tuning),
  merge: () => mergeNext(connection, tuning),
  isSealDue: () => isSealDue(connection, tuning),
})
