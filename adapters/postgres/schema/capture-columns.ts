import { MAX_CAPTURED_BYTES } from '../../../src/store-kit/capture.js'
import { ALL_SETTINGS, MARK, SEARCH_PATH, setting, textArray } from './capture-sql.js'
import { FIRST_HOST_TYPE } from './capture-values.js'
import type { Names } from './names.js'

const MAX_KEY_BYTES = 65_536

/** Types that `to_json` converts as events show them. */
const JSON_TYPES =
  'bool int2 int4 text varchar bpchar uuid date timestamp timestamptz float4 float8'

export const codeFunctions = ({ capture }: Names): string => `
  -- SQL for the columns of the rows _old and _new: JSON members, of the old row only those that are not the _same as _after; the
  -- comparison of both rows, column by column; the members of the key; and the bytes that the rows take at least.
  CREATE OR REPLACE FUNCTION ${capture.code}(
    _relation oid, _key text[], _excluded text[], _old text, _new text,
    OUT names text[], OUT kinds text[], OUT same text,
    OUT old text, OUT new text, OUT old_key text, OUT new_key text, OUT old_size text, OUT new_size text
  ) LANGUAGE plpgsql STABLE AS $daybook$
  DECLARE
    _rows text[] := ARRAY[_old, _new];
    _column record;
    _ref text;
    _at int;
    _is_secret boolean;
    _member text;
    _i int := 0;
    _same text[] := '{}';
    -- Of both rows.
    _members text[] := '{}';
    _keys text[] := ARRAY(SELECT quote_literal(to_json(part)::text || ':null') FROM unnest(_key) AS part);
    _sizes text[] := '{}';
    _all_keys text[] := _keys || _keys;
  BEGIN
    names := '{}';
    kinds := '{}';
    FOR _column IN
      SELECT attname::text AS name, atttypid AS type, attlen, of.typname, of.typtype, of.oid >= ${FIRST_HOST_TYPE} AS is_host,
        (SELECT element.typname FROM ${capture.base}(of.typelem) AS element
         WHERE of.typcategory = 'A' AND element.oid < ${FIRST_HOST_TYPE}) AS element
      FROM pg_attribute
      JOIN pg_type AS declared ON declared.oid = atttypid
      JOIN pg_type AS of ON of.oid = CASE declared.typtype WHEN 'd' THEN (${capture.base}(atttypid)).oid ELSE atttypid END
      WHERE attrelid = _relation AND attnum > 0 AND NOT attisdropped AND attgenerated <> 'v' AND attname::text NOT IN (SELECT unnest(_excluded))
      ORDER BY attnum
    LOOP
      _i := _i + 1;
      _at := array_position(_key, _column.name);
      _is_secret := _at IS NULL AND ${capture.isSecret}(_column.name);
      names[_i] := _column.name;
      kinds[_i] := CASE WHEN _column.typtype = 'e' THEN 'enum' WHEN _column.element = 'bytea' THEN 'other'
        WHEN _column.element IS NOT NULL THEN _column.element WHEN _column.is_host THEN 'other' ELSE _column.typname END;
      -- Compares the bytes, also of types without operators.
      _same[_i] := format('ROW(%1$s.%3$I)::record *= ROW(%2$s.%3$I)::record', _old, _new, _column.name);
      FOR _row IN 1 .. 2 LOOP
        _ref := format('%s.%I', _rows[_row], _column.name);
        _member := CASE WHEN NOT _is_secret AND NOT _column.is_host AND _column.typname = ANY (${textArray(JSON_TYPES.split(' '))})
          THEN format('%L || coalesce(to_json(%s)::text, ''null'')', to_json(_column.name)::text || ':', _ref)
          ELSE ${capture.value}(_column.name, _column.type, _ref, _is_secret, 0) END;
        IF _at IS NOT NULL THEN
          _all_keys[_at + (_row - 1) * cardinality(_key)] := format('split_part(%s, %L, 1)', CASE WHEN _column.attlen = -1
            THEN format('CASE WHEN pg_column_size(%1$s) > ${MAX_KEY_BYTES} THEN %2$L || pg_column_size(%1$s) || ''}'' ELSE %3$s END',
              _ref, to_json(_column.name)::text || ':{"bytes":', _member)
            ELSE _member END, ${MARK});
        END IF;
        _members[2 * _i + _row - 2] := CASE _row
          WHEN 1 THEN format('CASE WHEN rows._same[%1$s] THEN rows._after[%1$s] ELSE %2$s END', _i, _member) ELSE _member END;
        _sizes[2 * _i + _row - 2] := CASE WHEN _column.attlen <> -1 OR _is_secret OR _column.typname = 'bytea' THEN '0'
          ELSE format('coalesce(%s(%s), 0)', CASE WHEN _column.typname IN ('text', 'varchar', 'bpchar', 'varbit')
            AND NOT _column.is_host THEN 'octet_length' ELSE 'pg_column_size' END, _ref) END;
      END LOOP;
    END LOOP;
    same := format('ARRAY[%s]::boolean[]', array_to_string(_same, ', '));
    SELECT format('ARRAY[%s]::text[]', string_agg(text, ', ' ORDER BY i) FILTER (WHERE i % 2 = 1)),
      format('ARRAY[%s]::text[]', string_agg(text, ', ' ORDER BY i) FILTER (WHERE i % 2 = 0))
    INTO old, new FROM unnest(_members) WITH ORDINALITY AS of(text, i);
    SELECT '0::bigint' || coalesce(string_agg(' + ' || text, '') FILTER (WHERE i % 2 = 1), ''),
      '0::bigint' || coalesce(string_agg(' + ' || text, '') FILTER (WHERE i % 2 = 0), '')
    INTO old_size, new_size FROM unnest(_sizes) WITH ORDINALITY AS of(text, i) WHERE text <> '0';
    old_key := format('ARRAY[%s]::text[]', array_to_string(_all_keys[:cardinality(_key)], ', '));
    new_key := format('ARRAY[%s]::text[]', array_to_string(_all_keys[cardinality(_key) + 1:], ', '));
  END
  $daybook$;

  -- What the trigger function computes from its rows, by code that is made for the columns as they are now. There is only one row
  -- of an INSERT or DELETE, which is given as both.
  CREATE OR REPLACE FUNCTION ${capture.stale}(
    _relation oid, _old record, _new record, _key_columns text[], _excluded text[],
    OUT _names text[], OUT _same boolean[], OUT _key text[], OUT _previous text[], OUT _size bigint,
    OUT _after text[], OUT _before text[]
  ) LANGUAGE plpgsql ${[SEARCH_PATH, ...ALL_SETTINGS.map(setting)].join(' ')} AS $daybook$
  DECLARE
    _code record := ${capture.code}(_relation, _key_columns, _excluded, '($1)', '($2)');
  BEGIN
    _names := _code.names;
    EXECUTE format(
      'SELECT compared.*, rows._after, CASE WHEN compared._size <= ${MAX_CAPTURED_BYTES} THEN %s END
      FROM (SELECT %s, %s, %s, greatest(%s, %s) OFFSET 0) AS compared(_same, _key, _previous, _size),
      LATERAL (
        SELECT compared._same, CASE WHEN compared._size <= ${MAX_CAPTURED_BYTES} THEN %s END OFFSET 0
      ) AS rows(_same, _after)',
      _code.old, _code.same, _code.new_key, _code.old_key, _code.new_size, _code.old_size, _code.new
    ) INTO _same, _key, _previous, _size, _after, _before USING _old, _new;
  END
  $daybook$;
`

/** SQL that differs for any two states of the columns of a table and of its types of rows, or of the named columns. */
export const structureOf = (
  relation: string,
  rowTypes: readonly string[],
  columns?: readonly string[],
): string => {
  const isOne = columns
    ? `(attname::text = ANY (${textArray(columns)}) OR attrelid <> ${relation})`
    : 'true'
  return `(
  SELECT sum(hashnameextended(attname, atttypid::bigint)) FROM pg_catalog.pg_attribute
  WHERE attrelid = ANY (ARRAY[${[relation, ...rowTypes].join(', ')}]::oid[]) AND attnum > 0 AND NOT attisdropped AND ${isOne}
)`
}

/** SQL for the columns of a table. */
export interface ColumnCode {
  /** The columns that the function `code` returns for the rows OLD and NEW. */
  readonly names: readonly string[]
  readonly kinds: readonly string[]
  readonly same: string
  readonly old: string
  readonly new: string
  readonly old_key: string
  readonly new_key: string
  readonly old_size: string
  readonly new_size: string
  /** The ids of the types of rows within the rows. */
  readonly rowTypes: readonly string[]
  /** The values of `structureOf` for all columns, and for those that are captured. */
  readonly structure: string
  readonly known: string
}
