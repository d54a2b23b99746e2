import type { ExcessEvents, KeptBounds } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Names } from '../schema/names.js'
import type { Reader } from '../log/reader.js'

// The sizes of this many events are summed within a fraction of a second.
const SUM_ROWS = 20_000

const AFTER_ALL = Number.MAX_SAFE_INTEGER
const NO_TIME = { from: 1, to: 0 } as const

/** Runs one statement in a snapshot of its own, as none may take long; returns its first row as numbers. */
type Count = (
  textFor: (events: string) => string,
  value: number,
) => Promise<readonly number[] | undefined>

async function newestBeyondRows(count: Count, rows: number): Promise<Microseconds | undefined> {
  const row = await count(
    (events) => `SELECT created_at FROM ${events} ORDER BY created_at DESC OFFSET $1 LIMIT 1`,
    rows,
  )
  return row?.[0]
}

async function newestBeyondBytes(count: Count, bytes: number): Promise<Microseconds | undefined> {
  let left = bytes
  let end = AFTER_ALL
  for (;;) {
    const row = await count(
      (events) => `SELECT count(*), min(created_at), max(total),
         coalesce(max(created_at) FILTER (WHERE total > ${left}), -1)
       FROM (
         SELECT created_at, sum(octet_length(attributes::text)) OVER (ORDER BY created_at DESC) AS total
         FROM (
           SELECT created_at, attributes FROM ${events} WHERE created_at < $1
           ORDER BY created_at DESC LIMIT ${SUM_ROWS}
         ) AS newest
       ) AS summed`,
      end,
    )
    const [summed, oldest, total, beyond] = row!
    if (beyond! >= 0) return beyond
    if (summed! < SUM_ROWS) return undefined
    left -= total!
    end = oldest!
  }
}

/** Like `EventStore.excess`; events that are appended meanwhile are not included. */
export async function findExcess(
  reader: Reader,
  { events }: Names,
  { from = 0, rows, bytes }: KeptBounds,
  signal: AbortSignal | undefined,
): Promise<ExcessEvents> {
  const count: Count = (textFor, value) =>
    reader.read({ signal }, NO_TIME, async ({ ask }) => {
      await ask('SET LOCAL enable_seqscan = on')
      const [row] = await ask(textFor(events), value)
      return row?.map(Number)
    })
  const oldestAfter = async (beyond: Microseconds | undefined): Promise<Microseconds> => {
    if (beyond === undefined) return 0
    const row = await count(
      (events) =>
        `SELECT coalesce(min(created_at), $1::bigint + 1) FROM ${events} WHERE created_at > $1`,
      beyond,
    )
    return row![0]!
  }
  const bounds = [
    rows === undefined ? undefined : await newestBeyondRows(count, rows),
    bytes === undefined ? undefined : await newestBeyondBytes(count, bytes),
  ]
  const before = Math.max(from, ...(await Promise.all(bounds.map(oldestAfter))))
  const row = await count(
    (events) => `SELECT count(*) FROM ${events} WHERE created_at < $1`,
    before,
  )
  return { before, count: row![0]! }
}
