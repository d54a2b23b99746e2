import { AuditLogError } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import type { PostgresClient } from '../connection/client.js'
import { asAuditLogError, codeOf, UNDEFINED_TABLE } from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { draftChecksum } from '../schema/event-checksum.js'
import { termsOf } from '../schema/terms.js'

/** Throws `INVALID_OPTION` unless it is a client: each query of a pool is a transaction of its own. */
export function checkClient(transaction: object): asserts transaction is PostgresClient {
  const isPool = 'totalCount' in transaction
  if (isPool || !('query' in transaction) || typeof transaction.query !== 'function')
    throw new AuditLogError(
      'INVALID_OPTION',
      `transaction must be a client of pg that is connected to the log's database; it is ${isPool ? 'a pool' : 'something else'}`,
    )
}

/** Inserts the draft into the outbox as the client's next statement. */
export async function putInOutbox(
  client: PostgresClient,
  { names: { outbox } }: PostgresLog,
  draft: EventDraft,
  recordedAt: Microseconds,
): Promise<void> {
  const occurred = Object.hasOwn(draft.attributes, 'occurred_at')
    ? undefined
    : formatTimestamp(recordedAt)
  const terms = termsOf(draft.attributes)
  const occurredTerms = occurred ? termsOf({ occurred_at: occurred }) : undefined
  try {
    await client.query(
      `INSERT INTO ${outbox}
         (suffix, type, username, source, system, attributes, terms, checksum, recorded_at, occurred_at,
          occurred_terms, throttle_key, throttle_scope, throttle_period)
       VALUES ($1, $2, $3, $4, $5, $6, $7::int4[], $8, $9, $10, $11::int4[], $12, $13, $14)`,
      [
        draft.suffix,
        draft.type,
        draft.username,
        draft.source,
        draft.system,
        draft.json,
        terms,
        draftChecksum(draft),
        recordedAt,
        occurred ?? null,
        occurredTerms ?? null,
        draft.throttle?.key ?? null,
        draft.throttle ? JSON.stringify(draft.throttle.scope) : null,
        draft.throttle?.period ?? null,
      ],
    )
  } catch (error) {
    if (codeOf(error) !== UNDEFINED_TABLE) throw asAuditLogError(error)
    throw new AuditLogError(
      'INVALID_OPTION',
      `transaction must be a client of the log's database; its database has no table ${outbox}`,
      { cause: error },
    )
  }
}
