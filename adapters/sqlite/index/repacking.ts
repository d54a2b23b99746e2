import type { Microseconds } from '../../../src/event/timestamp.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import type { Connection, WriteOptions } from '../connection/connection.js'
import { LIMIT } from '../connection/limit.js'
import { DICTIONARY_TABLES } from '../schema/dictionaries.js'
import { createEventReader, type EventReader } from '../schema/events.js'
import { type Dictionary, dictionaryIn } from '../schema/packed-rows.js'
import { EVENT_COLUMNS, type EventValues } from '../schema/rows.js'
import { pack, type Packed, replaceRows } from './packing.js'
import { addDictionary, newDictionary, presentId } from './training.js'

/* Replaces all dictionaries, which may have texts of events that were removed, and compresses the events with the new ones. */

/** Rows that one transaction replaces, in a few milliseconds. */
const MAX_ROWS = 128

/** A reader in another process opens the rows that it has read within milliseconds. */
const READERS_MS = 1000

const PACKED = `SELECT ${EVENT_COLUMNS} FROM daybook_events
  WHERE created_at > ? AND octet_length(attributes) = 0 ORDER BY created_at ${LIMIT}`

const PACKED_TO = 'SELECT packed_to FROM daybook_packing'

const IDS = DICTIONARY_TABLES.map((table) => `SELECT id FROM ${table}`).join(' UNION ')

interface Repacking {
  readonly connection: Connection
  readonly events: EventReader
  readonly options: WriteOptions
  /** The greatest id of the old dictionaries. */
  readonly lastOld: number
  /** The new dictionary for the events of an old one; `undefined` if no event could be read for it. */
  readonly replacements: Map<number, Dictionary | undefined>
  /** Old dictionaries of events that cannot be read. */
  readonly kept: Set<number>
}

/** Makes the dictionary that replaces an old one, from events after a time. It is the present one from then on. */
async function replaceDictionary(
  { connection, options, replacements }: Repacking,
  old: number,
  after: Microseconds,
): Promise<void> {
  const data = newDictionary(connection, after, Number.MAX_SAFE_INTEGER)
  // As if it were for events that are packed later: no dictionary of an event counts as unused before.
  const add = (): number => {
    const { packed_to } = connection.statement(PACKED_TO).get() as { packed_to: Microseconds }
    return addDictionary(connection, data!, packed_to)
  }
  const id = data && (await connection.write(add, options))
  replacements.set(old, id === undefined ? undefined : { id, data: data! })
}

/** Packs the row with the dictionary that replaces its own; nothing if that is new, or if the row cannot be read. */
async function repack(repacking: Repacking, values: EventValues): Promise<readonly Packed[]> {
  const { events, lastOld, replacements, kept } = repacking
  const [time, stored] = [values[0], values[6]]
  if (!(stored instanceof Uint8Array)) return []
  const old = dictionaryIn(stored)
  if (old > lastOld) return []
  if (!replacements.has(old)) await replaceDictionary(repacking, old, time - 1)
  const dictionary = replacements.get(old)
  const row = events.open(values)
  const packed = dictionary && events.check(row) ? pack(row, dictionary) : []
  if (packed.length === 0) kept.add(old)
  return packed
}

/** Deletes the old dictionaries that no event needs, if a new one is present or no event is packed. Call it within a write transaction. */
function deleteOld({ connection, lastOld, kept }: Repacking): void {
  const { statement } = connection
  const isReplaced = (presentId(connection) ?? 0) > lastOld
  if (!isReplaced && statement(PACKED).get(-1, 1) !== undefined) return
  for (const { id } of statement(IDS).all() as { readonly id: number }[])
    if (id <= lastOld && !kept.has(id))
      for (const table of DICTIONARY_TABLES) statement(`DELETE FROM ${table} WHERE id = ?`).run(id)
}

/**
 * Compresses all compressed events anew, in short transactions, and deletes the old dictionaries. Returns the number of old dictionaries that
 * remain because an event that uses them cannot be read. Does nothing if the log is not compressed.
 */
export async function repackAll(
  connection: Connection,
  options: WriteOptions,
  onProgress: (done: number) => void,
): Promise<number> {
  const lastOld = await connection.retry(() => presentId(connection), options)
  if (lastOld === null) return 0
  // The store's own connection reports events that cannot be read.
  const events = createEventReader(connection, createDamageReporter())
  const shared = { connection, events, options, lastOld }
  const repacking: Repacking = { ...shared, replacements: new Map(), kept: new Set() }
  await replaceDictionary(repacking, lastOld, -1)
  let done = 0
  for (let after = -1, hasMore = true; hasMore;) {
    const read = (): EventValues[] =>
      connection.statement(PACKED).raw(true).all(after, MAX_ROWS) as EventValues[]
    const rows = await connection.retry(read, options)
    const packed: Packed[] = []
    for (const values of rows) packed.push(...(await repack(repacking, values)))
    if (packed.length > 0)
      await connection.write(() => replaceRows(connection, packed, true), options)
    done += rows.length
    onProgress(done)
    after = rows.at(-1)?.[0] ?? after
    hasMore = rows.length === MAX_ROWS
    await connection.pause(options)
  }
  await connection.pause(options, READERS_MS)
  await connection.write(() => deleteOld(repacking), options)
  return repacking.kept.size
}
