import { SERVER_TIME } from './server.js'
import { claimStatement, DRAFT_ROWS_SQL, recoverStatements } from './append-claims.js'
import { NEEDS_SETTINGS, TOO_LATE } from '../connection/failures.js'
import { withTime } from './event-checksum.js'
import { type Engine, PINNED_PATH } from './engine.js'
import type { Names } from './names.js'

/** Maximum number of events that one append moves from the outbox. */
export const MAX_MOVED_DRAFTS = 1000

/** SQL that adds members to the JSON text of an object. */
const withMembers = (attributes: string, members: string): string => `(
  left(${attributes}::text, -1) || CASE ${attributes}::text WHEN '{}' THEN '' ELSE ',' END
    || ${members} || '}'
)::json`

/** SQL for a time in microseconds in the format of `created_at`. */
const formatted = (time: string): string =>
  `to_char(timestamp 'epoch' + ${time} * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** Adds the count of events that the throttle has suppressed to the event that passes it. */
const addSuppressed = (row: string): string => `
  ${row}.attributes := ${withMembers(
    `${row}.attributes`,
    `'"suppressed_count":' || _claim.suppressed || ',"suppressed_since":"'
      || ${formatted('_claim.since')} || '"'`,
  )};
`

/** Inserts the drafts with `time`, an expression of their positions `i`. */
const insertDrafts = ({ events }: Names, time: string, condition = 'true'): string => `
      INSERT INTO ${events}
      SELECT ${time}, suffix, type, username, source, system, attributes,
        ${withTime('checksum', time)}
      FROM ${DRAFT_ROWS_SQL}
      WHERE ${condition};`

/** Settings without which a call would read an old snapshot, or has got other texts than were sent. */
const NEEDED = [
  ['transaction_isolation', 'read committed'],
  ['client_encoding', 'UTF8'],
  ['array_nulls', 'on'],
] as const

const IS_UNSUITED = NEEDED.map(([name, value]) => `current_setting('${name}') <> '${value}'`).join(
  ' OR ',
)

/*
 * All events become visible through this function. It holds the lock from before the time is read
 * until the commit is visible, so `created_at` rises in the order of visibility. Each statement in it
 * takes a snapshot of its own, after the lock (READ COMMITTED, VOLATILE:
 * https://www.postgresql.org/docs/current/xfunc-volatility.html). The drafts are rows of `events`, parsed
 * before the lock is taken; their time is NULL unless the draft has been found already.
 *
 * Each call is an `_attempt`. If its answer is lost, the process cannot know whether it took effect
 * or still will. The next call voids it (`_void`) and looks for what it may have stored since
 * `_since`: an event whose draft is passed again counts as stored, and an event whose call was
 * rejected (`_reject`) is removed. Other processes may append the drafts of `_shared` too.
 * With `_search` the call also looks for drafts that other processes' attempts may have stored. After
 * `_deadline` nothing is stored, so that a server that was suspended does not run abandoned calls.
 *
 * For each draft the result has its time, or for how long its throttle stays closed; `stored` has the
 * attributes if they differ from the draft's or the event was stored before. If all drafts are stored one after
 * the other, the result has only the time of the first.
 *
 * A process that listens for notifications shares the lock `listeners`, so a call that gets it need not notify anybody.
 *
 * Other processes wait while a call holds the lock, so the usual call runs only two statements. Expressions
 * that read no table, such as those with the lock and with `setval`, cost less than statements.
 */
export const appendFunction = (names: Names, engine: Engine): string => `
  CREATE FUNCTION ${names.append}(
    _drafts ${names.events}[],
    _throttles text[], _scopes text[], _periods bigint[], _live boolean[],
    _now bigint, _attempt uuid, _deadline bigint, _void uuid[], _search boolean, _since bigint,
    _reject text[], _shared text[],
    OUT first_time bigint, OUT times bigint[], OUT opens_in bigint[], OUT stored text[],
    OUT server_time bigint, OUT moved integer, OUT has_listeners boolean
  ) LANGUAGE plpgsql VOLATILE ${PINNED_PATH} AS $daybook$
  DECLARE
    _count integer := cardinality(_drafts);
    _is_void boolean;
    _has_outbox boolean;
    _present bigint;
    _high bigint;
    _found bigint[];
    _claimed text[];
    _moving ${names.outbox}[];
    _is_suppressed boolean[];
    _suppressed integer := 0;
    _draft record;
    _claim record;
    _newest bigint;
    _attributes text;
  BEGIN
    IF ${IS_UNSUITED} THEN
      RAISE EXCEPTION 'append needs the settings ${NEEDED.map((one) => one.join(' = ')).join(', ')}'
        USING ERRCODE = '${NEEDS_SETTINGS}';
    END IF;
    ${engine.lockOrder(names)}
    SELECT ${SERVER_TIME}, last_value,
      EXISTS (SELECT FROM ${names.voidAttempts} WHERE id = _attempt), EXISTS (SELECT FROM ${names.outbox}),
      NOT pg_try_advisory_xact_lock(${names.locks.listeners})
    INTO server_time, _high, _is_void, _has_outbox, has_listeners
    FROM ${names.highWater};
    IF server_time > _deadline OR _is_void THEN
      RAISE EXCEPTION 'the deadline of the append is over' USING ERRCODE = '${TOO_LATE}';
    END IF;
    moved := 0;
    _present := coalesce(_now, server_time);
    IF _search THEN${recoverStatements(names)}    END IF;

    IF _has_outbox THEN
      WITH moving AS (
        DELETE FROM ${names.outbox}
        WHERE id IN (SELECT id FROM ${names.outbox} ORDER BY id LIMIT ${MAX_MOVED_DRAFTS})
        RETURNING *
      )
      SELECT array_agg(moving ORDER BY id) INTO _moving FROM moving;
      moved := coalesce(cardinality(_moving), 0);
      _high := greatest(_high, _present - _count - ${MAX_MOVED_DRAFTS});
      FOR _draft IN
        SELECT i::integer, suffix, type, recorded_at, throttle_key, throttle_scope, throttle_period
        FROM unnest(_moving) WITH ORDINALITY AS queued(
          id, suffix, type, username, source, system, attributes, checksum, recorded_at, occurred_at,
          throttle_key, throttle_scope, throttle_period, i
        ) WHERE throttle_key IS NOT NULL ORDER BY i
      LOOP
        SELECT * INTO _claim FROM ${names.claimThrottle}(
          _draft.throttle_key, _draft.type, _draft.throttle_scope, _draft.throttle_period,
          _draft.suffix, _high + _draft.i - _suppressed, _present
        );
        IF _claim.opens_in > 0 THEN
          _is_suppressed[_draft.i] := true;
          _suppressed := _suppressed + 1;
          UPDATE ${names.throttles} SET
            suppressed = suppressed + 1,
            first_at = least(first_at, _draft.recorded_at),
            last_at = greatest(last_at, _draft.recorded_at)
          WHERE key = _draft.throttle_key;
        ELSIF _claim.suppressed > 0 THEN
          ${addSuppressed('_moving[_draft.i]')}
        END IF;
      END LOOP;
      INSERT INTO ${names.events}
      SELECT
        time, suffix, type, username, source, system,
        CASE WHEN is_late THEN ${withMembers(
          'attributes',
          `'"occurred_at":"' || occurred_at || '"'`,
        )} ELSE attributes END,
        ${withTime('checksum', 'time')}
      FROM (
        SELECT *, _high + row_number() OVER (ORDER BY i) AS time,
          occurred_at IS NOT NULL AND _present - recorded_at > 1000000 AS is_late
        FROM unnest(_moving) WITH ORDINALITY AS queued(
          id, suffix, type, username, source, system, attributes, checksum, recorded_at, occurred_at,
          throttle_key, throttle_scope, throttle_period, i
        ) WHERE _is_suppressed[i] IS NULL
      ) AS passing;
      _high := _high + moved - _suppressed;
    END IF;

    _high := greatest(_high, _present - _count);
    IF _throttles IS NOT NULL THEN
      _suppressed := 0;
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
        SELECT * INTO _claim FROM ${names.claimThrottle}(
          _draft.key, _drafts[_draft.i].type, _draft.scope::json, _draft.period, _drafts[_draft.i].suffix,
          _high + _draft.place - _suppressed, _present
        );
        IF _claim.opens_in > 0 THEN
          opens_in[_draft.i] := _claim.opens_in;
          _suppressed := _suppressed + 1;
        ELSIF _claim.suppressed > 0 THEN
          ${addSuppressed('_drafts[_draft.i]')}
          stored[_draft.i] := _drafts[_draft.i].attributes::text;
        END IF;
      END LOOP;
    END IF;
    IF _found IS NULL AND opens_in IS NULL AND _live IS NULL THEN
      first_time := _high + 1;
      _newest := _high + _count;${insertDrafts(names, '(_high + i)')}
    ELSE
      SELECT array_agg(CASE WHEN passes THEN _high + place END ORDER BY i), _high + max(place)
      INTO times, _newest
      FROM (
        SELECT i, passes, count(*) FILTER (WHERE passes) OVER (ORDER BY i) AS place
        FROM (
          SELECT i, _found[i] IS NULL AND opens_in[i] IS NULL AS passes
          FROM generate_series(1, _count) AS i
        ) AS decided
      ) AS placed;${insertDrafts(names, 'times[i]', 'times[i] IS NOT NULL AND _live[i] IS NOT TRUE')}
      IF _live IS NOT NULL THEN
        INSERT INTO ${names.liveEvents}
        SELECT times[i], suffix, type, username, source, system, attributes
        FROM ${DRAFT_ROWS_SQL}
        WHERE times[i] IS NOT NULL AND _live[i];
      END IF;
    END IF;
    IF _newest > _high OR moved > 0 THEN
      ${engine.setHighWater(names, 'greatest(_newest, _high)')}
    END IF;
    IF _found IS NOT NULL THEN
      times := ARRAY(SELECT coalesce(_found[i], times[i]) FROM generate_series(1, _count) AS i);${claimStatement(names)}    END IF;
  END
  $daybook$;
`
