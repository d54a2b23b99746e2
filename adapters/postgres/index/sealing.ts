import {
  columnChunks,
  type NamedChunk,
  unindexedChunks,
} from '../../../src/store-kit/index-builder/column-chunks.js'
import { withGrams } from '../../../src/store-kit/index-builder/list-grams.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { ask } from '../connection/client.js'
import { NO_NAME } from './segment-keys.js'
import { type NumberedColumns, numberColumns } from './column-names.js'
import { dropSegment } from './segment-dropping.js'
import { type Building, setVisible, writeSegment } from './segment-writing.js'
import { changeIndex, DEFAULT_TUNING } from './segments.js'
import type { Steps } from './steps.js'
import { extractRows, MOST_BEHIND, readUnsealed, type UnsealedRows } from './unsealed-rows.js'

const LONGEST_REST = 4

/** A burst of events is over sooner where little is sealed during it; the more it leaves, the less is rested. */
const restTimes = ({ behind }: UnsealedRows): number =>
  behind < MOST_BEHIND ? LONGEST_REST / behind : 0

/**
 * Makes a segment of events that are in none yet, the late ones first, where there are enough of
 * them. False where there are not; true where it may be worth another try: also where somebody else
 * was faster. Given up half-way it leaves a segment behind that `removeOrphans` removes.
 */
export async function sealNext(
  steps: Steps,
  { segmentSize, leastChunks }: SealingTuning = DEFAULT_TUNING,
): Promise<boolean> {
  const unsealed = await steps.run((client) => readUnsealed(client, steps.names, segmentSize))
  if (!unsealed) return false
  steps.restFor(restTimes(unsealed))
  const extract = await extractRows(steps, unsealed.rows)
  let building: Building | undefined
  if (extract.times.length > 0) {
    const chunks = extractedChunks(await numberColumns(steps, extract), leastChunks)
    building = await writeSegment(steps, 0, extract.times, chunks)
  }
  const isDone = !building?.isLost && (await publish(steps, building, unsealed))
  if (!isDone && building) await dropSegment(steps, building.id)
  return true
}

function* extractedChunks(
  { columns, unindexed }: NumberedColumns,
  leastChunks: number | undefined,
): Generator<NamedChunk<number>, void> {
  yield* unindexedChunks(NO_NAME, unindexed)
  // What is looked through otherwise would have to be sent first.
  yield* withGrams(columnChunks(columns), leastChunks)
}

/** Makes the segment visible, unless anything of the index has changed since its events were read. */
const publish = (
  { names, run }: Steps,
  building: Building | undefined,
  { version, late, upTo }: UnsealedRows,
): Promise<boolean> =>
  run((client) =>
    changeIndex(client, names, async (state) => {
      if (state.version !== version) return undefined
      if (building && !(await setVisible(client, names, building))) return undefined
      if (late.length > 0)
        await ask(client, `DELETE FROM ${names.late} WHERE id = ANY ($1::int8[])`, late)
      return { sealedTo: upTo }
    }),
  )
