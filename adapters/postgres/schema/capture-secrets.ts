import { SENSITIVE_KEYS } from '../../../src/event/secrets.js'
import { literal, textArray } from './capture-sql.js'
import type { Names } from './names.js'

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

export const isSecretFunction = ({ capture }: Names): string => {
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
