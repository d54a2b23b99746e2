import { PAIRS, REDACTED, SENSITIVE_KEYS } from '../../../src/event/secrets.js'
import {
  ACTOR_ATTRIBUTES,
  type CapturePlan,
  captureType,
  MAX_CAPTURED_BYTES,
} from '../../../src/store-kit/capture.js'
import type { Names } from './names.js'

/*
 * Functions of the triggers that put the changed rows of a table into the outbox. They take rows as JSON and look up
 * columns by name, so that a column that is added, renamed or dropped later breaks no write. They run with the
 * rights of their owner, as a role that writes to the table may have none on the log.
 */

// Set for the trigger function, and thus for the functions that it calls: setting it in each of these
// would cost some microseconds a call.
const SETTINGS = 'SET search_path = pg_catalog, pg_temp'

/** A literal that means the same whatever `standard_conforming_strings` is, and does not end a function's body. */
const literal = (text: string): string =>
  `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('$', '\\x24')}'`

const textArray = (texts: readonly string[]): string =>
  `ARRAY[${texts.map(literal).join(', ')}]::text[]`

/** Functions that all triggers of the log use. */
export function sharedFunctions({ capture }: Names): string {
  const { letters, words, whole, not, scripts, joins, accents, barred } = SENSITIVE_KEYS
  const max = Number.MAX_SAFE_INTEGER
  // The rule of pairedMember in JavaScript.
  const isPaired = PAIRS.map(
    ({ names, values }) =>
      `(key COLLATE "C" ~* ${literal(values.source)} AND EXISTS (
            SELECT FROM jsonb_each(_value) AS beside(key, value)
            WHERE beside.key COLLATE "C" ~* ${literal(names.source)} AND jsonb_typeof(beside.value) = 'string'
              AND ${capture.isSecret}(regexp_replace(beside.value #>> '{}', '^.*[/.](?=.)', ''))))`,
  ).join(' OR ')
  return `
  -- The rule of isSensitive in JavaScript. In other collations I is not the capital of i.
  CREATE OR REPLACE FUNCTION ${capture.isSecret}(_key text) RETURNS boolean
  LANGUAGE sql IMMUTABLE AS $daybook$
    SELECT (
      regexp_replace(_words, '[^a-z]', '', 'g') ~ ${literal(letters)}
        OR _words ~ ${literal(words)}
        OR replace(_words, '_', '') = ANY (${textArray(whole)})
        OR regexp_replace(_folded, ${literal(joins)}, '', 'g') ~ ${literal(scripts)}
    ) AND NOT ${not.map((pattern) => `_words ~ ${literal(pattern)}`).join(' AND NOT ')}
    FROM translate(
      regexp_replace(normalize(_key COLLATE "C", NFKD), ${literal(accents)}, '', 'g'), ${barred.map(literal).join(', ')}
    ) AS without_accents(_folded), regexp_replace(
      lower(regexp_replace(_folded, '([a-z0-9])([A-Z])', '\\1_\\2', 'g')), '[^a-z0-9]', '_', 'g'
    ) AS normal(_words)
  $daybook$;

  -- Replaces the values of secret keys at any depth, also of keys that stand beside them: {"name":"password","value":"…"}.
  CREATE OR REPLACE FUNCTION ${capture.json}(_value jsonb) RETURNS jsonb
  LANGUAGE plpgsql IMMUTABLE AS $daybook$
  BEGIN
    IF jsonb_typeof(_value) = 'object' THEN
      RETURN (
        SELECT coalesce(jsonb_object_agg(key, CASE
          WHEN value <> 'null' AND (${capture.isSecret}(key) OR ${isPaired}) THEN ${literal(JSON.stringify(REDACTED))}
          ELSE ${capture.json}(value)
        END), '{}')
        FROM jsonb_each(_value)
      );
    ELSIF jsonb_typeof(_value) = 'array' THEN
      RETURN (
        SELECT coalesce(jsonb_agg(${capture.json}(value) ORDER BY i), '[]')
        FROM jsonb_array_elements(_value) WITH ORDINALITY AS element(value, i)
      );
    END IF;
    RETURN _value;
  END
  $daybook$;

  -- A row as events show it: numbers that a double cannot hold are texts, bytes are their number.
  CREATE OR REPLACE FUNCTION ${capture.state}(
    _row jsonb, _known text[], _secret text[], _bytes text[], _numbers text[], _json text[]
  ) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $daybook$
  DECLARE
    _key text;
    _value jsonb;
    _number numeric;
    _added jsonb := _row - _known;
  BEGIN
    FOREACH _key IN ARRAY _numbers LOOP
      _value := _row -> _key;
      IF jsonb_typeof(_value) = 'number' THEN
        _number := trim_scale((_row ->> _key)::numeric);
        IF abs(_number) > ${max} OR scale(_number) > 300 OR (
          scale(_number) > 0 AND length(ltrim(replace(abs(_number)::text, '.', ''), '0')) > 15
        ) THEN
          _row := _row || jsonb_build_object(_key, _row ->> _key);
        END IF;
      END IF;
    END LOOP;
    FOREACH _key IN ARRAY _json LOOP
      IF jsonb_typeof(_row -> _key) IN ('object', 'array') THEN
        _row := _row || jsonb_build_object(_key, ${capture.json}(_row -> _key));
      END IF;
    END LOOP;
    FOREACH _key IN ARRAY _bytes LOOP
      IF jsonb_typeof(_row -> _key) = 'string' THEN
        _value := jsonb_build_object('bytes', (length(_row ->> _key) - 2) / 2);
        _row := _row || jsonb_build_object(_key, _value);
      END IF;
    END LOOP;
    FOREACH _key IN ARRAY _secret LOOP
      IF _row -> _key <> 'null' THEN
        _row := _row || jsonb_build_object(_key, ${literal(REDACTED)});
      END IF;
    END LOOP;
    -- Columns that were added after the triggers.
    IF _added <> '{}' THEN
      _row := _row || ${capture.json}(_added);
    END IF;
    RETURN _row;
  END
  $daybook$;

  REVOKE ALL ON FUNCTION ${capture.isSecret}(text) FROM PUBLIC;
  REVOKE ALL ON FUNCTION ${capture.json}(jsonb) FROM PUBLIC;
  REVOKE ALL ON FUNCTION ${capture.state}(jsonb, text[], text[], text[], text[], text[]) FROM PUBLIC;
`
}

/** How a column is converted to JSON. `other` is converted as `to_jsonb` does it. */
export type ColumnKind = 'bytes' | 'number' | 'json' | 'other'

/** SQL of the trigger function of one table. */
export function captureFunction(
  { outbox, capture }: Names,
  plan: CapturePlan,
  kinds: ReadonlyMap<string, ColumnKind>,
  name: string,
): string {
  const { subject, primaryKey, link, sourcePrefix, columns, secret, excluded } = plan
  const ofKind = (kind: ColumnKind): string =>
    textArray(columns.filter((column) => kinds.get(column) === kind && !secret.includes(column)))
  const lists = [columns, secret].map(textArray)
  const shown = (row: string): string =>
    `${capture.state}(${[row, ...lists, ofKind('bytes'), ofKind('number'), ofKind('json')].join(', ')})`
  const first = literal(primaryKey[0]!)
  const members = primaryKey.map((column) => `${literal(column)}, _row -> ${literal(column)}`)
  const key =
    link === undefined
      ? `jsonb_build_object(${members.join(', ')})`
      : `coalesce(_row -> ${first}, 'null')`
  const source =
    sourcePrefix === undefined
      ? 'NULL'
      : `CASE WHEN _row ->> ${first} ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
          THEN ${literal(sourcePrefix)} || lower(_row ->> ${first}) END`
  const ofActor = ACTOR_ATTRIBUTES.filter((attribute) => attribute !== link)
  const table = JSON.stringify({ table: subject }).slice(0, -1)
  // An expression, as a query on the members of the rows takes longer than the rest of the function.
  const changeOf = (column: string): string => {
    const name = literal(column)
    const path = JSON.stringify(`/${column.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    return `CASE WHEN _new -> ${name} IS DISTINCT FROM _old -> ${name}
        THEN ${literal(`,{"op":"replace","path":${path},"value":`)} || (_after -> ${name})::text
          || ',"old_value":' || (_before -> ${name})::text || '}'
        ELSE '' END`
  }
  return `
  CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER ${SETTINGS} SET timezone = 'UTC' AS $daybook$
  DECLARE
    _now timestamptz := clock_timestamp();
    _old jsonb;
    _new jsonb;
    _before jsonb;
    _after jsonb;
    _row jsonb;
    _attributes text := ${literal(table)};
    _states text := '';
    _changes text;
    _actor text := current_setting('daybook.attributes', true);
  BEGIN
    IF TG_OP IN ('UPDATE', 'DELETE') THEN _old := to_jsonb(OLD) - ${textArray(excluded)}; END IF;
    IF TG_OP IN ('UPDATE', 'INSERT') THEN _new := to_jsonb(NEW) - ${textArray(excluded)}; END IF;
    IF _old = _new THEN RETURN NULL; END IF;
    IF TG_OP <> 'TRUNCATE' THEN
      _before := ${shown('_old')};
      _after := ${shown('_new')};
      _row := coalesce(_after, _before);
      _attributes := _attributes || ${literal(`,${JSON.stringify(link ?? 'primary_key')}:`)} || ${key}::text;
    END IF;
    IF _before IS NOT NULL THEN _states := ',"before":' || _before::text; END IF;
    IF _after IS NOT NULL THEN _states := _states || ',"after":' || _after::text; END IF;
    IF TG_OP = 'UPDATE' THEN
      _changes := ${columns.map(changeOf).join(' || ')};
      IF _new - ${textArray(columns)} <> '{}' THEN
        _changes := _changes || coalesce((
          SELECT string_agg(',' || jsonb_build_object(
            'op', 'replace', 'path', '/' || replace(replace(key, '~', '~0'), '/', '~1'),
            'value', _after -> key, 'old_value', _before -> key
          )::text, '')
          FROM jsonb_each(_new - ${textArray(columns)}) WHERE value IS DISTINCT FROM _old -> key
        ), '');
      END IF;
      _states := _states || ',"changes":[' || substr(_changes, 2) || ']';
    END IF;
    IF octet_length(_states) > ${MAX_CAPTURED_BYTES} THEN
      _states := ',"recording":{"replaced":["/before","/after"],"cut_bytes":' || octet_length(_states) || '}';
    END IF;
    -- Any role can set it, so no other attributes are taken from it.
    IF _actor <> '' THEN
      _states := _states || coalesce((
        SELECT string_agg(',' || to_json(key)::text || ':' || to_json(value)::text, '')
        FROM jsonb_each_text(_actor::jsonb) WHERE key = ANY (${textArray(ofActor)})
      ), '');
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
      nullif(current_setting('daybook.actor', true), ''),
      ${source},
      true,
      (_attributes || _states || '}')::json,
      (extract(epoch FROM _now) * 1000000)::bigint,
      to_char(_now, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    );
    RETURN NULL;
  END
  $daybook$;
  REVOKE ALL ON FUNCTION ${name}() FROM PUBLIC;
`
}
