import { timeSql } from '../schema/server.js'
import type { EventDraft, JsonObject } from '../../../src/event/event.js'
import type { IdSuffix } from '../../../src/event/event-id.js'
import type { SuppressedCount, SuppressedReport } from '../../../src/store/store.js'
import { closedPeriod } from '../../../src/store/throttle-state.js'
import { DAY, type Microseconds } from '../../../src/event/timestamp.js'
import { ask, IDLE_TIMEOUT, type PostgresPoolClient, type TextRow } from '../connection/client.js'
import { askAndCommit, runAndConfirm, TRANSACTION } from '../connection/commits.js'
import { callBack } from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { putInOutbox } from './outbox.js'

const MAX_RECORDED = 1000

/**
 * The drafts whose throttles are certainly closed, and for how long. Reading waits for no lock and no
 * disk; it decides most drafts of a busy throttle.
 */
export async function findClosedThrottles(
  client: PostgresPoolClient,
  { names: { throttles }, now }: PostgresLog,
  drafts: readonly EventDraft[],
): Promise<Map<IdSuffix, Microseconds>> {
  const rows = await ask(
    client,
    `SELECT key, stored_at, ${timeSql('$2')} FROM ${throttles}
     WHERE key = ANY ($1::text[]) AND stored_at IS NOT NULL`,
    drafts.map(({ throttle }) => throttle!.key),
    now() ?? null,
  )
  const storedAt = new Map(rows.map(([key, time]) => [key, Number(time)]))
  const time = Number(rows[0]?.[2])
  const closed = new Map<IdSuffix, Microseconds>()
  for (const draft of drafts) {
    const state = closedPeriod(storedAt.get(draft.throttle!.key), draft.throttle!.period, time)
    // If the clock was set back, `append` decides, as it has to update the throttle.
    const isCertain = state.storedAt === storedAt.get(draft.throttle!.key)
    if (state.opensIn > 0 && isCertain) closed.set(draft.suffix, state.opensIn)
  }
  return closed
}

/** One statement, so that no append waits for this process. */
export async function reportSuppressed(
  client: PostgresPoolClient,
  { names, now }: PostgresLog,
  { reporter, number, counts }: SuppressedReport,
): Promise<void> {
  const { throttles, reporters } = names
  const { durable } = await askAndCommit(
    client,
    'report',
    (durability) => `WITH locked AS MATERIALIZED (
       SELECT ${names.lock('throttles')}
     ), reported AS (
       INSERT INTO ${reporters} AS known (id, number, reported_at)
       SELECT $1, $2::bigint, ${timeSql('$3')} FROM locked
       ON CONFLICT (id) DO UPDATE SET number = excluded.number, reported_at = excluded.reported_at
       WHERE known.number < excluded.number
       RETURNING 1
     ), added AS (
     INSERT INTO ${throttles} AS known (key, type, scope, period, suppressed, first_at, last_at)
     SELECT key, type, scope::json, period, count, first, last
     FROM reported, unnest(
       $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]
     ) AS count(key, type, scope, period, count, first, last)
     ON CONFLICT (key) DO UPDATE SET
       type = excluded.type, scope = excluded.scope, period = excluded.period,
       suppressed = known.suppressed + excluded.suppressed,
       first_at = least(known.first_at, excluded.first_at),
       last_at = greatest(known.last_at, excluded.last_at)
     )
     SELECT ${TRANSACTION}, ${durability}`,
    reporter,
    number,
    now() ?? null,
    counts.map(({ key }) => key),
    counts.map(({ type }) => type),
    counts.map(({ scope }) => JSON.stringify(scope)),
    counts.map(({ period }) => period),
    counts.map(({ count }) => count),
    counts.map(({ first }) => first),
    counts.map(({ last }) => last),
  )
  await durable
}

// The rule of `isUnclaimed`. A row that another transaction has locked is about to be claimed.
const UNCLAIMED = `suppressed > 0 AND (
  stored_at > $1 OR (coalesce(stored_at + 2 * period, 0) <= $1 AND coalesce(last_at + period, 0) <= $1)
)`

function readCount(row: TextRow): SuppressedCount {
  const [key, type, scope, ...numbers] = row
  const [period, count, first, last] = numbers.map(Number)
  return {
    key: key!,
    type: type!,
    scope: JSON.parse(scope!) as JsonObject,
    period: period!,
    count: count!,
    first: first!,
    last: last!,
  }
}

/**
 * Like `EventStore.recordSuppressed`, through the outbox; also deletes expired throttles and reporters.
 * Returns the number of counts. Appends wait only for the throttles that are counted.
 */
export function recordSuppressed(
  client: PostgresPoolClient,
  log: PostgresLog,
  draftOf: (counts: readonly SuppressedCount[]) => EventDraft,
): Promise<number> {
  const { throttles, reporters } = log.names
  return runAndConfirm(client, async () => {
    await ask(client, IDLE_TIMEOUT)
    const [row] = await ask(client, `SELECT ${timeSql('$1')}`, log.now() ?? null)
    const now = Number(row![0])
    const found = await ask(
      client,
      `SELECT key, type, scope, period, suppressed, first_at, last_at FROM ${throttles}
       WHERE ${UNCLAIMED} ORDER BY last_at LIMIT ${MAX_RECORDED} FOR UPDATE SKIP LOCKED`,
      now,
    )
    const counts = found.map(readCount)
    if (counts.length > 0) {
      await ask(
        client,
        `UPDATE ${throttles} SET suppressed = 0, first_at = NULL, last_at = NULL
         WHERE key = ANY ($1::text[])`,
        counts.map(({ key }) => key),
      )
      await putInOutbox(
        client,
        log,
        callBack(() => draftOf(counts)),
        now,
      )
    }
    await ask(
      client,
      `DELETE FROM ${throttles} WHERE key IN (
         SELECT key FROM ${throttles} WHERE suppressed = 0 AND coalesce(stored_at + 2 * period, 0) <= $1
         FOR UPDATE SKIP LOCKED
       )`,
      now,
    )
    await ask(client, `DELETE FROM ${reporters} WHERE reported_at + ${DAY} <= $1`, now)
    return counts.length
  })
}
