import type {
  SegmentRow,
  WrittenSegment,
} from '../../../src/store-kit/index-builder/index-driver.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask } from '../connection/client.js'
import type { DriverContext } from './driver-context.js'
import { changeIndexState, visibleSegments } from './index-state.js'
import { hideSegments } from './segment-dropping.js'
import { setVisible } from './segment-writer.js'
import type { UnsealedRows } from './unsealed-rows.js'

/** Makes a sealed segment visible; see `IndexDriver.publish`. False if the index has changed since. */
export const publish = (
  { names, run }: DriverContext,
  segment: WrittenSegment | undefined,
  { version, late, upTo }: UnsealedRows,
): Promise<boolean> =>
  run((client) =>
    changeIndexState(client, names, async (state) => {
      if (state.version !== version) return undefined
      if (segment && !(await setVisible(client, names, segment))) return undefined
      if (late.length > 0)
        await ask(client, `DELETE FROM ${names.late} WHERE id = ANY ($1::int8[])`, late)
      return { sealedTo: upTo }
    }),
  )

/** Replaces segments by the merged one; see `IndexDriver.replace`. */
export const replace = (
  { names, run }: DriverContext,
  parts: readonly SegmentRow[],
  merged: WrittenSegment | undefined,
  duplicates: readonly Microseconds[],
): Promise<boolean> =>
  run((client) =>
    changeIndexState(client, names, async (state) => {
      const visible = new Set((await visibleSegments(client, names)).map(({ id }) => id))
      if (!parts.every(({ id }) => visible.has(id))) return undefined
      if (merged && !(await setVisible(client, names, merged))) return undefined
      const ids = parts.map(({ id }) => id)
      await hideSegments(client, names, ids)
      if (duplicates.length > 0)
        await ask(
          client,
          `INSERT INTO ${names.late} (created_at) SELECT unnest($1::int8[])`,
          duplicates,
        )
      return state
    }),
  )
