import { DRAFTS, markStatement, searchStatements } from './append-search.js'
import { TOO_LATE } from '../connection/failures.js'
import { type Names, quoteText } from './names.js'
import { presenceHash, SERVER_ATTRIBUTES } from './terms.js'

/** Most events that one append moves from the outbox. */
export const MAX_MOVED = 1000

/** The JSON text of an object with further members. */
const withMembers = (attributes: string, members: string): string => `(
  left(${attributes}::text, -1) || CASE ${attributes}::text WHEN '{}' THEN '' ELSE ',' END
    || ${members} || '}'
)::json`

/** A time in microseconds as events print it. */
const printed = (time: string): string =>
  `to_char(timestamp 'epoch' + ${time} * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

const SUPPRESSED_TERMS = `'{${SERVER_ATTRIBUTES.map(presenceHash).join()}}'::int4[]`

/** What an event is to tell of what its throttle has held back. */
const addSuppressed = (row: string): string => `
  ${row}.attributes := ${withMembers(
    `${row}.attributes`,
    `'"suppressed_count":' || _claim.suppressed || ',"suppressed_since":"'
      || ${printed('_claim.since')} || '"'`,
  )};
  ${row}.terms := ${row}.terms || ${SUPPRESSED_TERMS};
`

/**
 * Decides whether an event that is to become visible passes its throttle: `opens_in` is 0 where it
 * does, and the throttle is closed then. Within the lock of all throttles, so that no two
 * transactions wait for each other's rows.
 */
export const claimFunction = (names: Names): string => `
  CREATE FUNCTION ${names.claim}(
    _key text, _type text, _scope json, _period bigint, _tail text, _time bigint, _present bigint,
    OUT opens_in bigint, OUT suppressed bigint, OUT since bigint
  ) LANGUAGE plpgsql VOLATILE AS $daybook$
  DECLARE
    _state ${names.throttles};
  BEGIN
    PERFORM pg_advisory_xact_lock(${names.locks.throttles});
    SELECT * INTO _state FROM ${names.throttles} WHERE key = _key FOR UPDATE;
    opens_in := 0;
    IF _state.kept_at > _present THEN
      UPDATE ${names.throttles} SET kept_at = _present WHERE key = _key;
      opens_in := _period;
    ELSIF _state.kept_at + _period > _present THEN
      opens_in := _state.kept_at + _period - _present;
    ELSE
      suppressed := coalesce(_state.suppressed, 0);
      since := _state.first_at;
      INSERT INTO ${names.throttles} AS throttle (key, type, scope, period, kept_at, kept_tail)
      VALUES (_key, _type, _scope, _period, least(_time, _present), _tail)
      ON CONFLICT (key) DO UPDATE SET
        type = excluded.type, scope = excluded.scope, period = excluded.period,
        kept_at = excluded.kept_at, kept_tail = excluded.kept_tail,
        told = throttle.suppressed, told_first = throttle.first_at, told_last = throttle.last_at,
        suppressed = 0, first_at = NULL, last_at = NULL;
    END IF;
  END
  $daybook$;
`

/*
 * The one way by which events become visible. The lock is held from before the time is read until
 * the commit is visible, so `created_at` rises in the order of visibility; each statement in the
 * function takes a snapshot of its own, later than the lock (READ COMMITTED, VOLATILE:
 * https://www.postgresql.org/docs/current/xfunc-volatility.html). The drafts come as rows without a time,
 * which are read before the lock is taken; but for those that were found already, which have theirs.
 *
 * Each call is an `_attempt`. Of one whose answer got lost nobody knows whether it took effect, or
 * still will: the next one makes it void, looks for what it may have kept since `_since`, takes that
 * as kept where the caller asks for the same drafts again, and removes it (`_forget`) where the
 * caller was told that it is not kept. Where `_search` says so, it looks for what the attempts of
 * others may have kept. Of `_forget` the attempts of other processes may bring `_shared` too. After `_fence` nothing is kept: without it a server that was stopped would
 * first do what was given up.
 *
 * Of each draft the answer has its time, or else how long its throttle stays closed; and where it is
 * kept with other attributes than it came with, or was kept before, these.
 */
export const appendFunction = (names: Names): string => `
  CREATE FUNCTION ${names.append}(
    _rows ${names.events}[],
    _throttles text[], _scopes text[], _periods bigint[], _live boolean[],
    _now bigint, _attempt uuid, _fence bigint, _void uuid[], _search boolean, _since bigint,
    _forget text[], _shared text[],
    OUT times bigint[], OUT opens_in bigint[], OUT stored text[],
    OUT server_time bigint, OUT moved integer
  ) LANGUAGE plpgsql VOLATILE AS $daybook$
  DECLARE
    _count integer := cardinality(_rows);
    _present bigint;
    _high bigint;
    _found bigint[];
    _taken ${names.outbox}[];
    _held boolean[];
    _heldback integer := 0;
    _draft record;
    _claim record;
    _newest bigint;
    _attributes text;
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RAISE EXCEPTION 'events are appended in transactions that are read committed, not %',
        current_setting('transaction_isolation');
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM pg_advisory_xact_lock(${names.locks.order});
    server_time := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    IF server_time > _fence OR EXISTS (SELECT FROM ${names.voidAttempts} WHERE id = _attempt) THEN
      RAISE EXCEPTION 'the time to append is over' USING ERRCODE = '${TOO_LATE}';
    END IF;
    moved := 0;
    _present := coalesce(_now, server_time);
    IF _search THEN${searchStatements(names)}    END IF;
    SELECT last_value INTO _high FROM ${names.highWater};

    IF EXISTS (SELECT FROM ${names.outbox}) THEN
      WITH taken AS (
        DELETE FROM ${names.outbox}
        WHERE id IN (SELECT id FROM ${names.outbox} ORDER BY id LIMIT ${MAX_MOVED})
        RETURNING *
      )
      SELECT array_agg(taken ORDER BY id) INTO _taken FROM taken;
      moved := coalesce(cardinality(_taken), 0);
      _high := greatest(_high, _present - _count - ${MAX_MOVED});
      FOR _draft IN
        SELECT i::integer, tail, type, recorded_at, throttle_key, throttle_scope, throttle_period
        FROM unnest(_taken) WITH ORDINALITY AS enlisted(
          id, tail, type, username, source, system, attributes, terms, recorded_at, occurred_at,
          occurred_terms, throttle_key, throttle_scope, throttle_period, i
        ) WHERE throttle_key IS NOT NULL ORDER BY i
      LOOP
        SELECT * INTO _claim FROM ${names.claim}(
          _draft.throttle_key, _draft.type, _draft.throttle_scope, _draft.throttle_period,
          _draft.tail, _high + _draft.i - _heldback, _present
        );
        IF _claim.opens_in > 0 THEN
          _held[_draft.i] := true;
          _heldback := _heldback + 1;
          UPDATE ${names.throttles} SET
            suppressed = suppressed + 1,
            first_at = least(first_at, _draft.recorded_at),
            last_at = greatest(last_at, _draft.recorded_at)
          WHERE key = _draft.throttle_key;
        ELSIF _claim.suppressed > 0 THEN
          ${addSuppressed('_taken[_draft.i]')}
        END IF;
      END LOOP;
      INSERT INTO ${names.events}
      SELECT
        _high + row_number() OVER (ORDER BY i), tail, type, username, source, system,
        CASE WHEN is_late THEN ${withMembers(
          'attributes',
          `'"occurred_at":"' || occurred_at || '"'`,
        )} ELSE attributes END,
        CASE WHEN is_late THEN terms || occurred_terms ELSE terms END
      FROM (
        SELECT *, occurred_at IS NOT NULL AND _present - recorded_at > 1000000 AS is_late
        FROM unnest(_taken) WITH ORDINALITY AS enlisted(
          id, tail, type, username, source, system, attributes, terms, recorded_at, occurred_at,
          occurred_terms, throttle_key, throttle_scope, throttle_period, i
        ) WHERE _held[i] IS NULL
      ) AS passing;
      _high := _high + moved - _heldback;
    END IF;

    _high := greatest(_high, _present - _count);
    IF _throttles IS NOT NULL THEN
      _heldback := 0;
      opens_in := array_fill(NULL::bigint, ARRAY[_count]);
      stored := coalesce(stored, array_fill(NULL::text, ARRAY[_count]));
      FOR _draft IN
        SELECT * FROM (
          SELECT
            key, scope, period, i::integer,
            count(*) FILTER (WHERE _found[i] IS NULL) OVER (ORDER BY i) AS place
          FROM unnest(_throttles, _scopes, _periods) WITH ORDINALITY AS throttle(key, scope, period, i)
        ) AS numbered
        WHERE key IS NOT NULL AND _found[i] IS NULL ORDER BY i
      LOOP
        SELECT * INTO _claim FROM ${names.claim}(
          _draft.key, _rows[_draft.i].type, _draft.scope::json, _draft.period, _rows[_draft.i].tail,
          _high + _draft.place - _heldback, _present
        );
        IF _claim.opens_in > 0 THEN
          opens_in[_draft.i] := _claim.opens_in;
          _heldback := _heldback + 1;
        ELSIF _claim.suppressed > 0 THEN
          ${addSuppressed('_rows[_draft.i]')}
          stored[_draft.i] := _rows[_draft.i].attributes::text;
        END IF;
      END LOOP;
    END IF;
    IF _found IS NULL AND opens_in IS NULL THEN
      times := ARRAY(SELECT _high + generate_series(1, _count));
      _newest := times[_count];
    ELSE
      SELECT array_agg(CASE WHEN passes THEN _high + place END ORDER BY i), _high + max(place)
      INTO times, _newest
      FROM (
        SELECT i, passes, count(*) FILTER (WHERE passes) OVER (ORDER BY i) AS place
        FROM (
          SELECT i, _found[i] IS NULL AND opens_in[i] IS NULL AS passes
          FROM generate_series(1, _count) AS i
        ) AS decided
      ) AS placed;
    END IF;
    INSERT INTO ${names.events}
    SELECT times[i], tail, type, username, source, system, attributes, terms
    FROM ${DRAFTS}
    WHERE times[i] IS NOT NULL AND _live[i] IS NOT TRUE;
    IF _live IS NOT NULL THEN
      INSERT INTO ${names.liveEvents}
      SELECT times[i], tail, type, username, source, system, attributes
      FROM ${DRAFTS}
      WHERE times[i] IS NOT NULL AND _live[i];
    END IF;
    IF _newest > _high OR moved > 0 THEN
      PERFORM setval(${quoteText(names.highWater)}, greatest(_newest, _high));
    END IF;
    IF _found IS NOT NULL THEN
      times := ARRAY(SELECT coalesce(_found[i], times[i]) FROM generate_series(1, _count) AS i);${markStatement(names)}    END IF;
  END
  $daybook$;
`
