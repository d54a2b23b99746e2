import type { Engine } from './engine.js'
import type { Names, Partitions } from './names.js'

/** The columns of an event that has no time yet. */
const DRAFT_COLUMNS = `
    suffix text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    username text COLLATE "C",
    source text COLLATE "C",
    system boolean NOT NULL,
    attributes json NOT NULL`

/*
 * `created_at`, in microseconds, is the primary key; the id consists of it and `suffix`, so ids need no
 * index. `suffix` holds the last 16 hexadecimal digits of the id, or the whole of an imported id that
 * does not contain the time; `foreign_ids` finds those. Text is compared by code point, whatever the
 * collation of the database. `checksum` is described in event-checksum.ts.
 */
const eventTables = (names: Names, partitions: Partitions): string => `
  CREATE TABLE ${names.events} (
    created_at bigint PRIMARY KEY,
    ${DRAFT_COLUMNS},
    checksum int4
  ) ${partitions === 'none' ? '' : 'PARTITION BY RANGE (created_at)'};
  CREATE TABLE ${names.foreignIds} (
    id text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL
  );
  CREATE INDEX foreign_ids_created_at ON ${names.foreignIds} (created_at);
  CREATE TABLE ${names.outbox} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ${DRAFT_COLUMNS},
    checksum int4,
    recorded_at bigint NOT NULL,
    occurred_at text,
    throttle_key text COLLATE "C",
    throttle_scope json,
    throttle_period bigint
  );
  CREATE TABLE ${names.voidAttempts} (
    id uuid PRIMARY KEY,
    voided_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE ${names.appendClaims} (
    suffix text COLLATE "C" NOT NULL,
    attempt uuid NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (suffix, attempt)
  );
  CREATE INDEX append_claims_claimed_at ON ${names.appendClaims} (claimed_at);
`

/*
 * `reported` is the count of suppressed events that the event of `stored_suffix` carries, so that
 * removing that event can restore the count.
 */
const throttleTables = (names: Names): string => `
  CREATE TABLE ${names.throttles} (
    key text COLLATE "C" PRIMARY KEY,
    type text COLLATE "C" NOT NULL,
    scope json NOT NULL,
    period bigint NOT NULL,
    stored_at bigint,
    stored_suffix text COLLATE "C",
    reported bigint NOT NULL DEFAULT 0,
    reported_first_at bigint,
    reported_last_at bigint,
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
`

const stateTable = (names: Names): string => `
  CREATE TABLE ${names.state} (
    key text COLLATE "C" PRIMARY KEY,
    value json NOT NULL,
    expires_at bigint
  );
  CREATE INDEX state_expires_at ON ${names.state} (expires_at) WHERE expires_at IS NOT NULL;
`

/*
 * An open live event has a row, and another one for each text that was appended to its attributes;
 * `base_revision` is the change that wrote the attributes. Closing the event removes them.
 */
const liveTables = (names: Names): string => `
  CREATE TABLE ${names.liveEvents} (
    created_at bigint PRIMARY KEY,
    ${DRAFT_COLUMNS},
    revision bigint NOT NULL DEFAULT 0,
    base_revision bigint NOT NULL DEFAULT 0,
    heartbeats bigint NOT NULL DEFAULT 0
  );
  CREATE TABLE ${names.liveTexts} (
    created_at bigint NOT NULL REFERENCES ${names.liveEvents} ON DELETE CASCADE,
    revision bigint NOT NULL,
    position integer NOT NULL,
    key text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    replaces boolean NOT NULL,
    PRIMARY KEY (created_at, revision, position)
  );
`

/*
 * The index of the attributes consists of segments, each of which indexes some events and never
 * changes once it is visible. Events that are in no segment yet are sealed into one, and several
 * segments of one level are merged into one of the next. At any moment the events are those in a
 * visible segment, those later than `sealed_to`, and those in `late_events`.
 *
 * The chunks of a segment are numbered from 0: first the blocks of its times, in their order, then
 * the chunks of its lists in the order of `name`, `kind`, `first` and `ordinal`. Keys are bytes that
 * sort as the values do (index/segment-keys.ts); the key of a block is the time of its first event.
 * A chunk is about half a page. Postgres compresses it within its row, and does not move it out of line.
 *
 * Segments and chunks have checksums (index/checksums.ts). `removed` counts the events that were removed by
 * their ids. A segment has the value of that count at the time it was built: if the count is still the same, an
 * event of the segment without a row is missing, not removed. `removed_events` has the times of those that a segment
 * may have, see src/store-kit/maintenance/removed-events.ts.
 *
 * `names` is the number of a segment's last name. Names of attributes are read as a whole, so their table has no
 * index that could be damaged. A name without a text was lost: only segments that are built anew had its number.
 *
 * A row of `late_events` becomes visible with its commit; `transaction` shows a reader whether its
 * snapshot includes it, as ids and times do not follow the order of commits.
 */
const indexTables = (names: Names, engine: Engine): string => `
  CREATE TABLE ${names.indexState} (
    version bigint NOT NULL,
    sealed_to bigint NOT NULL,
    removed bigint NOT NULL DEFAULT 0,
    removed_before bigint NOT NULL DEFAULT 0,
    newest_removed bigint NOT NULL DEFAULT 0,
    rebuild boolean NOT NULL DEFAULT false,
    holder uuid,
    held_until timestamptz
  );
  INSERT INTO ${names.indexState} (version, sealed_to) VALUES (0, -1);
  CREATE TABLE ${names.attributeNames} (
    id integer NOT NULL,
    name text COLLATE "C",
    checksum bigint NOT NULL
  );
  CREATE TABLE ${names.segments} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state smallint NOT NULL,
    level smallint NOT NULL,
    size integer NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    partial smallint NOT NULL,
    removed bigint NOT NULL,
    digest bigint NOT NULL,
    starts bigint NOT NULL,
    names integer NOT NULL DEFAULT 0,
    chunks integer NOT NULL DEFAULT 0,
    checksum bigint NOT NULL DEFAULT 0
  );
  CREATE TABLE ${names.chunks} (
    segment bigint NOT NULL,
    number integer NOT NULL,
    name integer NOT NULL,
    kind smallint NOT NULL,
    first bytea NOT NULL,
    ordinal integer NOT NULL,
    vals text COLLATE "C" NOT NULL,
    posts bytea NOT NULL,
    checksum integer NOT NULL,
    PRIMARY KEY (segment, number)
  ) WITH (toast_tuple_target = 2032);
  ALTER TABLE ${names.chunks}
    ALTER vals SET STORAGE MAIN, ALTER posts SET STORAGE MAIN, ALTER first SET STORAGE PLAIN;
  CREATE UNIQUE INDEX segment_chunks_key
    ON ${names.chunks} (segment, name, kind, first, ordinal);
  CREATE TABLE ${names.late} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at bigint NOT NULL,
    transaction xid8 NOT NULL DEFAULT ${engine.transactionId(names)}
  );
  CREATE INDEX late_events_transaction ON ${names.late} (transaction);
  CREATE INDEX late_events_created_at ON ${names.late} (created_at);
  CREATE TABLE ${names.removed} (
    created_at bigint PRIMARY KEY,
    removed bigint NOT NULL
  );
`

export const tables = (names: Names, partitions: Partitions, engine: Engine): string =>
  eventTables(names, partitions) +
  throttleTables(names) +
  stateTable(names) +
  liveTables(names) +
  indexTables(names, engine)
