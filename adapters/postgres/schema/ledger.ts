import type { Microseconds } from '../../../src/event/timestamp.js'
import { eventsSealed, MAX_WAITING, schemaWithoutLedger } from '../../../src/store/ledger-errors.js'
import {
  LEAVES_PER_ROW,
  type LedgerAddition,
  type LedgerRemoval,
  type LedgerState,
} from '../../../src/store/ledger.js'
import {
  ask,
  askAll,
  type PostgresPoolClient,
  runInTransaction,
  type TextRow,
} from '../connection/client.js'
import { byteaArray } from './binary-array.js'
import { type Names, quoteText } from './names.js'
import { countRemovedSql, noteRemovedSql } from './removed-events.js'

/*
 * The tables of a ledger. They are created when the ledger begins. Each append replaces the last row of leaves, so old versions are
 * vacuumed early.
 *
 * From then on a trigger adds late events to `ledger_new_late`, whichever process stores them. Imports and live events may
 * commit in another order than they are added in. So they get their ids later, when they are moved to `ledger_late` under
 * the lock of the row of `ledger_state`. `leaf` is NULL until the event is sealed as a late one.
 */
const tables = ({ ledger, late }: Names): string => `
  CREATE TABLE ${ledger.state} (
    size bigint NOT NULL,
    sealed_to bigint NOT NULL,
    late_to bigint NOT NULL,
    head text COLLATE "C",
    voucher text COLLATE "C",
    revision text COLLATE "C" NOT NULL
  );
  CREATE TABLE ${ledger.rows} (
    id bigint PRIMARY KEY,
    after bigint NOT NULL,
    last bigint NOT NULL,
    places bytea NOT NULL,
    hashes bytea NOT NULL,
    seed bytea NOT NULL
  ) WITH (toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000);
  ALTER TABLE ${ledger.rows} ALTER hashes SET STORAGE EXTERNAL;
  CREATE INDEX ledger_rows_last ON ${ledger.rows} (last);
  CREATE TABLE ${ledger.nodes} (
    level smallint NOT NULL,
    index bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (level, index)
  );
  CREATE TABLE ${ledger.statements} (
    leaf bigint PRIMARY KEY,
    entry text COLLATE "C" NOT NULL
  );
  CREATE TABLE ${ledger.late} (
    id bigint PRIMARY KEY,
    created_at bigint NOT NULL,
    leaf bigint
  );
  CREATE INDEX ledger_late_created_at ON ${ledger.late} (created_at);
  CREATE TABLE ${ledger.newLate} (
    created_at bigint NOT NULL
  );
  CREATE OR REPLACE FUNCTION ${ledger.noteLate}() RETURNS trigger LANGUAGE plpgsql AS $daybook$
  BEGIN
    INSERT INTO ${ledger.newLate} (created_at) SELECT created_at FROM added;
    RETURN NULL;
  END
  $daybook$;
  CREATE OR REPLACE TRIGGER ledger_late AFTER INSERT ON ${late}
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ${ledger.noteLate}();
`

const tableNames = ({
  state,
  rows,
  nodes,
  statements,
  late,
  newLate,
}: Names['ledger']): readonly string[] => [state, rows, nodes, statements, late, newLate]

const RIGHTS = "'SELECT', 'INSERT', 'UPDATE', 'DELETE'"

/** Gives the roles that have rights on the table of events the same ones on the tables of the ledger. */
const grants = ({ events, ledger }: Names): string => `
  DO $daybook$
  DECLARE
    _grant record;
  BEGIN
    FOR _grant IN
      SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role,
        string_agg(DISTINCT privilege_type, ', ') AS rights
      FROM pg_class, aclexplode(relacl)
      WHERE oid = ${quoteText(events)}::regclass AND grantee <> relowner AND privilege_type IN (${RIGHTS})
      GROUP BY grantee
    LOOP
      EXECUTE format('GRANT %s ON ${tableNames(ledger).join(', ').replaceAll('%', '%%').replaceAll("'", "''")} TO %s',
        _grant.rights, _grant.role);
    END LOOP;
  END
  $daybook$;
`

/** The first state, after this time or after the newest event if that is earlier. */
const firstStateSql = ({ ledger, highWater }: Names, after: Microseconds): string =>
  `INSERT INTO ${ledger.state} SELECT 0, least(${Number.isFinite(after) ? after : 'NULL'}::bigint, last_value), 0, NULL, NULL,
     pg_catalog.gen_random_uuid() FROM ${highWater};`

/** Creates the tables of a ledger, which begins after this time, and gives the rights on them. */
export const beginLedgerSql = (names: Names, after: Microseconds): string =>
  tables(names) + grants(names) + firstStateSql(names, after)

/** SQL that is true if the log has a ledger. */
export const hasLedgerSql = ({ ledger }: Names): string =>
  `pg_catalog.to_regclass(${quoteText(ledger.state)}) IS NOT NULL`

export async function hasLedger(client: PostgresPoolClient, names: Names): Promise<boolean> {
  const [row] = await ask(client, `SELECT ${hasLedgerSql(names)}`)
  return row![0] === 't'
}

/** Throws `SIGNER_REQUIRED` if the log has a ledger. */
export async function requireNoLedger(client: PostgresPoolClient, names: Names): Promise<void> {
  if (await hasLedger(client, names)) throw eventsSealed()
}

/** Maximum time that appends wait for an import or a closing live event. */
const MAX_LOCK = '100ms'

/**
 * Takes the locks without which an event could become visible, or late, while a ledger begins. Fails with a transient error
 * while an import runs.
 */
async function lockLog(client: PostgresPoolClient, names: Names): Promise<void> {
  // Imports take the two locks in the same order.
  await ask(client, `SELECT ${names.lock('order')}`)
  await ask(client, `SET LOCAL lock_timeout = '${MAX_LOCK}'`)
  await ask(client, `LOCK TABLE ${names.late} IN SHARE ROW EXCLUSIVE MODE`)
}

/** The rows of the state, and of the open live events before its time. */
type BeginningRows = readonly (readonly TextRow[])[]

const beginningSql = (names: Names): string =>
  `${stateSql(names)};
   SELECT created_at, suffix FROM ${names.liveEvents}
   WHERE created_at <= (SELECT sealed_to FROM ${names.ledger.state}) ORDER BY created_at`

/** See `LedgerStore.begin`. */
export const beginLedger = (
  client: PostgresPoolClient,
  names: Names,
  after: Microseconds,
  mayCreate: boolean,
): Promise<BeginningRows> =>
  runInTransaction(client, async () => {
    if (!(await hasLedger(client, names))) {
      if (!mayCreate) throw schemaWithoutLedger(`the schema ${names.schema}`)
      await lockLog(client, names)
      if (!(await hasLedger(client, names))) {
        await askAll(client, beginLedgerSql(names, after))
      }
    }
    return askAll(client, beginningSql(names))
  })

/** See `LedgerStore.restart`. */
export const restartLedger = (
  client: PostgresPoolClient,
  names: Names,
  before: LedgerState,
  after: Microseconds,
): Promise<BeginningRows | undefined> =>
  runInTransaction(client, async () => {
    await lockLog(client, names)
    if (!(await lockState(client, names, before))) return undefined
    for (const table of tableNames(names.ledger)) await ask(client, `DELETE FROM ${table}`)
    await askAll(client, firstStateSql(names, after))
    return askAll(client, beginningSql(names))
  })

export const stateSql = ({ ledger }: Names): string =>
  `SELECT size, sealed_to, late_to, head, voucher, revision FROM ${ledger.state}`

export const rowsSql = ({ ledger }: Names, from: number, limit: number): string =>
  `SELECT id, after, last, encode(places, 'hex'), encode(hashes, 'hex'), encode(seed, 'hex')
   FROM ${ledger.rows} WHERE id >= ${from} ORDER BY id LIMIT ${limit}`

export const statementsSql = ({ ledger }: Names, from: number, to: number): string =>
  `SELECT leaf, entry FROM ${ledger.statements} WHERE leaf >= ${from} AND leaf < ${to} ORDER BY leaf`

/** The nodes of these levels and indexes. */
export const nodesSql = ({ ledger }: Names): string =>
  `SELECT level, index, encode(hash, 'hex') FROM ${ledger.nodes}
   WHERE (level, index) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))`

/** The leaves of the late events at these times. */
export const lateLeavesSql = ({ ledger }: Names): string =>
  `SELECT created_at, leaf FROM ${ledger.late} WHERE created_at = ANY ($1::bigint[]) AND leaf IS NOT NULL`

/** The rows that may have the events at these times in order. */
export const rowsOfSql = ({ ledger }: Names): string =>
  `SELECT DISTINCT id, after, last, encode(places, 'hex') FROM unnest($1::bigint[]) AS sealed(time)
   CROSS JOIN LATERAL (
     SELECT id, after, last, places FROM ${ledger.rows} WHERE last >= time ORDER BY last, id LIMIT 1
   ) AS row ORDER BY id`

/** The ids of new late events. Needs the lock of the state. */
const nextIdSql = ({ ledger }: Names): string =>
  `(SELECT coalesce(max(id), 0) FROM ${ledger.late}) + row_number() OVER ()`

/** Late events that get their ids at once. */
const MAX_NUMBERED = 10_000

/**
 * Statements of one transaction, which give new late events their ids unless older ones are left to seal. The last one reads
 * the next late events.
 */
export const lateSql = (names: Names, after: number, limit: number): string => {
  const { ledger } = names
  return [
    `SELECT FROM ${ledger.state} FOR UPDATE`,
    `WITH moved AS (
       DELETE FROM ${ledger.newLate} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${ledger.newLate} LIMIT ${MAX_NUMBERED}))
         AND NOT EXISTS (SELECT FROM ${ledger.late} WHERE id > ${after})
       RETURNING created_at
     )
     INSERT INTO ${names.ledger.late} (id, created_at) SELECT ${nextIdSql(names)}, created_at FROM moved ORDER BY created_at`,
    `SELECT id, created_at FROM ${ledger.late} WHERE id > ${after} ORDER BY id LIMIT ${limit}`,
  ].join(';')
}

/** The same late events for a reader that may not write. */
export const lateForReadersSql = (names: Names, after: number, limit: number): string => {
  const { ledger } = names
  return `SELECT id, created_at FROM (
     SELECT id, created_at FROM ${ledger.late}
     UNION ALL
     SELECT ${nextIdSql(names)}, created_at FROM ${ledger.newLate}
   ) AS late WHERE id > ${after} ORDER BY id LIMIT ${limit}`
}

/** The number of waiting events, and the time of the oldest one in order. */
export const waitingSql = ({ events, ledger }: Names): string =>
  `SELECT least(${MAX_WAITING}, (
     SELECT count(*) FROM (SELECT FROM ${events} WHERE created_at > sealed_to LIMIT ${MAX_WAITING}) AS ordered
   ) + (
     SELECT count(*) FROM (
       SELECT FROM (
         SELECT created_at FROM ${ledger.late} WHERE id > late_to AND leaf IS NULL
         UNION ALL SELECT created_at FROM ${ledger.newLate}
       ) AS late
       WHERE created_at <= sealed_to AND NOT EXISTS (
         SELECT FROM ${ledger.late} AS sealed
         WHERE sealed.created_at = late.created_at AND sealed.leaf IS NOT NULL
       ) LIMIT ${MAX_WAITING}
     ) AS late
   )), (SELECT created_at FROM ${events} WHERE created_at > sealed_to ORDER BY created_at LIMIT 1)
   FROM ${ledger.state}`

const stateOf = ({ size, sealedTo, lateTo, head, voucher, revision }: LedgerState): unknown[] => [
  size,
  sealedTo,
  lateTo,
  head ?? null,
  voucher ?? null,
  revision,
]

/** Locks the state until the end of the transaction; false if it is another one. */
async function lockState(
  client: PostgresPoolClient,
  { ledger }: Names,
  before: LedgerState,
): Promise<boolean> {
  const found = await ask(
    client,
    `SELECT FROM ${ledger.state}
     WHERE size = $1 AND sealed_to = $2 AND late_to = $3 AND head IS NOT DISTINCT FROM $4::text
       AND voucher IS NOT DISTINCT FROM $5::text AND revision = $6 FOR UPDATE`,
    ...stateOf(before),
  )
  return found.length > 0
}

/** Replaces and adds rows, nodes, statements and the leaves of late events. */
const putSql = ({ ledger }: Names): string =>
  `WITH put_rows AS (
     INSERT INTO ${ledger.rows}
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[])
     ON CONFLICT (id) DO UPDATE SET after = excluded.after, last = excluded.last, places = excluded.places,
       hashes = excluded.hashes, seed = excluded.seed
   ), put_nodes AS (
     INSERT INTO ${ledger.nodes} SELECT * FROM unnest($7::bigint[], $8::bigint[], $9::bytea[])
     ON CONFLICT (level, index) DO UPDATE SET hash = excluded.hash
   ), put_statements AS (
     INSERT INTO ${ledger.statements} SELECT * FROM unnest($10::bigint[], $11::text[])
     ON CONFLICT (leaf) DO UPDATE SET entry = excluded.entry
   )
   UPDATE ${ledger.late} AS late SET leaf = put.leaf
   FROM unnest($12::bigint[], $13::bigint[]) AS put(id, leaf) WHERE late.id = put.id`

type Put = Pick<LedgerAddition, 'rows'> &
  Partial<Pick<LedgerAddition, 'nodes' | 'statements' | 'late'>>

async function put(
  client: PostgresPoolClient,
  names: Names,
  { rows, nodes = [], statements = [], late = [] }: Put,
): Promise<void> {
  await ask(
    client,
    putSql(names),
    rows.map(({ row }) => row),
    rows.map(({ after }) => after),
    rows.map(({ last }) => last),
    ...[rows.map(({ places }) => places), rows.map(({ hashes }) => hashes)].map(byteaArray),
    byteaArray(rows.map(({ seed }) => seed)),
    nodes.map(({ level }) => level),
    nodes.map(({ index }) => index),
    byteaArray(nodes.map(({ hash }) => hash)),
    statements.map(({ leaf }) => leaf),
    statements.map(({ entry }) => entry),
    late.map(({ id }) => id),
    late.map(({ leaf }) => leaf),
  )
}

async function putState(
  client: PostgresPoolClient,
  { ledger }: Names,
  state: LedgerState,
): Promise<void> {
  await ask(
    client,
    `UPDATE ${ledger.state} SET size = $1, sealed_to = $2, late_to = $3, head = $4::text, voucher = $5::text, revision = $6`,
    ...stateOf(state),
  )
}

/** Removes everything from this leaf on. */
async function cut(client: PostgresPoolClient, { ledger }: Names, size: number): Promise<void> {
  await ask(client, `DELETE FROM ${ledger.rows} WHERE id >= ${Math.ceil(size / LEAVES_PER_ROW)}`)
  await ask(client, `DELETE FROM ${ledger.statements} WHERE leaf >= ${size}`)
  await ask(client, `UPDATE ${ledger.late} SET leaf = NULL WHERE leaf >= ${size}`)
}

/** See `LedgerStore.append`. */
export const appendLeaves = (
  client: PostgresPoolClient,
  names: Names,
  { before, after, adopted = [], ...added }: LedgerAddition,
): Promise<boolean> =>
  runInTransaction(client, async () => {
    const { late } = names.ledger
    if (!(await lockState(client, names, before))) return false
    if (after.size < before.size) await cut(client, names, after.size)
    await put(client, names, added)
    if (adopted.length > 0)
      await ask(
        client,
        `INSERT INTO ${late} SELECT ${nextIdSql(names)}, time, leaf FROM unnest($1::bigint[], $2::bigint[]) AS one(time, leaf)`,
        adopted.map(({ time }) => time),
        adopted.map(({ leaf }) => leaf),
      )
    await putState(client, names, after)
    return true
  })

/** See `LedgerStore.remove`. */
export const removeLeaves = (
  client: PostgresPoolClient,
  names: Names,
  { before, after, times, rows, dropped }: LedgerRemoval,
): Promise<number | undefined> =>
  runInTransaction(client, async () => {
    const { events, foreignIds, ledger } = names
    if (!(await lockState(client, names, before))) return undefined
    const [row] = await ask(
      client,
      `WITH deleted AS (
         DELETE FROM ${events} WHERE created_at = ANY ($1::bigint[]) RETURNING created_at, suffix
       ), removed_ids AS (
         DELETE FROM ${foreignIds} WHERE id IN (SELECT suffix FROM deleted)
       ), counted AS (${countRemovedSql(names)}), noted AS (${noteRemovedSql(names)})
       SELECT count(*) FROM deleted`,
      times,
    )
    await ask(client, `DELETE FROM ${ledger.late} WHERE created_at = ANY ($1::bigint[])`, times)
    await ask(client, `DELETE FROM ${ledger.rows} WHERE id = ANY ($1::bigint[])`, dropped)
    await put(client, names, { rows })
    await putState(client, names, after)
    return Number(row![0])
  })
