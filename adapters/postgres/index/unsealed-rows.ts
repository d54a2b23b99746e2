import type { Microseconds } from '../../../src/event/timestamp.js'
import { createExtractor, type ExtractedRow } from '../../../src/store-kit/index/extract.js'
import type { IndexBounds } from '../../../src/store-kit/index/index-bounds.js'
import type { UnsealedRows } from '../../../src/store-kit/maintenance/index-store.js'
import { addInTurns, UNREADABLE_ROW } from '../../../src/store-kit/maintenance/repairs.js'
import {
  collectUnsealed,
  type UnsealedReader,
} from '../../../src/store-kit/maintenance/unsealed-rows.js'
import {
  ask,
  begin,
  BY_KEY,
  endTransaction,
  type PostgresPoolClient,
  type TextRow,
} from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { faultOf, STORED_COLUMNS } from '../schema/rows.js'
import { askProgram, dialectOf } from './dialect.js'
import type { DriverContext } from './driver-context.js'
import { isSealDue } from './due.js'

const MAX_REST_FACTOR = 8

/**
 * Sealing rests long while it is little behind, to leave the server and this process to a burst of events, and less the
 * further it is behind.
 */
const restFactor = (behind: number, maxBehind: number): number =>
  MAX_REST_FACTOR * (1 - behind / maxBehind)

/** The event of a row with the `STORED_COLUMNS`. */
function toExtracted(row: TextRow): ExtractedRow {
  const [time, , type, username, source, system, attributes] = row
  const values = {
    type: type!,
    username: username!,
    source: source!,
    system: system === 't',
    attributes: attributes!,
  }
  return { time: Number(time), ...(faultOf(row) === undefined ? values : UNREADABLE_ROW) }
}

/** Length of the attributes in one segment. The values of a name are sorted at once, which blocks the event loop. */
const maxTextBytes = ({ bytes }: IndexBounds): number => Math.ceil(bytes / 8)

async function askEvents(
  client: PostgresPoolClient,
  { events }: Names,
  rest: string,
  ...values: unknown[]
): Promise<readonly ExtractedRow[]> {
  const text = `SELECT ${STORED_COLUMNS} FROM ${events} WHERE ${rest}`
  return (await ask(client, text, ...values)).map(toExtracted)
}

/** See `IndexStore.readEvents`. */
export const readEvents = (
  client: PostgresPoolClient,
  names: Names,
  range: readonly [after: Microseconds, to: Microseconds],
  max: number,
): Promise<readonly ExtractedRow[]> =>
  askEvents(
    client,
    names,
    `created_at > $1 AND created_at <= $2 ORDER BY created_at LIMIT ${max}`,
    ...range,
  )

/** See `IndexStore.readUnsealed`. Reads one snapshot. */
export async function readUnsealed(
  { names, steps, run, bounds, maxBehind }: DriverContext,
  size: number,
  atLeast: number,
): Promise<UnsealedRows | undefined> {
  const rows: ExtractedRow[] = []
  let left = maxTextBytes(bounds)
  const found = await run(async (client) => {
    await begin(client, 'REPEATABLE READ READ ONLY', { settings: BY_KEY })
    const reader: UnsealedReader = {
      read: (program) => askProgram(client, program()),
      readEvents: (after, to, max) => readEvents(client, names, [after, to], max),
      eventsAt: (times) =>
        askEvents(client, names, 'created_at = ANY ($1::int8[]) ORDER BY created_at', times),
      async isEnough(unsealed) {
        if (unsealed === 0) return false
        if (unsealed < atLeast && !(await isSealDue(client, names, atLeast, bounds))) return false
        const behind = Math.min(maxBehind, Math.floor(unsealed / size))
        steps.setRestFactor(restFactor(behind, maxBehind))
        return true
      },
      add(row) {
        left -= row.attributes.length
        rows.push(row)
      },
      isFull: () => left <= 0,
    }
    const read = await collectUnsealed(dialectOf(names), reader, size, maxBehind * size)
    await endTransaction(client, 'COMMIT')
    return read
  })
  if (!found) return undefined
  const extractor = createExtractor(bounds)
  for (const row of rows) await addInTurns(extractor, row, steps)
  return { ...found, extract: extractor.extract() }
}
