import { PAIRS, REDACTED, SENSITIVE_KEYS } from '../../../src/event/secrets.js'
import {
  ACTOR_ATTRIBUTES,
  type CapturePlan,
  type KeySource,
  captureType,
  MAX_ACTOR_CHARACTERS,
  MAX_CAPTURED_BYTES,
} from '../../../src/store-kit/capture.js'
import type { Names } from './names.js'

/*
 * Functions of the triggers that put the changed rows of a table into the outbox. They run with the rights of their
 * owner, as a role that writes to the table may have none on the log. So they call only functions of the system and of
 * the log: values are compared by their bytes and converted by the output functions of their types. Casts and operators
 * of the host, which roles without privileges can create, are not called.
 *
 * The expressions for the columns are made once, by `code`. If the columns have changed since, `stale` makes them
 * anew for each row, so that no such change breaks a write.
 */

/** Values of settings that the text of values depends on. */
const OUTPUT_SETTINGS = {
  timezone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  lc_monetary: 'C',
  array_nulls: 'on',
} as const

type OutputSetting = keyof typeof OUTPUT_SETTINGS

/** Types whose values depend on no setting. */
const PLAIN_TYPES =
  'bool int2 int4 int8 numeric text varchar bpchar name uuid json jsonb bytea date time timestamp enum'

/** The settings that the values of a type depend on; of other types all. Each takes time for each row. */
const SETTINGS_OF: Readonly<Record<string, readonly OutputSetting[]>> = {
  ...Object.fromEntries(PLAIN_TYPES.split(' ').map((kind) => [kind, []])),
  timestamptz: ['timezone'],
  float4: ['extra_float_digits'],
  float8: ['extra_float_digits'],
  interval: ['IntervalStyle'],
}

const SEARCH_PATH = 'SET search_path = pg_catalog, pg_temp'

const setting = (name: OutputSetting): string => `SET ${name} = '${OUTPUT_SETTINGS[name]}'`

const ALL_SETTINGS = Object.keys(OUTPUT_SETTINGS) as OutputSetting[]

const settingsFor = (kinds: readonly string[]): string => {
  const needed = new Set(kinds.flatMap((kind) => SETTINGS_OF[kind] ?? ALL_SETTINGS))
  return [SEARCH_PATH, ...[...needed].map(setting)].join(' ')
}

/** A literal that means the same whatever `standard_conforming_strings` is, and does not end a function's body. */
const literal = (text: string): string =>
  `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('$', '\\x24')}'`

const textArray = (texts: readonly string[]): string =>
  `ARRAY[${texts.map(literal).join(', ')}]::text[]`

/** Levels of a JSON value that fit into the 64 of an event, within `changes`. */
const MAX_JSON_DEPTH = 60
/** Different keys of a JSON value whose values are or may be secret. */
const MAX_HIDDEN_KEYS = 1000
const MAX_KEY_BYTES = 65_536
const MAX_SETTING_BYTES = 65_536
const MAX_POINTERS = 50
const MAX_POINTER_LENGTH = 120

/**
 * Separates the JSON text of a value from the pointers to what in it is not as in the table. JSON text does not contain it
 * unescaped.
 */
const MARK = "E'\\x01'"

const REDACTED_JSON = literal(JSON.stringify(REDACTED))

/** SQL for a JSON Pointer to a member. */
const pointerTo = (name: string): string => `'/' || replace(replace(${name}, '~', '~0'), '/', '~1')`

/**
 * Expressions for some alternatives each. Most keys match none, also without lookaheads, and Postgres tests that faster and without
 * allocating half a megabyte for each key.
 */
function inParts(source: string, size = 8): readonly string[] {
  const alternatives = ['']
  let depth = 0
  for (const character of source) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (character === '|' && depth === 0) alternatives.push('')
    else alternatives[alternatives.length - 1] += character
  }
  return alternatives.flatMap((_, i) =>
    i % size === 0 ? [alternatives.slice(i, i + size).join('|')] : [],
  )
}

const isSecretFunction = ({ capture }: Names): string => {
  const { letters, words, whole, not, scripts, joins, accents, barred } = SENSITIVE_KEYS
  const loose = inParts(letters.replaceAll(/\(\?![^()]*\)/g, ''))
    .map((part) => `_letters ~ ${literal(part)}`)
    .join(' OR ')
  return `
  -- The rule of isSensitive in JavaScript. In the collation "C" all letters but those of ASCII have no case.
  CREATE OR REPLACE FUNCTION ${capture.isSecret}(_key text) RETURNS boolean
  LANGUAGE plpgsql IMMUTABLE STRICT AS $daybook$
  DECLARE
    _folded text COLLATE "C" := _key;
    _words text COLLATE "C";
    _letters text COLLATE "C";
    _is_ascii boolean := octet_length(_key) = length(_key);
  BEGIN
    IF NOT _is_ascii THEN
      _folded := translate(
        regexp_replace(normalize(_key, NFKD), ${literal(accents)}, '', 'g'), ${barred.map(literal).join(', ')}
      );
    END IF;
    _words := _folded;
    IF _words ~ '[^a-z0-9_]' THEN
      _words := regexp_replace(_words, '([a-z0-9])([A-Z])', ${literal('\\1_\\2')}, 'g');
      _words := regexp_replace(lower(_words), '[^a-z0-9]', '_', 'g');
    END IF;
    _letters := regexp_replace(_words, '[^a-z]', '', 'g');
    RETURN (
      ((${loose}) AND _letters ~ ${literal(letters)})
        OR _words ~ ${literal(words)}
        OR replace(_words, '_', '') = ANY (${textArray(whole)})
        OR NOT _is_ascii AND regexp_replace(_folded, ${literal(joins)}, '', 'g') ~ ${literal(scripts)}
    ) AND NOT ${not.map((pattern) => `_words ~ ${literal(pattern)}`).join(' AND NOT ')};
  END
  $daybook$;
`
}

const numberFunction = ({ capture }: Names): string => `
  -- The JSON text of a number. One that a double cannot hold is a text.
  CREATE OR REPLACE FUNCTION ${capture.number}(_text text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT AS $daybook$
  DECLARE
    _number numeric;
  BEGIN
    IF length(_text) < 16 AND _text !~ '[eEaI]' THEN RETURN _text; END IF;
    -- Longer ones may be beyond the range of numeric.
    IF length(_text) <= 1000 AND _text ~ '^-?[0-9]' AND _text !~ '[eE][-+]?[0-9]{4}' THEN
      _number := trim_scale(_text::numeric);
      IF abs(_number) <= ${Number.MAX_SAFE_INTEGER} AND scale(_number) <= 300 AND (
        scale(_number) = 0 OR length(ltrim(replace(abs(_number)::text, '.', ''), '0')) <= 15
      ) THEN
        RETURN _text;
      END IF;
    END IF;
    RETURN '"' || _text || '"' || ${MARK};
  END
  $daybook$;
`

const STRING = '"(?:[^"\\\\]|\\\\.)*"'
const KEY = '"((?:[^"\\\\]|\\\\.)*)"\\s*:'
/** Strings, with the colon if they are keys; numbers and words; brackets and commas. */
const TOKENS = `${STRING}(?:\\s*:)?|[^\\s,:"{}\\[\\]]+|[{}\\[\\],]`
/** Numbers that a double may not hold. */
const LONG_NUMBER = '[0-9.]{16}|[0-9][eE]'

/** The escapes of a surrogate pair. */
const PAIR = '\\\\u([dD][89abAB][0-9a-fA-F]{2})\\\\u([dD][c-fC-F][0-9a-fA-F]{2})'
/** Escapes that stand for no character that can be stored. */
const UNSTORABLE = '\\\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})'

/** The bits of pairRole in JavaScript. */
const roleOf = (key: string): string => {
  const bits = PAIRS.flatMap(({ names, values }, i) => [
    `CASE WHEN ${key} ~* ${literal(names.source)} THEN ${1 << i} ELSE 0 END`,
    `CASE WHEN ${key} ~* ${literal(values.source)} THEN ${1 << (i + PAIRS.length)} ELSE 0 END`,
  ])
  // Postgres takes long for the beginning of these expressions, which most keys need not be tested for.
  const ends = PAIRS.flatMap(({ names, values }) => [names, values]).map(({ source }) =>
    source.replace('^(?:[a-z]{0,20}[_-]?)?', ''),
  )
  return `CASE WHEN length(${key}) <= 40 AND ${key} ~* ${literal(ends.join('|'))} THEN ${bits.join(' + ')} ELSE 0 END`
}

const NAME_BITS = (1 << PAIRS.length) - 1

/*
 * Reads the tokens of the text in order, without recursion: jsonb can be nested deeper than a function may call itself, and json
 * may hold what jsonb refuses.
 */
const jsonFunction = ({ capture }: Names): string => `
  -- JSON text as events show it: without the values of secret keys, also of keys that stand beside them
  -- ({"name":"password","value":"..."}), with numbers that a double cannot hold as texts. With _of_bytes, texts are bytes.
  CREATE OR REPLACE FUNCTION ${capture.json}(_text text, _of_bytes boolean) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT AS $daybook$
  DECLARE
    _size int := octet_length(_text);
    _token text COLLATE "C";
    _first text COLLATE "C";
    _key text COLLATE "C";
    _piece text;
    _i int := 0;
    _out text[] := '{}';
    _depth int := 0;
    -- By depth: the key or the index of the current member, and the token with which the value begins.
    _path text[] := '{}';
    _is_array boolean[] := '{}';
    _starts int[] := '{}';
    -- By the token with which a value begins: the one with which it ends.
    _ends int[] := '{}';
    _secrets text[] := '{}';
    _is_secret boolean := false;
    _hidden int;
    _keys text[] := '{}';
    _roles int[] := '{}';
    _all_roles int := 0;
    -- Values of the open objects whose keys have a role, by depth.
    _role int := 0;
    _paired int := 0;
    _paired_depth int[] := '{}';
    _paired_role int[] := '{}';
    _paired_at int[] := '{}';
    _named int;
    _last int;
    _notes text[] := '{}';
  BEGIN
    IF _size > ${MAX_CAPTURED_BYTES} THEN RETURN '{"bytes":' || _size || '}' || ${MARK}; END IF;
    IF strpos(_text, ${literal('\\u')}) > 0 THEN
      -- Two backslashes are one character, so a single one begins the next escape.
      _piece := replace(_text, ${literal('\\\\')}, E'\\x02');
      _piece := regexp_replace(_piece, ${literal(PAIR)}, E'\\x03\\\\1\\x03\\\\2', 'g');
      _piece := regexp_replace(_piece, ${literal(UNSTORABLE)}, ${literal('\\\\ufffd')}, 'g');
      _piece := replace(_piece, E'\\x03', ${literal('\\u')});
      _piece := replace(_piece, E'\\x02', ${literal('\\\\')});
      IF _piece <> _text THEN _notes := ARRAY['']; END IF;
      _text := _piece;
    END IF;
    IF strpos(_text, ':') > 0 THEN
      FOREACH _key IN ARRAY ARRAY(
        SELECT DISTINCT match[1] FROM regexp_matches(_text, ${literal(KEY)}, 'g') AS match
      ) LOOP
        IF strpos(_key, E'\\\\') > 0 THEN _key := ('"' || _key || '"')::json #>> '{}'; END IF;
        IF ${capture.isSecret}(_key) THEN _secrets := _secrets || _key::text; END IF;
        _role := ${roleOf('_key')};
        IF _role > 0 THEN
          _keys := _keys || _key::text;
          _roles := _roles || _role;
          _all_roles := _all_roles | _role;
        END IF;
        -- Each value is compared with all of them.
        IF cardinality(_secrets) + cardinality(_keys) > ${MAX_HIDDEN_KEYS} THEN
          RETURN '{"bytes":' || _size || '}' || ${MARK};
        END IF;
      END LOOP;
      -- No object has both a name and a value.
      IF _all_roles & ${NAME_BITS} = 0 OR _all_roles <= ${NAME_BITS} THEN _keys := '{}'; END IF;
      _role := 0;
    END IF;
    -- Most values are shown as they are.
    IF NOT _of_bytes AND _secrets = '{}' AND _keys = '{}' THEN
      _piece := regexp_replace(_text, ${literal(STRING)}, '', 'g');
      IF length(_piece) - length(translate(_piece, '[{', '')) <= ${MAX_JSON_DEPTH} AND _piece !~ ${literal(LONG_NUMBER)} THEN
        RETURN array_to_string(_text || _notes, ${MARK});
      END IF;
    END IF;
    FOREACH _token IN ARRAY ARRAY(SELECT match[1] FROM regexp_matches(_text, ${literal(TOKENS)}, 'g') AS match) LOOP
      _i := _i + 1;
      _first := left(_token, 1);
      _piece := '';
      IF _first IN ('}', ']') THEN
        IF _hidden IS NULL THEN
          _ends[_starts[_depth]] := _i;
          _piece := _token;
          _named := 0;
          _last := _paired;
          -- The names may come after the values.
          WHILE _paired > 0 AND _paired_depth[_paired] = _depth LOOP
            _paired := _paired - 1;
          END LOOP;
          IF _last > _paired AND (SELECT bit_or(role) > ${NAME_BITS} FROM unnest(_paired_role[_paired + 1:_last]) AS role) THEN
            FOR _n IN _paired + 1 .. _last LOOP
              IF _paired_role[_n] & ${NAME_BITS} > 0 AND left(_out[_paired_at[_n]], 1) = '"'
                AND ${capture.isSecret}(regexp_replace(_out[_paired_at[_n]]::json #>> '{}', '^.*[/.](?=.)', '')) THEN
                _named := _named | (_paired_role[_n] & ${NAME_BITS});
              END IF;
            END LOOP;
            FOR _n IN _paired + 1 .. _last LOOP
              IF (_paired_role[_n] >> ${PAIRS.length}) & _named > 0 AND _out[_paired_at[_n]] <> 'null' THEN
                FOR _at IN _paired_at[_n] + 1 .. coalesce(_ends[_paired_at[_n]], 0) LOOP
                  _out[_at] := '';
                END LOOP;
                _out[_paired_at[_n]] := ${REDACTED_JSON};
                _ends[_paired_at[_n]] := NULL;
              END IF;
            END LOOP;
          END IF;
        END IF;
        _depth := _depth - 1;
        IF _hidden = _depth THEN _hidden := NULL; END IF;
      ELSIF _first IN ('{', '[') AND _hidden IS NOT NULL THEN
        _depth := _depth + 1;
      ELSIF _hidden IS NOT NULL THEN
        NULL;
      ELSIF _first = ',' THEN
        _piece := _token;
        IF _is_array[_depth] THEN _path[_depth] := _path[_depth]::int + 1; END IF;
      ELSIF right(_token, 1) = ':' THEN
        _piece := rtrim(_token, E': \\t\\r\\n') || ':';
        _key := CASE WHEN strpos(_token, E'\\\\') = 0 THEN substr(_piece, 2, length(_piece) - 3)
          ELSE rtrim(_piece, ':')::json #>> '{}' END;
        _path[_depth] := _key;
        _is_secret := _key = ANY (_secrets);
        _role := coalesce(_roles[array_position(_keys, _key)], 0);
      ELSE
        -- A value begins.
        IF _role > 0 THEN
          _paired := _paired + 1;
          _paired_depth[_paired] := _depth;
          _paired_role[_paired] := _role;
          _paired_at[_paired] := _i;
          _role := 0;
        END IF;
        _piece := _token;
        IF _is_secret AND _token <> 'null' THEN
          _piece := ${REDACTED_JSON};
          IF _first IN ('{', '[') THEN
            _hidden := _depth;
            _depth := _depth + 1;
          END IF;
        ELSIF _first IN ('{', '[') THEN
          _depth := _depth + 1;
          IF _depth > ${MAX_JSON_DEPTH} THEN RETURN '{"bytes":' || _size || '}' || ${MARK}; END IF;
          _starts[_depth] := _i;
          _is_array[_depth] := _first = '[';
          _path[_depth] := '0';
        ELSIF _of_bytes AND _first = '"' THEN
          -- Two backslashes, x and two digits for each byte, in quotes.
          _piece := '{"bytes":' || (length(_token) - 5) / 2 || '}';
        ELSIF _first BETWEEN '0' AND '9' OR _first = '-' THEN
          _piece := ${capture.number}(_token);
          IF _piece <> _token THEN
            _piece := rtrim(_piece, ${MARK});
            IF cardinality(_notes) < ${MAX_POINTERS} THEN
              _notes := _notes || coalesce((
                SELECT string_agg(${pointerTo('key')}, '' ORDER BY i)
                FROM unnest(_path[1:_depth]) WITH ORDINALITY AS of(key, i)
              ), '');
            END IF;
          END IF;
        END IF;
        _is_secret := false;
      END IF;
      _out[_i] := _piece;
    END LOOP;
    RETURN array_to_string(array_to_string(_out, '') || _notes, ${MARK});
  END
  $daybook$;
`

/** Types with lower ids come with Postgres, so they have no casts and operators of the host. */
const FIRST_HOST_TYPE = 16_384
/** Levels of rows in rows. */
const MAX_ROW_DEPTH = 8

/** SQL for an expression that shows the size of a value. */
const SIZE_OF_REF = `format(${literal(`'{"bytes":' || pg_column_size(%s) || '}' || ${MARK}`)}, _ref)`

const liftFunctions = ({ capture }: Names): string => `
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

const statesFunction = ({ capture }: Names): string => `
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

const valueFunctions = ({ capture }: Names): string => `
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

/** Types that `to_json` converts as events show them. */
const JSON_TYPES =
  'bool int2 int4 text varchar bpchar uuid date timestamp timestamptz float4 float8'

const codeFunctions = ({ capture }: Names): string => `
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

/** Functions that all triggers of the log use. */
export function sharedFunctions(names: Names): string {
  const { capture } = names
  const parts = [isSecretFunction, numberFunction, jsonFunction, liftFunctions, statesFunction]
  const signatures = [
    `${capture.isSecret}(text)`,
    `${capture.number}(text)`,
    `${capture.json}(text, boolean)`,
    `${capture.lift}(text[], text[])`,
    `${capture.join}(text[], text[])`,
    `${capture.states}(text[], boolean[], text[], text[])`,
    `${capture.base}(oid)`,
    `${capture.shown}(oid, text, int)`,
    `${capture.value}(text, oid, text, boolean, int)`,
    `${capture.code}(oid, text[], text[], text, text)`,
    `${capture.stale}(oid, record, record, text[], text[])`,
  ]
  return `
    ${[...parts, valueFunctions, codeFunctions].map((make) => make(names)).join('')}
    REVOKE ALL ON FUNCTION ${signatures.join(', ')} FROM PUBLIC;
`
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

/** Takes the attributes of the actor from the setting, which may be any text, as any role can set it. */
function actorOf(names: readonly string[]): string {
  const character = `[^"\\\\\\u0001-\\u001f]|\\\\(?:["\\\\/bfnrt]|u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4})`
  const member = `[{,]\\s*"(${names.join('|')})"\\s*:\\s*"((?:${character})*)"`
  return `
      SELECT coalesce(string_agg(format(',"%s":"%s"', name, value), '') FILTER (WHERE fits), ''),
        _replaced || coalesce(array_agg('/' || name) FILTER (WHERE NOT fits), '{}')
      INTO _of_actor, _replaced
      FROM (
        SELECT DISTINCT ON (match[1]) match[1], match[2], length(match[2]) <= ${MAX_ACTOR_CHARACTERS}
        FROM regexp_matches(_settings, ${literal(member)}, 'g') AS match
      ) AS of(name, value, fits);`
}

/** The JSON text of a key that has the form of a link, as patterns of the server. */
const KEY_FORMS: Readonly<Record<KeySource['kind'], string>> = {
  uuid: '^"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"$',
  code: '^"(?![.]{1,2}")[a-z0-9_.-]+"$',
  integer: '^(0|[1-9][0-9]*|"(0|[1-9][0-9]*)")$',
}

/** SQL of the trigger function of one table. */
export function captureFunction(
  { outbox, capture }: Names,
  plan: CapturePlan,
  code: ColumnCode,
  name: string,
): string {
  const { subject, primaryKey, link, source, excluded } = plan
  const keyName = link ?? 'primary_key'
  const first = literal(`${JSON.stringify(primaryKey[0]!)}:`)
  const keyOf = (key: string): string =>
    link === undefined
      ? `'{' || array_to_string(${key}, ',') || '}'`
      : `substr((${key})[1], length(${first}) + 1)`
  const attribute = (attributeName: string): string => literal(`,${JSON.stringify(attributeName)}:`)
  const sourceText =
    source === undefined
      ? 'NULL'
      : `CASE WHEN _shown_key ~* '${KEY_FORMS[source.kind]}'
          THEN ${literal(source.prefix)} || ${source.kind === 'uuid' ? 'lower' : ''}(btrim(_shown_key, '"')) END`
  const table = literal(JSON.stringify({ table: subject }).slice(0, -1))
  const names = textArray(code.names)
  // The label makes names that no column has.
  const body = `
  <<rows>>
  DECLARE
    _now timestamptz := clock_timestamp();
    _is_known boolean := true;
    _is_changed boolean := false;
    _first record;
    _second record;
    _more record;
    _names text[];
    _same boolean[];
    _key text[];
    _previous text[];
    _size bigint := 0;
    _after text[];
    _before text[];
    _attributes text := ${table};
    _shown_key text COLLATE "C";
    _states text := '';
    _shown record;
    _replaced text[] := '{}';
    _cut bigint := 0;
    _of_actor text := '';
    _actor text := current_setting('daybook.actor', true);
    _settings text := current_setting('daybook.attributes', true);
  BEGIN
    IF TG_OP <> 'TRUNCATE' THEN
      IF TG_OP = 'UPDATE' AND OLD *= NEW THEN RETURN NULL; END IF;
      IF ${structureOf('TG_RELID', code.rowTypes)} <> ${code.structure} THEN
        -- The code for the columns still holds if others came or went.
        _is_known := ${structureOf('TG_RELID', code.rowTypes, code.names)} IS NOT DISTINCT FROM ${code.known};
        _is_changed := true;
        IF TG_OP = 'INSERT' THEN _first := NEW; ELSE _first := OLD; END IF;
        IF TG_OP = 'DELETE' THEN _second := OLD; ELSE _second := NEW; END IF;
        _more := ${capture.stale}(TG_RELID, _first, _second, ${textArray(primaryKey)},
          ${textArray(excluded)} || CASE WHEN _is_known THEN ${names} ELSE '{}' END);
      END IF;
      IF _is_known THEN
        IF TG_OP = 'UPDATE' THEN
          _same := ${code.same};
          IF NOT _is_changed AND NOT false = ANY (_same) THEN RETURN NULL; END IF;
        END IF;
        IF TG_OP <> 'DELETE' THEN
          _key := ${code.new_key};
          _size := ${code.new_size};
        END IF;
        IF TG_OP <> 'INSERT' THEN
          _previous := ${code.old_key};
          _size := _size + ${code.old_size};
        END IF;
        IF _size <= ${MAX_CAPTURED_BYTES} THEN
          IF TG_OP <> 'DELETE' THEN _after := ${code.new}; END IF;
          IF TG_OP <> 'INSERT' THEN _before := ${code.old}; END IF;
        END IF;
      END IF;
      IF _is_changed THEN
        _names := CASE WHEN _is_known THEN ${names} END || _more._names;
        _size := _size + _more._size;
        IF TG_OP = 'UPDATE' THEN
          _same := _same || _more._same;
          IF NOT false = ANY (_same) THEN RETURN NULL; END IF;
        END IF;
        IF TG_OP <> 'DELETE' THEN
          _key := coalesce(_key, _more._key);
          _after := _after || _more._after;
        END IF;
        IF TG_OP <> 'INSERT' THEN
          _previous := coalesce(_previous, _more._previous);
          _before := _before || _more._before;
        END IF;
      END IF;
      _shown_key := ${keyOf('coalesce(_key, _previous)')};
      _attributes := _attributes || ${attribute(keyName)} || _shown_key;
      IF TG_OP = 'UPDATE' AND _key <> _previous THEN
        _attributes := _attributes || ${attribute(`previous_${keyName}`)} || ${keyOf('_previous')};
      END IF;
      IF _size <= ${MAX_CAPTURED_BYTES} THEN
        _states := coalesce(',"before":{' || array_to_string(_before, ',') || '}', '')
          || coalesce(',"after":{' || array_to_string(_after, ',') || '}', '');
        IF TG_OP = 'UPDATE' OR strpos(_states, ${MARK}) > 0 THEN
          _shown := ${capture.states}(coalesce(_names, ${names}), _same, _before, _after);
          _states := _shown._states;
          _replaced := _shown._pointers;
        END IF;
      END IF;
      IF _size > ${MAX_CAPTURED_BYTES} OR octet_length(_states) > ${MAX_CAPTURED_BYTES} THEN
        _cut := greatest(_size, octet_length(_states));
        _states := '';
        _replaced := '{/before,/after}';
      END IF;
    END IF;
    IF length(_actor) > ${MAX_ACTOR_CHARACTERS} THEN _replaced := _replaced || '/username'::text; END IF;
    IF octet_length(_settings) > ${MAX_SETTING_BYTES} THEN
      _replaced := _replaced || ''::text;
    ELSIF _settings <> '' THEN${actorOf(ACTOR_ATTRIBUTES.filter((attributeName) => attributeName !== link))}
    END IF;
    IF cardinality(_replaced) > 0 THEN
      _states := _states || ',"recording":' || json_build_object(
        'replaced', ARRAY(SELECT left(pointer, ${MAX_POINTER_LENGTH}) FROM unnest(_replaced[1:${MAX_POINTERS}]) AS pointer),
        'cut_bytes', _cut
      );
    END IF;
    INSERT INTO ${outbox} (
      suffix, type, username, source, system, attributes, recorded_at, occurred_at
    ) VALUES (
      right(replace(gen_random_uuid()::text, '-', ''), 16),
      CASE TG_OP
        WHEN 'INSERT' THEN ${literal(captureType(subject, 'create'))}
        WHEN 'UPDATE' THEN ${literal(captureType(subject, 'update'))}
        WHEN 'DELETE' THEN ${literal(captureType(subject, 'destroy'))}
        ELSE ${literal(captureType(subject, 'truncate'))}
      END,
      nullif(left(_actor, ${MAX_ACTOR_CHARACTERS}), ''),
      ${sourceText},
      true,
      (_attributes || _states || _of_actor || '}')::json,
      (extract(epoch FROM _now) * 1000000)::bigint,
      to_char(_now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    );
    RETURN NULL;
  END`
  return `
  CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER ${settingsFor(code.kinds)} AS ${literal(body)};
  REVOKE ALL ON FUNCTION ${name}() FROM PUBLIC;
`
}
