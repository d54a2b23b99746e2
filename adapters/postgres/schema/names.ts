import { createHash } from 'node:crypto'
import { invalidOption } from '../../../src/errors.js'
import { quoteName } from '../../../src/store-kit/sql.js'

type Lock =
  | 'imports'
  | 'removal'
  | 'schema'
  | 'throttles'
  | 'state'
  | 'analysis'
  | 'names'
  | 'listeners'

/** Locks that a SQL function takes until the end of the transaction, because not every engine has the same. */
export const LOG_LOCKS = ['order', 'throttles', 'imports', 'names', 'state'] as const
export type LogLock = (typeof LOG_LOCKS)[number]

type CaptureFunction =
  | 'isSecret'
  | 'number'
  | 'json'
  | 'lift'
  | 'join'
  | 'states'
  | 'base'
  | 'shown'
  | 'value'
  | 'code'
  | 'stale'

/** The names of a log's tables and functions, quoted and qualified with the schema. */
export interface Names {
  /** The schema's name, unquoted. */
  readonly schemaName: string
  readonly schema: string
  readonly events: string
  readonly foreignIds: string
  readonly highWater: string
  readonly outbox: string
  readonly voidAttempts: string
  readonly appendClaims: string
  readonly liveEvents: string
  readonly liveTexts: string
  readonly throttles: string
  readonly reporters: string
  readonly state: string
  readonly version: string
  readonly indexState: string
  readonly attributeNames: string
  readonly segments: string
  readonly chunks: string
  readonly late: string
  readonly removed: string
  /**
   * Empty tables whose locks appends take. Any role could take an advisory lock and hold up all appends; a table is
   * locked only by roles that may write to it.
   */
  readonly lockTables: Readonly<Record<'order' | 'throttles', string>>
  /** The function of a {@link LogLock}, and SQL that calls it. */
  readonly lockFunction: string
  readonly lock: (name: LogLock) => string
  /** Raises the high-water mark. The transaction must hold the lock `order`. */
  readonly raiseHighWater: string
  /** See schema/server.ts. */
  readonly server: string
  readonly append: string
  /** See citus/citus.ts. */
  readonly checkPlace: string
  readonly localTransaction: string
  readonly claimThrottle: string
  /** See schema/capture-triggers.ts. */
  readonly capture: Readonly<Record<CaptureFunction, string>>
  /** The NOTIFY channel for events that became visible. */
  readonly channel: string
  /** SQL for the keys of advisory locks. */
  readonly locks: Readonly<Record<Lock, string>>
}

// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS
const MAX_NAME_BYTES = 63

export function namesIn(schema: string): Names {
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
    schemaName: schema,
    schema: quoteName(schema),
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
    lockTables: { order: named('order_lock'), throttles: named('throttles_lock') },
    lockFunction,
    lock: (name) => `${lockFunction}('${name}')`,
    raiseHighWater: called('raise_high_water'),
    server: called('server'),
    append: called('append'),
    checkPlace: called('check_place'),
    localTransaction: called('local_transaction'),
    claimThrottle: called('claim_throttle'),
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
    // The name of a channel has the same maximum length as that of a schema.
    channel: `daybook_${hash}`,
    locks: {
      imports: lock('imports'),
      removal: lock('removal'),
      schema: lock('schema'),
      throttles: lock('throttles'),
      state: lock('state'),
      analysis: lock('analysis'),
      names: lock('names'),
      listeners: lock('listeners'),
    },
  }
}

/** A string literal of SQL. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The period of a partition of the table of events. */
export type Partitions = 'month' | 'day' | 'none'
