import type { Engine } from '../schema/engine.js'
import { PINNED_PATH, serverPartsSql } from '../schema/engine.js'
import { LOG_LOCKS, type Names, quoteText } from '../schema/names.js'

/*
 * Citus places each schema on one node, and can move it to another one while it is in use:
 * https://docs.citusdata.com/en/stable/develop/api_udf.html#citus-schema-distribute. Each log is one schema.
 *
 * Advisory locks and sequences belong to one node. So the locks are rows, and the high-water mark is the newest time
 * that any event has had.
 *
 * Until the end of a transaction that has written, the schema cannot move. A lock that only reads a row does not
 * prevent that, so `append` checks afterwards that the schema has not moved since; every other lock writes its row.
 */

/** The class of connection errors: the call is repeated on a new connection, to the node that has the schema at that time. */
const MOVED = '08000'

/** The node that the schema is on, by the place of one of its tables. */
const placementSql = (names: Names, columns: string, from = ''): string =>
  `SELECT ${columns} FROM pg_catalog.pg_dist_shard AS shard
     JOIN pg_catalog.pg_dist_placement AS placement USING (shardid) ${from}
   WHERE shard.logicalrelid = pg_catalog.to_regclass(${quoteText(names.version)})`

/** Selects the host and the port of the node that the schema is on. */
export const nodeSql = (names: Names): string =>
  `${placementSql(names, 'node.nodename, node.nodeport', 'JOIN pg_catalog.pg_dist_node AS node USING (groupid)')}
     AND node.noderole = 'primary'`

const locksTable = ({ schema }: Names): string => `${schema}.locks`

/** SQL that raises {@link MOVED} unless the connection leads to the node that the schema is on. */
export const checkPlaceSql = (names: Names): string => `SELECT ${names.checkPlace}()`

const placeFunctions = (names: Names): string => `
  CREATE FUNCTION ${names.checkPlace}() RETURNS void LANGUAGE plpgsql VOLATILE ${PINNED_PATH} AS $daybook$
  BEGIN
    IF NOT EXISTS (
      ${placementSql(names, '', 'JOIN pg_catalog.pg_dist_local_group AS here USING (groupid)')}
    ) THEN
      RAISE EXCEPTION 'the schema ${names.schemaName.replaceAll('%', '%%').replaceAll("'", "''")} is on another node'
        USING ERRCODE = '${MOVED}';
    END IF;
  END
  $daybook$;
  CREATE FUNCTION ${names.localTransaction}() RETURNS xid8 LANGUAGE plpgsql VOLATILE ${PINNED_PATH} AS $daybook$
  BEGIN
    PERFORM ${names.checkPlace}();
    RETURN pg_current_xact_id();
  END
  $daybook$;
`

const lockThrottles = ({ locks }: Names): string =>
  `PERFORM pg_advisory_xact_lock(${locks.throttles});`

export const CITUS: Engine = {
  name: 'citus',
  begin: placeFunctions,
  complete: (names) => `
  CREATE TABLE ${locksTable(names)} (
    name text COLLATE "C" PRIMARY KEY,
    taken bigint NOT NULL DEFAULT 0
  );
  INSERT INTO ${locksTable(names)} (name) VALUES ${LOG_LOCKS.map((name) => `('${name}')`).join(', ')};
  ${[names.version, names.indexState, names.attributeNames]
    .map((table) => `ALTER TABLE ${table} REPLICA IDENTITY FULL;`)
    .join('\n  ')}
  SELECT citus_schema_distribute(${quoteText(names.schema)});
  CREATE VIEW ${names.highWater} AS
    SELECT greatest(
      0, removed_before - 1, newest_removed,
      (SELECT max(created_at) FROM ${names.events}), (SELECT max(created_at) FROM ${names.liveEvents})
    ) AS last_value FROM ${names.indexState};
  CREATE FUNCTION ${names.raiseHighWater}(_mark bigint) RETURNS void LANGUAGE plpgsql AS $daybook$
  BEGIN
  END
  $daybook$;
  CREATE FUNCTION ${names.lockFunction}(_name text) RETURNS void LANGUAGE plpgsql ${PINNED_PATH} AS $daybook$
  BEGIN
    IF _name = 'throttles' THEN
      ${lockThrottles(names)}
    ELSE
      UPDATE ${locksTable(names)} SET taken = taken + 1 WHERE name = _name;
    END IF;
  END
  $daybook$;
  CREATE FUNCTION ${names.server}() RETURNS text LANGUAGE sql STABLE AS $daybook$
    SELECT pg_catalog.concat(${serverPartsSql(names)}, ' ', (${placementSql(names, 'placement.placementid')}))
  $daybook$;
`,
  transactionId: (names) => `${names.localTransaction}()`,
  lockThrottles,
  lockOrder: (names) => `PERFORM FROM ${locksTable(names)} WHERE name = 'order' FOR UPDATE;`,
  setHighWater: (names, value) => `_high := ${value};
      PERFORM ${names.checkPlace}();`,
}
