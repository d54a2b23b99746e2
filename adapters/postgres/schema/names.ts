import { createHash } from 'node:crypto'
import { invalidOption } from '../../../src/errors.js'
import { quoteName } from '../../../src/store-kit/sql.js'

/** Locks that a SQL function takes until the end of the transaction, because not every engine has the same. */
export const LOG_LOCKS = ['order', 'throttles', 'imports', 'names', 'state'] as const
type LogLock = (typeof LOG_LOCKS)[number]

/** The advisory locks of a log. */
const LOCKS = [
  'imports',
  'removal',
  'schema',
  'throttles',
  'state',
  'analysis',
  'names',
  'listeners',
] as const
type Locks = Readonly<Record<(typeof LOCKS)[number], string>>

/** The names of a log's tables and functions, quoted and qualified with the schema. */
export type Names = ReturnType<typeof namesIn>

const tablesIn = (named: (name: string) => string) => ({
  events: named('events'),
  foreignIds: named('foreign_ids'),
  highWater: named('high_water'),
  outbox: named('outbox'),
  voidAttempts: named('void_attempts'),
  appendClaims: named('append_claims'),
  liveEvents: named('live_events'),
  liveTexts: named('live_texts'),
  throttles: named('throttles'),
  reporters: named('reporters'),
  state: named('state'),
  version: named('schema_version'),
  indexState: named('index_state'),
  attributeNames: named('attribute_names'),
  segments: named('segments'),
  chunks: named('segment_chunks'),
  late: named('late_events'),
  removed: named('removed_events'),
})

/** The tables of a ledger: see schema/ledger.ts. */
const ledgerTablesIn = (named: (name: string) => string) => ({
  state: named('ledger_state'),
  rows: named('ledger_rows'),
  nodes: named('ledger_nodes'),
  statements: named('ledger_statements'),
  late: named('ledger_late'),
  newLate: named('ledger_new_late'),
})

// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS
const MAX_NAME_BYTES = 63

export function namesIn(schema: string) {
  const isName = typeof schema === 'string' && schema !== '' && !schema.includes('\0')
  if (!isName || Buffer.byteLength(schema) > MAX_NAME_BYTES || schema.startsWith('pg_')) {
    const message = `schema must be a name of 1 to ${MAX_NAME_BYTES} bytes that does not begin with pg_`
    throw invalidOption(`${message}; it is ${JSON.stringify(schema)}`)
  }
  const named = (name: string): string => `${quoteName(schema)}.${name}`
  const hash = createHash('md5').update(schema).digest('hex')
  // Postgres reads all functions of a name, whatever their schemas, to find one of them.
  const called = (name: string): string => named(`${name}_${hash.slice(0, 8)}`)
  const lockFunction = called('lock')
  const lock = (purpose: string): string =>
    `pg_catalog.hashtextextended(${quoteText(`daybook ${purpose} ${schema}`)}, 0)`
  return {
    /** The schema's name, unquoted. */
    schemaName: schema,
    schema: quoteName(schema),
    ...tablesIn(named),
    ledger: {
      ...ledgerTablesIn(named),
      /** The trigger function that notes late events. */
      noteLate: called('ledger_note_late'),
    },
    /**
     * Empty tables whose locks appends take. Any role could take an advisory lock and hold up all appends; a table is
     * locked only by roles that may write to it.
     */
    lockTables: { order: named('order_lock'), throttles: named('throttles_lock') },
    /** The function of a {@link LogLock}, and SQL that calls it. */
    lockFunction,
    lock: (name: LogLock): string => `${lockFunction}('${name}')`,
    /** Raises the high-water mark. The transaction must hold the lock `order`. */
    raiseHighWater: called('raise_high_water'),
    /** See schema/server.ts. */
    server: called('server'),
    append: called('append'),
    /** See citus/citus.ts. */
    checkPlace: called('check_place'),
    localTransaction: called('local_transaction'),
    claimThrottle: called('claim_throttle'),
    /** See schema/capture-triggers.ts. */
    capture: {
      isSecret: called('capture_is_secret'),
      number: called('capture_number'),
      json: called('capture_json'),
      lift: called('capture_lift'),
      join: called('capture_join'),
      states: called('capture_states'),
      base: called('capture_base'),
      shown: called('capture_shown'),
      value: called('capture_value'),
      code: called('capture_code'),
      stale: called('capture_stale'),
    },
    /** The NOTIFY channel for events that became visible. Its name has the same maximum length as that of a schema. */
    channel: `daybook_${hash}`,
    /** SQL for the keys of advisory locks. */
    locks: Object.fromEntries(LOCKS.map((purpose) => [purpose, lock(purpose)])) as Locks,
  }
}

/** A string literal of SQL. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The period of a partition of the table of events. */
export type Partitions = 'month' | 'day' | 'none'
