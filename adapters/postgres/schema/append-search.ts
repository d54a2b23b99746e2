import type { Names } from './names.js'

/** The drafts with their places, from 1. */
export const DRAFTS = `unnest(_rows) WITH ORDINALITY
      AS draft(found_at, tail, type, username, source, system, attributes, terms, i)`

/** Most marks that one append lets go of: more than it makes. */
const MAX_TIDIED = 1000

/** Marks what was found without a mark, which somebody had kept who makes none. */
const SOMEBODY = '00000000-0000-0000-0000-000000000000'

/*
 * Calls with one idempotency key bring the same tail from several processes, so what one of them was
 * told is not kept may be what another one answers for. Whoever searches leaves a mark at what he has
 * kept or found, and takes back the marks of his attempts that got lost where he forgets: the event goes
 * with the last of them. All this is within the lock, so that nobody finds what is just being removed.
 * The mark is the attempt's and not the process's, which may have answered for the event before.
 *
 * A mark stands for longer than a process can be expected to be at a loss. What was kept by a process
 * of an earlier version, or longer ago, has none; so who finds it leaves two, of which he takes back his own.
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
        DELETE FROM ${names.takers} WHERE tail = ANY (_forget) AND attempt = ANY (_void);
        _forget := ARRAY(
          SELECT forgotten.tail FROM unnest(_forget) AS forgotten(tail)
          WHERE NOT EXISTS (SELECT FROM ${names.takers} AS taker WHERE taker.tail = forgotten.tail)
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
          INSERT INTO ${names.takers} (tail, attempt)
          SELECT _draft.tail, '${SOMEBODY}'
          WHERE NOT EXISTS (SELECT FROM ${names.takers} WHERE tail = _draft.tail);
        END IF;
      END LOOP;
`

/** Where it has searched: marks what is kept now. */
export const markStatement = (names: Names): string => `
      INSERT INTO ${names.takers} (tail, attempt)
      SELECT tail, _attempt FROM ${DRAFTS} WHERE times[i] IS NOT NULL
      ON CONFLICT DO NOTHING;
`
