import { invalidOption } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import type { PostgresClient } from '../connection/client.js'
import {
  asAuditLogError,
  codeOf,
  NO_ACTIVE_TRANSACTION,
  UNDEFINED_TABLE,
} from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { draftChecksum } from '../schema/event-checksum.js'

/** Throws `INVALID_OPTION` unless it is a client: each query of a pool is a transaction of its own. */
export function checkClient(transaction: object): asserts transaction is PostgresClient {
  const isPool = 'totalCount' in transaction
  if (isPool || !('query' in transaction) || typeof transaction.query !== 'function')
    throw invalidOption(
      `transaction must be a client of pg that is connected to the log's database; it is ${isPool ? 'a pool' : 'something else'}`,
    )
}

/**
 * A literal in SQL, of ASCII without `\` and `?`: query builders take `?` for a parameter, and encodings such as
 * SJIS, which a host may have set for its connection, take a backslash for the end of a character.
 */
export function literal(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value !== 'string') return String(value)
  const escape = (unit: string): string =>
    unit === "'" ? "''" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `E'${value.toWellFormed().replaceAll(/[^ -~]|['\\?]/g, escape)}'`
}

/**
 * Fails outside of a transaction, and changes nothing in one. In the same message as the INSERT, which
 * is then not run either; a message of several statements cannot have parameters.
 */
export const REQUIRE_TRANSACTION = 'SAVEPOINT daybook; RELEASE SAVEPOINT daybook'

/** Inserts the draft into the outbox as the client's next statement, if the client is in a transaction. */
export async function putInOutbox(
  client: PostgresClient,
  { names: { outbox } }: PostgresLog,
  draft: EventDraft,
  recordedAt: Microseconds,
): Promise<void> {
  const occurred = Object.hasOwn(draft.attributes, 'occurred_at')
    ? undefined
    : formatTimestamp(recordedAt)
  const { throttle } = draft
  const row = {
    suffix: draft.suffix,
    type: draft.type,
    username: draft.username,
    source: draft.source,
    system: draft.system,
    attributes: draft.json,
    checksum: draftChecksum(draft),
    recorded_at: recordedAt,
    occurred_at: occurred,
    throttle_key: throttle?.key,
    throttle_scope: throttle && JSON.stringify(throttle.scope),
    throttle_period: throttle?.period,
  }
  const columns = Object.keys(row).join(', ')
  const values = Object.values(row).map(literal).join(', ')
  const insert = `INSERT INTO ${outbox} (${columns}) VALUES (${values})`
  try {
    // Even an empty list of parameters would make pg-native send a message of one statement.
    await client.query(`${REQUIRE_TRANSACTION}; ${insert}`)
  } catch (error) {
    const reason = REFUSALS[codeOf(error)]?.(outbox)
    if (!reason) throw asAuditLogError(error)
    throw invalidOption(`transaction ${reason}`, error)
  }
}

const REFUSALS: Readonly<Record<string, (outbox: string) => string>> = {
  [UNDEFINED_TABLE]: (outbox) =>
    `must be a client of the log's database; its database has no table ${outbox}`,
  [NO_ACTIVE_TRANSACTION]: () => 'must be a client with an open transaction: BEGIN first',
}
