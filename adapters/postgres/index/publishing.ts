import type {
  SegmentRow,
  WrittenSegment,
} from '../../../src/store-kit/index-builder/index-driver.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask } from '../connection/client.js'
import type { DriverContext } from './driver-context.js'
import { changeIndexState, visibleSegments } from './index-state.js'
import { forgetRemoved } from './removed-events.js'
import { hideSegments } from './segment-dropping.js'
import { setVisible } from './segment-writer.js'
import type { UnsealedRows } from './unsealed-rows.js'

/** Makes a sealed segment visible; see `IndexDriver.publish`. False if the index has changed since. */
export async function publish(
  context: DriverContext,
  segment: WrittenSegment | undefined,
  { version, late, upTo, sealedTo, extract: { times } }: UnsealedRows,
): Promise<boolean> {
  const { names, run } = context
  const isPublished = await run((client) =>
    changeIndexState(client, names, async (state) => {
      if (state.version !== version) return undefined
      if (segment && !(await setVisible(client, names, segment))) return undefined
      if (late.length > 0)
        await ask(client, `DELETE FROM ${names.late} WHERE id = ANY ($1::int8[])`, late)
      return { sealedTo: upTo }
    }),
  )
  if (isPublished) await forgetRemoved(context, Math.min(sealedTo, times[0] ?? sealedTo), upTo)
  return isPublished
}

/** Replaces segments by the merged one; see `IndexDriver.replace`. */
export async function replace(
  context: DriverContext,
  parts: readonly SegmentRow[],
  merged: WrittenSegment | undefined,
  duplicates: readonly Microseconds[],
): Promise<boolean> {
  const { names, run } = context
  const isReplaced = await run((client) =>
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
  if (isReplaced) {
    const first = Math.min(...parts.map((part) => part.first))
    await forgetRemoved(context, first, Math.max(...parts.map((part) => part.last)))
  }
  return isReplaced
}
