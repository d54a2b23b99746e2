import type { Names } from './names.js'

/** The drafts with their places, from 1. */
export const DRAFTS = `unnest(_rows) WITH ORDINALITY
      AS draft(found_at, tail, type, username, source, system, attributes, terms, i)`

/** Most marks that one append lets go of: more than it makes. */
const MAX_TIDIED = 1000

/*
 * Calls with one idempotency key bring the same tail from several processes, so an event that one process
 * reports as not stored may be one that another process acknowledges. Each attempt that searches therefore
 * leaves a mark at what it has kept or found. A process that forgets an event takes back the marks of its
 * lost attempts, and the event is removed with the last mark. All this happens within the lock, so that
 * nobody finds an event that is just being removed. A mark belongs to the attempt, not to the process,
 * which may have acknowledged the event before.
 *
 * A mark is dropped after a day, which is longer than a process waits for an answer. An event without
 * marks was settled by then: it gets no new ones, and a process that has no mark at an event which
 * others may have kept does not remove it.
 */

/** Where `append` searches: makes void, forgets, and finds what attempts have had kept. */
export const searchStatements = (names: Names): string => `
      DELETE FROM ${names.voidAttempts} WHERE voided_at < now() - interval '1 day';
      INSERT INTO ${names.voidAttempts} (id) SELECT unnest(_void) ON CONFLICT DO NOTHING;
      DELETE FROM ${names.takers} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${names.takers} WHERE taken_at < now() - interval '1 day'
        ORDER BY taken_at LIMIT ${MAX_TIDIED}
      ));
      IF cardinality(_forget) > 0 THEN
        WITH taken_back AS (
          DELETE FROM ${names.takers} WHERE tail = ANY (_forget) AND attempt = ANY (_void)
          RETURNING tail
        )
        SELECT array_agg(forgotten.tail) INTO _forget
        FROM unnest(_forget) AS forgotten(tail)
        WHERE (forgotten.tail <> ALL (_shared) OR forgotten.tail IN (SELECT tail FROM taken_back))
          AND NOT EXISTS (
            SELECT FROM ${names.takers} AS taker
            WHERE taker.tail = forgotten.tail AND taker.attempt <> ALL (_void)
          );
      END IF;
      IF cardinality(_forget) > 0 THEN
        DELETE FROM ${names.events} WHERE created_at > _since AND tail = ANY (_forget);
        DELETE FROM ${names.liveEvents} WHERE created_at > _since AND tail = ANY (_forget);
        PERFORM pg_advisory_xact_lock(${names.locks.throttles});
        UPDATE ${names.throttles} SET
          kept_at = NULL, kept_tail = NULL, suppressed = suppressed + told,
          first_at = least(first_at, told_first), last_at = greatest(last_at, told_last)
        WHERE kept_tail = ANY (_forget);
      END IF;
      SELECT
        array_agg(coalesce(kept.created_at, open.created_at) ORDER BY draft.i),
        array_agg(coalesce(kept.attributes, open.attributes)::text ORDER BY draft.i)
      INTO _found, stored
      FROM ${DRAFTS}
      LEFT JOIN ${names.events} AS kept ON kept.created_at > _since AND kept.tail = draft.tail
      LEFT JOIN ${names.liveEvents} AS open ON open.created_at > _since AND open.tail = draft.tail;
      FOR _draft IN
        SELECT found_at, tail, i::integer FROM ${DRAFTS} WHERE found_at IS NOT NULL
      LOOP
        SELECT attributes::text INTO _attributes
        FROM (
          SELECT created_at, tail, attributes FROM ${names.events}
          UNION ALL SELECT created_at, tail, attributes FROM ${names.liveEvents}
        ) AS visible
        WHERE created_at = _draft.found_at AND tail = _draft.tail;
        IF FOUND THEN
          _found[_draft.i] := _draft.found_at;
          stored[_draft.i] := _attributes;
        END IF;
      END LOOP;
`

/** After a search: marks what is kept now, and what was found with a mark. */
export const markStatement = (names: Names): string => `
      INSERT INTO ${names.takers} (tail, attempt)
      SELECT tail, _attempt FROM ${DRAFTS}
      WHERE times[i] IS NOT NULL AND (
        _found[i] IS NULL
        OR EXISTS (SELECT FROM ${names.takers} AS taker WHERE taker.tail = draft.tail)
      )
      ON CONFLICT DO NOTHING;
`
