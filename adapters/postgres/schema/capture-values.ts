import { literal, MARK, MAX_POINTERS, pointerTo, REDACTED_JSON } from './capture-sql.js'
import type { Names } from './names.js'

/** Types with lower ids come with Postgres, so they have no casts and operators of the host. */
export const FIRST_HOST_TYPE = 16_384
/** Levels of rows in rows. */
const MAX_ROW_DEPTH = 8

/** SQL for an expression that shows the size of a value. */
const SIZE_OF_REF = `format(${literal(`'{"bytes":' || pg_column_size(%s) || '}' || ${MARK}`)}, _ref)`

export const liftFunctions = ({ capture }: Names): string => `
  -- Moves what follows the marks of members to the list of pointers, below the name or the index of the member.
  CREATE OR REPLACE FUNCTION ${capture.lift}(INOUT _members text[], _names text[], OUT _pointers text[])
  LANGUAGE plpgsql IMMUTABLE AS $daybook$
  DECLARE
    _parts text[];
  BEGIN
    _pointers := '{}';
    FOR _i IN 1 .. coalesce(cardinality(_members), 0) LOOP
      IF strpos(_members[_i], ${MARK}) > 0 THEN
        _parts := string_to_array(_members[_i], ${MARK});
        _members[_i] := _parts[1];
        FOR _n IN 2 .. cardinality(_parts) LOOP
          EXIT WHEN cardinality(_pointers) >= ${MAX_POINTERS};
          _pointers := _pointers || (${pointerTo('coalesce(_names[_i], (_i - 1)::text)')} || _parts[_n]);
        END LOOP;
      END IF;
    END LOOP;
  END
  $daybook$;

  -- JSON text of an object, or of an array if there are no names, with the pointers to what is not as in the table.
  CREATE OR REPLACE FUNCTION ${capture.join}(_members text[], _names text[]) RETURNS text
  LANGUAGE sql IMMUTABLE AS $daybook$
    SELECT array_to_string(CASE WHEN _names IS NULL THEN '[' || list || ']' ELSE '{' || list || '}' END || lifted._pointers, ${MARK})
    FROM ${capture.lift}(_members, _names) AS lifted, array_to_string(lifted._members, ',') AS list
  $daybook$;
`

export const statesFunction = ({ capture }: Names): string => `
  -- The attributes before, after and changes from the members of the rows, and the pointers to what in the rows is not as
  -- in the table.
  CREATE OR REPLACE FUNCTION ${capture.states}(
    _names text[], _same boolean[], _before text[], _after text[], OUT _states text, OUT _pointers text[]
  ) LANGUAGE plpgsql IMMUTABLE AS $daybook$
  DECLARE
    _of text[];
    _start int;
    _changes text[] := '{}';
  BEGIN
    _pointers := '{}';
    _states := coalesce(',"before":{' || array_to_string(_before, ',') || '}', '')
      || coalesce(',"after":{' || array_to_string(_after, ',') || '}', '');
    IF strpos(_states, ${MARK}) > 0 THEN
      SELECT lifted._members, lifted._pointers INTO _before, _pointers FROM ${capture.lift}(_before, _names) AS lifted;
      SELECT lifted._members, lifted._pointers INTO _after, _of FROM ${capture.lift}(_after, _names) AS lifted;
      _pointers := ARRAY(
        SELECT '/before' || pointer FROM unnest(_pointers) AS pointer UNION ALL SELECT '/after' || pointer FROM unnest(_of) AS pointer
      );
      _states := coalesce(',"before":{' || array_to_string(_before, ',') || '}', '')
        || coalesce(',"after":{' || array_to_string(_after, ',') || '}', '');
    END IF;
    IF _before IS NULL OR _after IS NULL THEN RETURN; END IF;
    FOR _i IN 1 .. cardinality(_same) LOOP
      IF NOT _same[_i] THEN
        _start := length(to_json(_names[_i])::text) + 2;
        _changes := _changes || ('{"op":"replace","path":' || to_json(${pointerTo('_names[_i]')})::text
          || ',"value":' || substr(_after[_i], _start) || ',"old_value":' || substr(_before[_i], _start) || '}');
      END IF;
    END LOOP;
    _states := _states || ',"changes":[' || array_to_string(_changes, ',') || ']';
  END
  $daybook$;
`

export const valueFunctions = ({ capture }: Names): string => `
  -- The type that a domain is made from.
  CREATE OR REPLACE FUNCTION ${capture.base}(_type oid) RETURNS pg_catalog.pg_type
  LANGUAGE plpgsql STABLE STRICT AS $daybook$
  DECLARE
    _of pg_catalog.pg_type;
  BEGIN
    LOOP
      SELECT * INTO _of FROM pg_catalog.pg_type WHERE oid = _type;
      EXIT WHEN _of.typtype IS DISTINCT FROM 'd';
      _type := _of.typbasetype;
    END LOOP;
    RETURN _of;
  END
  $daybook$;

  -- SQL for the JSON text of a value that is not null. Rows are converted member by member, because bytes and secrets may be in
  -- them. What can be shown neither as JSON nor as text is shown as its size.
  CREATE OR REPLACE FUNCTION ${capture.shown}(_type oid, _ref text, _depth int) RETURNS text
  LANGUAGE plpgsql STABLE STRICT AS $daybook$
  DECLARE
    _of pg_catalog.pg_type := ${capture.base}(_type);
    _element pg_catalog.pg_type;
    _is_host boolean := _of.oid >= ${FIRST_HOST_TYPE};
    _i text := '_i' || _depth;
    _size text := ${SIZE_OF_REF};
    -- Arguments of any type are converted by the output function of their type.
    _as_text text := format('to_json(concat(%s))::text', _ref);
    _as_json text := format('to_json(%s)::text', _ref);
  BEGIN
    IF _depth > ${MAX_ROW_DEPTH} THEN RETURN _size; END IF;
    IF _of.typtype = 'c' THEN
      RETURN (
        SELECT format(
          '%s(ARRAY[%s]::text[], %L::text[])', ${literal(capture.join)},
          string_agg(${capture.value}(attname, atttypid, format('(%s).%I', _ref, attname), ${capture.isSecret}(attname), _depth + 1), ', ' ORDER BY attnum),
          coalesce(array_agg(attname ORDER BY attnum), '{}')
        )
        FROM pg_attribute WHERE attrelid = _of.typrelid AND attnum > 0 AND NOT attisdropped
      );
    ELSIF _of.typcategory = 'A' AND _of.typelem <> 0 THEN
      _element := ${capture.base}(_of.typelem);
      IF _element.typtype = 'c' THEN
        RETURN format(
          'CASE coalesce(array_ndims(%1$s), 0) WHEN 0 THEN ''[]'' WHEN 1 THEN %2$s(ARRAY(
            SELECT %3$s FROM generate_subscripts(%1$s, 1) AS %4$s ORDER BY %4$s
          ), NULL) ELSE %5$s END',
          _ref, ${literal(capture.join)}, ${capture.value}(NULL, _of.typelem, format('(%s)[%s]', _ref, _i), false, _depth + 1), _i, _size
        );
      ELSIF _element.oid >= ${FIRST_HOST_TYPE} THEN
        -- The text of an array can be read without the type of its elements.
        RETURN CASE WHEN _element.typtype IN ('b', 'e') AND _element.typdelim = ','
          THEN format('to_json(concat(%s)::text[])::text', _ref) ELSE _size END;
      END IF;
      RETURN CASE WHEN _element.typname IN ('bytea', 'int8', 'numeric', 'json', 'jsonb')
        THEN format('%s(%s, %L)', ${literal(capture.json)}, _as_json, _element.typname = 'bytea') ELSE _as_json END;
    ELSIF _of.typtype IN ('r', 'm') AND _is_host THEN
      SELECT pg_type.* INTO _element FROM pg_range JOIN pg_type ON pg_type.oid = (${capture.base}(rngsubtype)).oid
      WHERE _of.oid IN (rngtypid, rngmultitypid);
      RETURN CASE WHEN _element.typtype IN ('b', 'e') AND _element.typcategory <> 'A' AND _element.typname <> 'bytea'
        THEN _as_text ELSE _size END;
    ELSIF _is_host THEN
      RETURN CASE WHEN _of.typtype IN ('b', 'e') THEN _as_text ELSE _size END;
    END IF;
    RETURN CASE
      WHEN _of.typname = 'bytea' THEN format(${literal(`'{"bytes":' || octet_length(%s) || '}'`)}, _ref)
      WHEN _of.typname IN ('json', 'jsonb') THEN format('%s(concat(%s), false)', ${literal(capture.json)}, _ref)
      WHEN _of.typname = 'int8' THEN format(
        'CASE WHEN %1$s BETWEEN -${Number.MAX_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER} THEN concat(%1$s) ELSE %2$s(concat(%1$s)) END',
        _ref, ${literal(capture.number)})
      WHEN _of.typname = 'numeric' THEN format(
        'CASE WHEN abs(%1$s) < 1000000000 AND scale(%1$s) <= 6 THEN concat(%1$s) ELSE %2$s(concat(%1$s)) END',
        _ref, ${literal(capture.number)})
      ELSE _as_json
    END;
  END
  $daybook$;

  -- SQL for a member of a JSON object, or for an element of an array if there is no name.
  CREATE OR REPLACE FUNCTION ${capture.value}(_name text, _type oid, _ref text, _is_secret boolean, _depth int) RETURNS text
  LANGUAGE plpgsql STABLE AS $daybook$
  BEGIN
    RETURN coalesce(quote_literal(to_json(_name)::text || ':') || ' || ', '') || format(
      'CASE WHEN %s IS DISTINCT FROM NULL THEN %s ELSE ''null'' END', _ref,
      CASE WHEN _is_secret THEN ${literal(REDACTED_JSON)} ELSE ${capture.shown}(_type, _ref, _depth) END
    );
  END
  $daybook$;
`
