import { PAIRS } from '../../../src/event/secrets.js'
import { MAX_CAPTURED_BYTES } from '../../../src/store-kit/capture.js'
import { literal, MARK, MAX_POINTERS, pointerTo, REDACTED_JSON } from './capture-sql.js'
import type { Names } from './names.js'

/** Levels of a JSON value that fit into the 64 of an event, within `changes`. */
const MAX_JSON_DEPTH = 60
/** Different keys of a JSON value whose values are or may be secret. */
const MAX_HIDDEN_KEYS = 1000

export const numberFunction = ({ capture }: Names): string => `
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
export const jsonFunction = ({ capture }: Names): string => `
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
