import type { Names } from './names.js'

/*
 * The index of the attributes: segments, each of some events, that never change once they are
 * visible. Events that are in none yet are "sealed" into one, and several of one level are merged
 * into one of the next. All that is in any visible segment, has a time later than `sealed_to`, or
 * stands in `late`: these are all of the events at any moment.
 *
 * The chunks of a segment are numbered from 0: first the blocks of its times, in their order, then
 * the chunks of its lists in the order of `name`, `kind`, `first` and `ordinal`. Keys are bytes that
 * are in the order of the values (index/segment-keys.ts); that of a block is the time of its first event.
 * A chunk is about half a page, and not worth the work of packing it. It serves equality as well as the
 * index of terms did, which had to be kept up while events were recorded. The terms themselves stay: a row
 * is ruled out by them without its JSON being read.
 *
 * What stands in `late` became visible at its commit, and `transaction` tells a reader whether he
 * can have seen it: ids and times say nothing of the order of commits. That a live event is closed is
 * noted by a trigger, so that processes of earlier versions note it too; imports of theirs are not.
 */
export const migration4 = (names: Names): string => `
  DROP INDEX ${names.schema}.events_terms;
  CREATE TABLE ${names.indexState} (
    version bigint NOT NULL,
    sealed_to bigint NOT NULL,
    holder uuid,
    held_until timestamptz
  );
  INSERT INTO ${names.indexState} VALUES (0, -1, NULL, NULL);
  CREATE TABLE ${names.attributeNames} (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL
  );
  CREATE INDEX attribute_names_name ON ${names.attributeNames} USING hash (name);
  CREATE TABLE ${names.segments} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state smallint NOT NULL,
    level smallint NOT NULL,
    size integer NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL
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
    PRIMARY KEY (segment, number)
  ) WITH (toast_tuple_target = 8160);
  ALTER TABLE ${names.chunks}
    ALTER vals SET STORAGE EXTERNAL, ALTER posts SET STORAGE EXTERNAL, ALTER first SET STORAGE PLAIN;
  CREATE UNIQUE INDEX segment_chunks_key
    ON ${names.chunks} (segment, name, kind, first, ordinal);
  CREATE TABLE ${names.late} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at bigint NOT NULL,
    transaction xid8 NOT NULL DEFAULT pg_current_xact_id()
  );
  CREATE INDEX late_events_transaction ON ${names.late} (transaction);
  CREATE INDEX late_events_created_at ON ${names.late} (created_at);
  CREATE FUNCTION ${names.noteLate}() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $daybook$
  BEGIN
    INSERT INTO ${names.late} (created_at) VALUES (OLD.created_at);
    RETURN NULL;
  END
  $daybook$;
  CREATE TRIGGER live_events_late AFTER DELETE ON ${names.liveEvents}
    FOR EACH ROW EXECUTE FUNCTION ${names.noteLate}();
`
