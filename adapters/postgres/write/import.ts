import { timeSql } from '../schema/server.js'
import type { AuditEvent, ImportedEvent } from '../../../src/event/event.js'
import { parseEventId } from '../../../src/event/event-id.js'
import { freshEvents } from '../../../src/event/importing.js'
import { type AuditLogError, isOutcomeUnknown, outcomeUnknown } from '../../../src/errors.js'
import type { ImportResult } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import { createAsk } from '../connection/connection.js'
import { isLostConnection } from '../connection/failures.js'
import { withoutTimeLimit, withRetry } from '../log/calls.js'
import type { PostgresLog } from '../log/log.js'
import { hasLedger } from '../schema/ledger.js'
import { LIVE_COLUMNS, readLiveRows, readOpen } from '../schema/live-rows.js'
import type { Names } from '../schema/names.js'
import { EVENT_COLUMNS, rowToEvent } from '../schema/rows.js'
import { eventChecksum } from '../schema/event-checksum.js'

interface StoredJson {
  readonly event: AuditEvent
  readonly json: string
}

const BATCH = 1000

/** The events at the times of the imported events, and the ids that exist already. */
async function findExisting(
  client: PostgresPoolClient,
  { names, damages }: PostgresLog,
  imported: readonly ImportedEvent[],
): Promise<{ readonly byTime: Map<Microseconds, StoredJson>; readonly ids: Set<string> }> {
  const { events, foreignIds, liveEvents } = names
  const byTime = new Map<Microseconds, StoredJson>()
  const ids = new Set<string>()
  for (let at = 0; at < imported.length; at += BATCH) {
    const slice = imported.slice(at, at + BATCH)
    const times = slice.flatMap(({ event, time }) => [time, parseEventId(event.id)?.time ?? time])
    const rows = await ask(
      client,
      `SELECT ${EVENT_COLUMNS} FROM ${events} WHERE created_at = ANY ($1::bigint[])`,
      times,
    )
    for (const row of rows) {
      const event = rowToEvent(row)
      byTime.set(Number(row[0]), { event, json: row[6]! })
      ids.add(event.id)
    }
    const open = await ask(
      client,
      `SELECT ${LIVE_COLUMNS} FROM ${liveEvents} WHERE created_at = ANY ($1::bigint[])`,
      times,
    )
    const live = readLiveRows(open, damages)
    for (const [i, event] of (await readOpen(createAsk(client), names, live)).entries()) {
      byTime.set(live[i]!.time, { event, json: JSON.stringify(event.attributes) })
      ids.add(event.id)
    }
    const foreign = await ask(
      client,
      `SELECT id FROM ${foreignIds} WHERE id = ANY ($1::text[])`,
      slice.map(({ event }) => event.id),
    )
    for (const [id] of foreign) ids.add(id!)
  }
  return { byTime, ids }
}

async function insert(
  client: PostgresPoolClient,
  names: Names,
  fresh: readonly ImportedEvent[],
  highWater: Microseconds,
): Promise<void> {
  const { events, foreignIds, late: lateEvents } = names
  // The ledger has all of them in its list, as on other stores.
  const lateTo = (await hasLedger(client, names)) ? Infinity : highWater
  for (let at = 0; at < fresh.length; at += BATCH) {
    const slice = fresh.slice(at, at + BATCH).map((one) => {
      const parsed = parseEventId(one.event.id)
      const isNative = parsed?.time === one.time
      return { ...one, isNative, suffix: isNative ? parsed.suffix : one.event.id }
    })
    await ask(
      client,
      `INSERT INTO ${events}
       SELECT created_at, suffix, type, username, source, system, attributes::json, checksum
       FROM unnest(
         $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[],
         string_to_array($7, E'\\n'), $8::int4[]
       ) AS imported(created_at, suffix, type, username, source, system, attributes, checksum)`,
      slice.map((one) => one.time),
      slice.map((one) => one.suffix),
      slice.map((one) => one.event.type),
      slice.map((one) => one.event.username),
      slice.map((one) => one.event.source),
      slice.map((one) => one.event.system),
      slice.map((one) => one.json).join('\n'),
      slice.map(({ event, suffix, json, time }) => eventChecksum({ ...event, suffix, json }, time)),
    )
    const foreign = slice.filter((one) => !one.isNative)
    await ask(
      client,
      `INSERT INTO ${foreignIds} SELECT * FROM unnest($1::text[], $2::bigint[])`,
      foreign.map((one) => one.event.id),
      foreign.map((one) => one.time),
    )
    // Older events may be in the index already, or about to be.
    const late = slice.filter((one) => one.time <= lateTo)
    await ask(
      client,
      `INSERT INTO ${lateEvents} (created_at) SELECT unnest($1::bigint[])`,
      late.map((one) => one.time),
    )
  }
}

/**
 * Like `EventStore.importEvents`, in one transaction. Imports run one at a time. Appends wait only for
 * an import with events later than the high-water mark: other imports stay below what is appended. `onCommit`
 * gets the result before the commit.
 */
async function importInto(
  client: PostgresPoolClient,
  log: PostgresLog,
  imported: readonly ImportedEvent[],
  onCommit: (result: ImportResult) => void,
): Promise<ImportResult> {
  const { names } = log
  const times = imported.map(({ time }) => time)
  const [row] = await ask(client, `SELECT ${timeSql('$1')}`, log.now() ?? null)
  const now = Number(row![0])
  const newest = times.reduce((a, b) => Math.max(a, b), 0)
  // A time later than now is refused below; it needs no partition.
  const past = times.filter((time) => time <= now)
  await log.makePartitions(client, past)
  return runInTransaction(client, async () => {
    await ask(client, `SELECT ${names.lock('imports')}`)
    const readHighWater = async (): Promise<number> =>
      Number((await ask(client, `SELECT last_value FROM ${names.highWater}`))[0]![0])
    const isLatest = newest > (await readHighWater())
    if (isLatest) await ask(client, `SELECT ${names.lock('order')}`)
    const { byTime, ids } = await findExisting(client, log, imported)
    const fresh = freshEvents(imported, now, {
      at: (time) => byTime.get(time),
      hasId: (id) => ids.has(id),
    })
    const highWater = await readHighWater()
    await insert(client, names, fresh, highWater)
    if (newest > highWater) await ask(client, `SELECT ${names.raiseHighWater}($1)`, newest)
    const result = { imported: fresh.length, skipped: imported.length - fresh.length }
    onCommit(result)
    return result
  })
}

/** True if another attempt may succeed, or finds out whether this one took effect. */
const mayRepeat = (error: AuditLogError): boolean =>
  isOutcomeUnknown(error) || (error.code === 'STORE_FAILED' && isLostConnection(error.cause))

/**
 * Like `EventStore.importEvents`. If the connection breaks, the import is repeated for up to 10 seconds. If the server
 * did not answer a commit, this finds out whether it took effect; if that is not possible, `OUTCOME_UNKNOWN`.
 */
export async function importEvents(
  log: PostgresLog,
  imported: readonly ImportedEvent[],
  signal: AbortSignal | undefined,
): Promise<ImportResult> {
  let first: ImportResult | undefined
  const act = (client: PostgresPoolClient): Promise<ImportResult> =>
    importInto(client, log, imported, (result) => (first ??= result))
  try {
    return await withoutTimeLimit(signal, (waiting) => log.write(waiting, act))
  } catch (error) {
    const failure = error as AuditLogError
    // A first call does not wait for a server.
    if (signal?.aborted || !log.state() || !mayRepeat(failure)) throw failure
    const repeated = await withRetry(log, signal, act).catch((later: AuditLogError) => {
      const isInDoubt = isOutcomeUnknown(failure) && later.code !== 'IMPORT_CONFLICT'
      throw isInDoubt ? outcomeUnknown(failure.message, later) : later
    })
    // All or nothing of an import is kept: if nothing was missing, the first attempt has taken effect.
    return repeated.imported > 0 || !first ? repeated : first
  }
}
