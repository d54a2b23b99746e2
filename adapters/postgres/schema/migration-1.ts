import { TOO_LATE } from '../connection/failures.js'
import { type Names, type Partitions, quoteText } from './names.js'

/** What an event has before it has its time. */
const DRAFT_COLUMNS = `
    tail text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    username text COLLATE "C",
    source text COLLATE "C",
    system boolean NOT NULL,
    attributes json NOT NULL,
    terms int4[] NOT NULL`

/*
 * `created_at`, in microseconds, is the events' key; the id is made of it and `tail`, so no index of
 * ids is kept. `tail` holds the id's last 16 hexadecimal digits, or the whole of an imported id that
 * does not carry the time; those are found through `foreign_ids`. Text is compared by code point,
 * whatever the database's collation. `terms` are hashes of what an event has (terms.ts).
 *
 * The high-water mark is a sequence, which is no part of any transaction: a mark that a rollback
 * leaves behind is too high, which does no harm, and no row has to be rewritten for each append, of
 * which an old snapshot would keep every version.
 */
const tables = (names: Names, partitions: Partitions): string => `
  CREATE TABLE ${names.events} (
    created_at bigint PRIMARY KEY,
    ${DRAFT_COLUMNS}
  ) ${partitions === 'none' ? '' : 'PARTITION BY RANGE (created_at)'};
  CREATE INDEX events_terms ON ${names.events}
    USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = ${PENDING_LIMIT_KB});
  CREATE TABLE ${names.foreignIds} (
    id text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL
  );
  CREATE INDEX foreign_ids_created_at ON ${names.foreignIds} (created_at);
  CREATE SEQUENCE ${names.highWater} AS bigint MINVALUE 0;
  SELECT setval(${quoteText(names.highWater)}, 0);
  CREATE TABLE ${names.outbox} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ${DRAFT_COLUMNS},
    recorded_at bigint NOT NULL,
    occurred_at text,
    occurred_terms int4[]
  );
  CREATE TABLE ${names.voidAttempts} (
    id uuid PRIMARY KEY,
    voided_at timestamptz NOT NULL DEFAULT now()
  );
`

// New terms are first put into a list, which is sorted into the index later. That work, as much as all
// the rest, is done out of the lock by `sort_terms`; the limit is for when nobody does it.
const PENDING_LIMIT_KB = 65_536

const MAX_MOVED = 1000

/** Later versions have another beside it: see append-function.ts. */
const append = (names: Names): string => `
  CREATE FUNCTION ${names.append}(
    _tails text[], _types text[], _usernames text[], _sources text[], _systems boolean[],
    _attributes text, _terms text,
    _now bigint, _attempt uuid, _fence bigint, _void uuid[], _since bigint, _forget text[],
    OUT times bigint[], OUT server_time bigint, OUT moved integer
  ) LANGUAGE plpgsql VOLATILE AS $daybook$
  DECLARE
    _count integer := cardinality(_tails);
    _present bigint;
    _high bigint;
    _found bigint[];
    _rows ${names.events}[];
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RAISE EXCEPTION 'events are appended in transactions that are read committed, not %',
        current_setting('transaction_isolation');
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    SELECT array_agg(
      ROW(0, tail, type, username, source, system, attributes::json, terms::int4[])::${names.events}
      ORDER BY i
    ) INTO _rows
    FROM unnest(
      _tails, _types, _usernames, _sources, _systems,
      string_to_array(_attributes, E'\\n'), string_to_array(_terms, E'\\n')
    ) WITH ORDINALITY AS draft(tail, type, username, source, system, attributes, terms, i);
    PERFORM pg_advisory_xact_lock(${names.locks.order});
    server_time := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    IF server_time > _fence OR EXISTS (SELECT FROM ${names.voidAttempts} WHERE id = _attempt) THEN
      RAISE EXCEPTION 'the time to append is over' USING ERRCODE = '${TOO_LATE}';
    END IF;
    moved := 0;
    _present := coalesce(_now, server_time);
    IF cardinality(_void) > 0 THEN
      DELETE FROM ${names.voidAttempts} WHERE voided_at < now() - interval '1 day';
      INSERT INTO ${names.voidAttempts} (id) SELECT unnest(_void) ON CONFLICT DO NOTHING;
      DELETE FROM ${names.events} WHERE created_at > _since AND tail = ANY (_forget);
      SELECT array_agg(kept.created_at ORDER BY draft.i) INTO _found
      FROM unnest(_tails) WITH ORDINALITY AS draft(tail, i)
      LEFT JOIN ${names.events} AS kept ON kept.created_at > _since AND kept.tail = draft.tail;
    END IF;
    SELECT last_value INTO _high FROM ${names.highWater};

    IF EXISTS (SELECT FROM ${names.outbox}) THEN
      WITH taken AS (
        DELETE FROM ${names.outbox}
        WHERE id IN (SELECT id FROM ${names.outbox} ORDER BY id LIMIT ${MAX_MOVED})
        RETURNING *
      ), late AS (
        SELECT *, occurred_at IS NOT NULL AND _present - recorded_at > 1000000 AS is_late FROM taken
      )
      INSERT INTO ${names.events}
      SELECT
        greatest(_high, _present - _count - ${MAX_MOVED}) + row_number() OVER (ORDER BY id),
        tail, type, username, source, system,
        CASE WHEN is_late THEN (
          left(attributes::text, -1) || CASE attributes::text WHEN '{}' THEN '' ELSE ',' END
            || '"occurred_at":"' || occurred_at || '"}'
        )::json ELSE attributes END,
        CASE WHEN is_late THEN terms || occurred_terms ELSE terms END
      FROM late;
      GET DIAGNOSTICS moved = ROW_COUNT;
      _high := greatest(_high, _present - _count - ${MAX_MOVED}) + moved;
    END IF;

    _high := greatest(_high, _present - _count);
    WITH added AS (
      INSERT INTO ${names.events}
      SELECT
        _high + row_number() OVER (ORDER BY i), tail, type, username, source, system, attributes, terms
      FROM unnest(_rows) WITH ORDINALITY
        AS draft(created_at, tail, type, username, source, system, attributes, terms, i)
      WHERE _found IS NULL OR _found[i] IS NULL
      RETURNING created_at
    )
    SELECT array_agg(created_at ORDER BY created_at) INTO times FROM added;
    IF moved > 0 OR times IS NOT NULL THEN
      PERFORM setval(${quoteText(names.highWater)}, coalesce(times[cardinality(times)], _high));
    END IF;
    IF _found IS NOT NULL THEN
      SELECT array_agg(coalesce(_found[i], times[fresh]) ORDER BY i) INTO times
      FROM (
        SELECT i, count(*) FILTER (WHERE _found[i] IS NULL) OVER (ORDER BY i) AS fresh
        FROM generate_series(1, _count) AS i
      ) AS numbered;
    END IF;
  END
  $daybook$;
`

/** Sorts new terms into the index, unless somebody does it already. */
const sortTerms = (names: Names): string => `
  CREATE FUNCTION ${names.sortTerms}() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $daybook$
  DECLARE
    _index regclass;
  BEGIN
    IF NOT pg_try_advisory_xact_lock(${names.locks.terms}) THEN
      RETURN;
    END IF;
    FOR _index IN
      SELECT pg_index.indexrelid
      FROM (
        SELECT relid FROM pg_partition_tree(${quoteText(names.events)})
        UNION SELECT ${quoteText(names.events)}::regclass
      ) AS tables
      JOIN pg_index ON pg_index.indrelid = tables.relid
      JOIN pg_class ON pg_class.oid = pg_index.indexrelid
      JOIN pg_am ON pg_am.oid = pg_class.relam
      WHERE pg_am.amname = 'gin' AND pg_class.relkind = 'i'
    LOOP
      PERFORM gin_clean_pending_list(_index);
    END LOOP;
  END
  $daybook$;
`

/** Makes the schema of version 1. */
export const migration1 = (names: Names, partitions: Partitions): string =>
  tables(names, partitions) + append(names) + sortTerms(names)
