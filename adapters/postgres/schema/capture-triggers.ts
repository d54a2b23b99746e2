import {
  ACTOR_ATTRIBUTES,
  type CapturePlan,
  type KeySource,
  captureType,
  MAX_ACTOR_CHARACTERS,
  MAX_CAPTURED_BYTES,
} from '../../../src/store-kit/capture.js'
import { codeFunctions, type ColumnCode, structureOf } from './capture-columns.js'
import { jsonFunction, numberFunction } from './capture-json.js'
import { isSecretFunction } from './capture-secrets.js'
import { literal, MARK, MAX_POINTERS, settingsFor, textArray } from './capture-sql.js'
import { liftFunctions, statesFunction, valueFunctions } from './capture-values.js'
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

const MAX_SETTING_BYTES = 65_536
const MAX_POINTER_LENGTH = 120

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
