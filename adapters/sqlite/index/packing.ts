import type { Microseconds } from '../../../src/event/timestamp.js'
import { EARLY_LEVEL } from '../../../src/store-kit/index-builder/segment-levels.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import type { Connection } from '../connection/connection.js'
import { hasFreePages, releaseSomePages } from '../connection/free-pages.js'
import { createEventReader, onlyRow } from '../schema/events.js'
import { type Dictionary, packPart, unpackPart } from '../schema/packed-rows.js'
import { readAfter } from '../schema/read-after.js'
import type { EventRow } from '../schema/rows.js'
import type { DriverContext } from './driver-context.js'
import { insertDictionary, isPresent, presentDictionary, trainDictionary } from './training.js'

/* Compresses the attributes of sealed events: see schema/packed-rows.ts. */

/** Rows that one transaction packs, in a few milliseconds. */
const MAX_ROWS = 128

/** Events after which another dictionary is tried. */
const TRAINING_INTERVAL = 16_384

/** The part of the file that may stay free for new events, */
const MAX_FREE = 1 / 16

/** but no more bytes than these. */
const MAX_FREE_BYTES = 4_194_304

// Events after those of the last full segment are packed later, so that the newest ones are read as they are.
const STATE = `SELECT packed_to, untested,
  min(sealed_to, coalesce((SELECT max(last) FROM daybook_segments
    WHERE state = ${SegmentState.visible} AND level > ${EARLY_LEVEL}), -1)) AS sealed_to
  FROM daybook_packing, daybook_index`

interface State {
  readonly packed_to: Microseconds
  readonly untested: number
  /** The end of the full segments. */
  readonly sealed_to: Microseconds
}

// Changes nothing if another process has packed events in the meantime. So the events of a dictionary are those between
// its `first` and that of the next one.
const ADVANCE =
  'UPDATE daybook_packing SET packed_to = ?, untested = untested + ? WHERE packed_to = ?'

const SET_TESTED = 'UPDATE daybook_packing SET untested = 0 WHERE packed_to = ?'

// SQLite does not join the pages of rows that an UPDATE makes smaller, but those of rows that are deleted.
const deleteRow = (condition: string): string =>
  `DELETE FROM daybook_events WHERE created_at = ? AND checksum = ? AND octet_length(attributes) ${condition}`
const DELETE_PLAIN = deleteRow('> 0')
const DELETE_PACKED = deleteRow('= 0')

const INSERT_ROW = `INSERT INTO daybook_events
  (created_at, suffix, type, username, source, system, attributes, checksum, packed)
  VALUES (?, ?, ?, ?, NULL, ?, x'', ?, ?)`

const stateOf = (connection: Connection): State => onlyRow(connection, STATE) as State

/** True if some sealed events are not packed yet. Takes microseconds. */
export function isPackingDue(connection: Connection): boolean {
  const { packed_to, sealed_to } = stateOf(connection)
  return packed_to < sealed_to
}

/** An event and its packed value. */
export interface Packed {
  readonly row: EventRow
  readonly packed: Uint8Array
}

/** Packs the next sealed events, in one transaction; false if there are none. */
export async function packNext(context: DriverContext): Promise<boolean> {
  const { connection, write } = context
  const state = stateOf(connection)
  if (state.packed_to >= state.sealed_to) {
    await releasePages(connection, write)
    return false
  }
  const dictionary = presentDictionary(connection)
  if (!dictionary || state.untested >= TRAINING_INTERVAL) await train(context, state)
  else await packTo(context, state, dictionary)
  return true
}

async function train(
  { connection, write, steps }: DriverContext,
  { packed_to, sealed_to }: State,
): Promise<void> {
  const data = trainDictionary(connection, packed_to, sealed_to)
  await steps.pause()
  await write(() => {
    if (connection.statement(SET_TESTED).run(packed_to).changes === 0) return
    if (data) insertDictionary(connection, data, packed_to)
    // None of the sealed events can be read.
    else if (!presentDictionary(connection)) advance(connection, sealed_to, packed_to, 0)
  })
}

async function packTo(
  { connection, write, steps }: DriverContext,
  { packed_to, sealed_to }: State,
  dictionary: Dictionary,
): Promise<void> {
  // The store's own connection reports events that cannot be read.
  const events = createEventReader(connection, createDamageReporter())
  const read = readAfter({ connection, events }, packed_to, MAX_ROWS).filter(
    ({ time }) => time <= sealed_to,
  )
  // A row that cannot be read stays as it is.
  const packed = read.flatMap(({ row }) => (row ? pack(row, dictionary) : []))
  const to = read.length < MAX_ROWS ? sealed_to : read.at(-1)!.time
  await steps.pause()
  await write(() => {
    if (isPresent(connection, dictionary) && advance(connection, to, packed_to, packed.length))
      replaceRows(connection, packed)
  })
}

const advance = (
  { statement }: Connection,
  to: Microseconds,
  from: Microseconds,
  count: number,
): boolean => statement(ADVANCE).run(to, count, from).changes === 1

/** Nothing if the packed value does not return what was put into it; the row then stays as it is. */
export function pack(row: EventRow, dictionary: Dictionary): readonly Packed[] {
  const packed = packPart(row, dictionary)
  const part = unpackPart(packed, () => dictionary.data)
  const isLossless = part?.source === row.source && part.attributes === row.attributes
  return isLossless ? [{ row, packed }] : []
}

/** Leaves out events that were removed since they were read. */
export function replaceRows(
  { statement }: Connection,
  all: readonly Packed[],
  werePacked = false,
): void {
  const deletion = statement(werePacked ? DELETE_PACKED : DELETE_PLAIN)
  const found = all.filter(
    ({ row: { created_at, checksum } }) => deletion.run(created_at, checksum).changes === 1,
  )
  for (const { row, packed } of found) {
    const { created_at, suffix, type, username, system, checksum } = row
    statement(INSERT_ROW).run(created_at, suffix, type, username, system, checksum, packed)
  }
}

const numberOf = (
  { database }: Connection,
  pragma: 'freelist_count' | 'page_count' | 'page_size',
): number => database.pragma(pragma, { simple: true }) as number

/** Gives free pages back to the file system, but for those that new events will use soon. */
async function releasePages(connection: Connection, write: DriverContext['write']): Promise<void> {
  const maxFree = Math.min(
    MAX_FREE * numberOf(connection, 'page_count'),
    MAX_FREE_BYTES / numberOf(connection, 'page_size'),
  )
  const hasMany = (): boolean =>
    hasFreePages(connection) && numberOf(connection, 'freelist_count') > maxFree
  while (hasMany() && (await write(() => releaseSomePages(connection))));
}
