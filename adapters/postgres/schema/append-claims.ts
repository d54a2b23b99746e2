import { hasLedgerSql } from './ledger.js'
import type { Names } from './names.js'
import { countRemovedSql, noteNewestRemovedSql, noteRemovedSql } from './removed-events.js'

/** The drafts with their positions, from 1. */
export const DRAFT_ROWS_SQL = `unnest(_drafts) WITH ORDINALITY
      AS draft(found_at, suffix, type, username, source, system, attributes, checksum, i)`

/** Maximum number of expired claims that one append deletes; more than it adds. */
const MAX_EXPIRED = 1000

/*
 * Calls with one idempotency key give drafts the same suffix in several processes, so an event that one
 * process reports as not stored may be one that another process acknowledges. Each attempt that searches
 * therefore claims the events that it has stored or found. A process that rejects an event deletes the
 * claims of its lost attempts, and the event is removed with its last claim. All this happens within
 * the lock, so that no process finds an event that is being removed. A claim belongs to the attempt, not to
 * the process, which may have acknowledged the event before.
 *
 * A claim expires after a day, which is longer than a process waits for an answer. An event without
 * claims was settled by then: it gets no new ones, and a process without a claim on an event that
 * others may have stored does not remove it.
 *
 * In a log with a ledger every visible event stays: the process that seals may have read it, although its leaf is not stored
 * yet. There such a call rejects with OUTCOME_UNKNOWN.
 */

/**
 * The part of `append` that recovers from lost attempts: voids them, removes rejected events, and
 * searches for drafts that an attempt has stored.
 */
export const recoverStatements = (names: Names): string => `
      DELETE FROM ${names.voidAttempts} WHERE voided_at < now() - interval '1 day';
      INSERT INTO ${names.voidAttempts} (id) SELECT unnest(_void) ON CONFLICT DO NOTHING;
      DELETE FROM ${names.appendClaims} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${names.appendClaims} WHERE claimed_at < now() - interval '1 day'
        ORDER BY claimed_at LIMIT ${MAX_EXPIRED}
      ));
      IF ${hasLedgerSql(names)} THEN
        _reject := '{}';
      END IF;
      IF cardinality(_reject) > 0 THEN
        WITH withdrawn AS (
          DELETE FROM ${names.appendClaims} WHERE suffix = ANY (_reject) AND attempt = ANY (_void)
          RETURNING suffix
        )
        SELECT array_agg(rejected.suffix) INTO _reject
        FROM unnest(_reject) AS rejected(suffix)
        WHERE (rejected.suffix <> ALL (_shared) OR rejected.suffix IN (SELECT suffix FROM withdrawn))
          AND NOT EXISTS (
            SELECT FROM ${names.appendClaims} AS claim
            WHERE claim.suffix = rejected.suffix AND claim.attempt <> ALL (_void)
          );
      END IF;
      IF cardinality(_reject) > 0 THEN
        WITH deleted AS (
          DELETE FROM ${names.events} WHERE created_at > _since AND suffix = ANY (_reject)
          RETURNING created_at
        ), counted AS (${countRemovedSql(names)})
        ${noteRemovedSql(names)};
        WITH deleted AS (
          DELETE FROM ${names.liveEvents} WHERE created_at > _since AND suffix = ANY (_reject)
          RETURNING created_at
        ) ${noteNewestRemovedSql(names)};
        PERFORM ${names.lock('throttles')};
        UPDATE ${names.throttles} SET
          stored_at = NULL, stored_suffix = NULL, suppressed = suppressed + reported,
          first_at = least(first_at, reported_first_at),
          last_at = greatest(last_at, reported_last_at)
        WHERE stored_suffix = ANY (_reject);
      END IF;
      SELECT
        array_agg(coalesce(kept.created_at, open.created_at) ORDER BY draft.i),
        array_agg(coalesce(kept.attributes, open.attributes)::text ORDER BY draft.i)
      INTO _found, stored
      FROM ${DRAFT_ROWS_SQL}
      LEFT JOIN ${names.events} AS kept ON kept.created_at > _since AND kept.suffix = draft.suffix
      LEFT JOIN ${names.liveEvents} AS open ON open.created_at > _since AND open.suffix = draft.suffix;
      FOR _draft IN
        SELECT found_at, suffix, i::integer FROM ${DRAFT_ROWS_SQL} WHERE found_at IS NOT NULL
      LOOP
        SELECT attributes::text INTO _attributes
        FROM (
          SELECT created_at, suffix, attributes FROM ${names.events}
          UNION ALL SELECT created_at, suffix, attributes FROM ${names.liveEvents}
        ) AS visible
        WHERE created_at = _draft.found_at AND suffix = _draft.suffix;
        IF FOUND THEN
          _found[_draft.i] := _draft.found_at;
          stored[_draft.i] := _attributes;
        END IF;
      END LOOP;
`

/** After a search: claims the events that were stored now, and those found that others claim. */
export const claimStatement = (names: Names): string => `
      _claimed := ARRAY(SELECT suffix FROM ${DRAFT_ROWS_SQL} WHERE _found[i] IS NOT NULL);
      _claimed := ARRAY(SELECT suffix FROM ${names.appendClaims} WHERE suffix = ANY (_claimed));
      INSERT INTO ${names.appendClaims} (suffix, attempt)
      SELECT suffix, _attempt FROM ${DRAFT_ROWS_SQL}
      WHERE times[i] IS NOT NULL AND (_found[i] IS NULL OR suffix = ANY (_claimed))
      ON CONFLICT DO NOTHING;
`
