import { claimFunction } from './append-function.js'
import type { Names } from './names.js'

/*
 * Beside what a throttle has suppressed since its last event stands what that event has told, for
 * the case that it is taken back: `kept_tail` says which it is.
 *
 * A live event that is open is a row of its own, and each text that was added to its attributes one
 * more: `base_revision` is the change that its attributes are from. Both go when it is closed.
 */
const tables = (names: Names): string => `
  CREATE TABLE ${names.throttles} (
    key text COLLATE "C" PRIMARY KEY,
    type text COLLATE "C" NOT NULL,
    scope json NOT NULL,
    period bigint NOT NULL,
    kept_at bigint,
    kept_tail text COLLATE "C",
    told bigint NOT NULL DEFAULT 0,
    told_first bigint,
    told_last bigint,
    suppressed bigint NOT NULL DEFAULT 0,
    first_at bigint,
    last_at bigint
  );
  CREATE INDEX throttles_suppressed ON ${names.throttles} (last_at) WHERE suppressed > 0;
  CREATE TABLE ${names.reporters} (
    id text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL,
    reported_at bigint NOT NULL
  );
  CREATE TABLE ${names.state} (
    key text COLLATE "C" PRIMARY KEY,
    value json NOT NULL
  );
  CREATE TABLE ${names.liveEvents} (
    created_at bigint PRIMARY KEY,
    tail text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    username text COLLATE "C",
    source text COLLATE "C",
    system boolean NOT NULL,
    attributes json NOT NULL,
    revision bigint NOT NULL DEFAULT 0,
    base_revision bigint NOT NULL DEFAULT 0,
    beats bigint NOT NULL DEFAULT 0
  );
  CREATE TABLE ${names.liveTexts} (
    created_at bigint NOT NULL REFERENCES ${names.liveEvents} ON DELETE CASCADE,
    revision bigint NOT NULL,
    place integer NOT NULL,
    key text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    replaces boolean NOT NULL,
    PRIMARY KEY (created_at, revision, place)
  );
  ALTER TABLE ${names.outbox}
    ADD throttle_key text COLLATE "C", ADD throttle_scope json, ADD throttle_period bigint;
`

/**
 * Throttles, live events and shared state. The function by which version 1 appends stays, for the
 * processes of that version which have not been replaced yet; that of this version is made by
 * `migration6`.
 */
export const migration2 = (names: Names): string => tables(names) + claimFunction(names)
