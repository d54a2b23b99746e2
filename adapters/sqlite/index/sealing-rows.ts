import { createExtractor, type Extract } from '../../../src/store-kit/index/extract.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { PAUSE, type Step } from './segment-writing.js'

/** What a segment is made of. */
export interface SealedRows extends Extract {
  /** The ids of the late ones among them, and of such as are gone. */
  readonly late: readonly number[]
  /** How many came behind `sealed_to`. */
  readonly fresh: number
}

/** Where the index stood at one moment. */
export interface SealingStart {
  readonly sealed_to: Microseconds
  /** The last of the late ones. */
  readonly late_to: number
}

// Rows that are read at once: some milliseconds.
const STEP = 256

const COLUMNS = 'created_at, type, username, system, json(attributes)'

const AT = `SELECT ${COLUMNS} FROM daybook_events WHERE created_at = ?`

const AFTER = `SELECT ${COLUMNS} FROM daybook_events WHERE created_at > ? ORDER BY created_at LIMIT ?`

// Those behind `sealed_to` are read with the others there.
const LATE = `SELECT id, created_at FROM daybook_late
  WHERE created_at <= ? AND id <= ? ORDER BY created_at LIMIT ?`

interface LateRow {
  readonly id: number
  readonly created_at: Microseconds
}

type Row = readonly [
  time: Microseconds,
  type: string,
  username: string | null,
  system: 0 | 1,
  attributes: string,
]

/** Reads the late events, oldest first, and behind `sealed_to` so many that it is `size` of both. */
export function* readEvents(
  { statement }: Connection,
  { sealed_to, late_to }: SealingStart,
  size: number,
): Generator<Step, SealedRows> {
  const extractor = createExtractor()
  const add = ([time, type, username, system, attributes]: Row): void =>
    extractor.add({ time, type, username, system: system === 1, attributes })

  const late = statement(LATE).all(sealed_to, late_to, size) as LateRow[]
  let last: Microseconds = -1
  for (const [i, { created_at }] of late.entries()) {
    // One that was removed and imported again is listed twice.
    const row = created_at === last ? undefined : statement(AT).raw(true).get(created_at)
    if (row) add(row as Row)
    last = created_at
    if (i % STEP === STEP - 1) yield PAUSE
  }
  let left = size - late.length
  last = sealed_to
  while (left > 0) {
    const rows = statement(AFTER).raw(true).all(last, Math.min(STEP, left)) as Row[]
    if (rows.length === 0) break
    for (const row of rows) add(row)
    last = rows.at(-1)![0]
    left -= rows.length
    yield PAUSE
  }
  const fresh = size - late.length - left
  return { ...extractor.extract(), late: late.map(({ id }) => id), fresh }
}
