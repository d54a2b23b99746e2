import type { AuditEvent, JsonObject, JsonValue, QueryObject } from 'daybook'
import fc from 'fast-check'
import { eventId } from '../../src/event/event-id.js'
import { formatTimestamp } from '../../src/event/timestamp.js'
import { words } from '../support/words.js'

/* Events and queries with one small vocabulary, so that most queries match only a part of the events. */

const TEXTS = [
  ...['alpha', 'Alpha', 'ALPHA', 'alpaca', 'beta', 'beta alpha', '', ' ', '7', '007', '10', 'true'],
  ...[
    '100%',
    'a_b',
    'axb',
    'c:\\temp',
    'Kelvin',
    '\u212Aelvin',
    'Σίσυφος',
    'ΣΊΣΥΦΟΣ',
    'İx',
    'Straße',
  ],
  ...['😀 up', '\uE000', 'é', 'É', `it's "x"; --`, 'one\ntwo'],
  // Special characters of GLOB, and text longer than the patterns passed to SQLite.
  ...['[ab]*', 'a?b', '^a-z]', '{*}', `${'k'.repeat(120)}b`],
  // Longer than the values in an index.
  ...[`${'k'.repeat(514)}b`, `${'k'.repeat(514)}a`, `${'k'.repeat(511)}😀`],
  // LIKE cannot distinguish the two noncharacters.
  ...['x\uFFFD', 'x\uFFFF'],
  ...['tab\there', '\u007F', '\u0001', '{}', '[1]', '{"a":"alpha"}', 'null', '1.0'],
]
const NUMBERS = [0, 1, 7, 10, -2.5, 0.1, 1000, 1e21, 9_007_199_254_740_991, 5e-324]

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
)

/** Keys with a special meaning in JSON paths, in the filter grammar or in JavaScript. */
const ODD = ['k.x', 'k"q', 'k[0]', 'k\\b', "k'", 'k$', 'ké', '__proto__', '_', '']
/** Object keys that join to {@link NAMES}, flat, nested and through arrays. */
const KEYS = ['a', 'a_b', 'a_b_c', 'b', 'b_c', 'c', 't', 'n', 'a_or_t', ...ODD]
const ODD_NAMES = [...ODD.filter((key) => key !== ''), 'a_k.x', 'a_k"q', 'a__', '_a', 'a___proto__']
const NAMES = words('a a_b a_b_c b b_c c t n n t a_or_t zz a_b_c_d_e personal_subject')

/** Ciphertexts that have words of queries, and values that are nearly sealed parts. */
const personal: fc.Arbitrary<JsonValue> = fc.array(
  fc.record({
    subject: fc.constantFrom('alphaalphaalphaalphaal', 'betabetabetabetabetabe', 'alpha'),
    data: fc.constantFrom('alpha-'.repeat(8), 'Kelvin_'.repeat(8), '7'.repeat(40), 'beta'),
  }),
  { minLength: 1, maxLength: 2 },
)

const { value } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: scalar },
    { weight: 2, arbitrary: tie('object') },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
  ),
  object: fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 3 }),
}))

const attributes: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      ...{ a: value, a_b: value, a_b_c: value, b: value, t: scalar, n: scalar, a_or_t: scalar },
      personal,
    },
    { requiredKeys: [] },
  )
  .chain((usual) =>
    fc
      .dictionary(fc.constantFrom(...ODD), value, { maxKeys: 2 })
      .map((odd): JsonObject => Object.assign(odd, usual)),
  )

const TYPES = ['api:a:create', 'api:a:update', 'error:a:create', 'Own', 'ÖWN', 'own😀']
const USERS = [null, 'ann', 'Ann', 'bob', '']
/** Sources, some of which end with texts of attributes. */
const SOURCES = [null, null, '/api/a/alpha', '/API/b/ALPHA', '/x/a_b', 'beta', '/é/', '/\uE000/7']

/** 2026-01-01T00:00:00Z */
const START = 1_767_225_600_000_000
const STEP = 1_000_001

/** Events of one log: some ids contain the time of the event, some are foreign. */
export const eventsOf = (minLength: number, maxLength: number): fc.Arbitrary<AuditEvent[]> =>
  fc
    .array(
      fc.record({
        type: fc.constantFrom(...TYPES),
        username: fc.constantFrom(...USERS),
        source: fc.constantFrom(...SOURCES),
        system: fc.boolean(),
        attributes,
        isForeign: fc.boolean(),
      }),
      { minLength, maxLength, size: 'max' },
    )
    .map((drafts) =>
      drafts.map(({ isForeign, ...draft }, i) => {
        const time = START + i * STEP
        return {
          id: isForeign
            ? `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
            : eventId(time, '8000000000000000'),
          created_at: formatTimestamp(time),
          ...draft,
        }
      }),
    )

export const events = eventsOf(20, 40)

const ONE = ['eq', 'not_eq', 'lt', 'lteq', 'gt', 'gteq', 'in', 'not_in']
const TEXT = [
  ...['matches', 'does_not_match', 'cont', 'not_cont', 'i_cont', 'not_i_cont'],
  ...['start', 'not_start', 'end', 'not_end'],
]
const FLAGS = ['true', 'not_true', 'false', 'not_false', 'null', 'not_null', 'present', 'blank']
export const PREDICATES: readonly string[] = [
  ...[...ONE, ...TEXT].flatMap((name) => [name, `${name}_any`, `${name}_all`]),
  ...FLAGS,
]

const isList = (predicate: string): boolean => /(?:^in|^not_in|_any|_all)$/.test(predicate)

// Filter values: whole texts, parts of them, numbers and booleans in several spellings.
const filterValues: Readonly<Record<'value' | 'part' | 'pattern', fc.Arbitrary<string>>> = {
  value: fc.constantFrom(
    ...TEXTS.filter((text) => text.trim() !== ''),
    ...NUMBERS.map(String),
    ...words('+7 7.0 1.0 01 -0 00 1e1 -2.50 .1 1e400 t T f FALSE b m {}'),
  ),
  part: fc.constantFrom(
    ...['a', 'A', 'al', 'PHA', 'e', 'K', '\u212A', 'σ', 'Σ', 'ς', 'ΊΣΥ', '%', '_', '\\', 'ß', 'SS'],
    ...['😀', ' ', '7', '0', 'i', 'İ', 'É', '"', "'x", 'o', 'two', 'T'],
    ...[...words('[ ] * ? ^A -z { [a'), '\uFFFD', '\uD83D', 'K'.repeat(110), `${'k'.repeat(110)}B`],
  ),
  pattern: fc.constantFrom(
    ...[
      ...words('a% %A %ph% _____ %'),
      '100\\%',
      'a\\_b',
      'a_b',
      'k%',
      '%σ',
      'σ%Σ',
      '_ up',
      '\\\\%',
    ],
    ...['[a%', '%]', '%*_', 'a?_', '[ab]\\*', '^%-_]', `%${'K'.repeat(110)}%`],
    ...['%_%', '', ' ', '7', '%e%a', 'É', '%t%'].filter((text) => text.trim() !== ''),
  ),
}

const flagValue = fc.constantFrom('1', '1', 'yes', '0', 'f')

type ByName = Readonly<Record<string, fc.Arbitrary<string>>>

/** The filter values for an own field; `undefined` for attributes. */
const ofOwn = (values: ByName, name: string): fc.Arbitrary<string> | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined

const ownValue: ByName = {
  created_at: fc
    .nat(40)
    .chain((i) =>
      fc.constantFrom(
        formatTimestamp(START + i * STEP),
        formatTimestamp(START + i * STEP).slice(0, 19),
      ),
    ),
  system: fc.constantFrom('1', 'true', 'T', '0', 'f', 'FALSE'),
  type: fc.constantFrom(...TYPES, 'OWN', 'b'),
  username: fc.constantFrom('ann', 'Ann', 'bob', 'carl'),
  id: fc
    .nat(40)
    .chain((i) =>
      fc.constantFrom(
        `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
        eventId(START + i * STEP, '8000000000000000'),
        'none',
      ),
    ),
}
const ownPart: ByName = {
  created_at: fc.constantFrom('2026', ':0', '00001', 'Z', 't00:00:1'),
  type: fc.constantFrom('api:', 'CREATE', 'ö', 'own', '😀', 'a', ':'),
  username: fc.constantFrom('a', 'A', 'N', 'bob'),
  id: fc.constantFrom('0', '000', '019', '7', 'none'),
}

/** A filter key and its value, for one attribute or own field or for several joined ones. */
function criterion(predicate: string): fc.Arbitrary<readonly [key: string, value: unknown]> {
  const own = fc.constantFrom('type', 'username', 'system', 'created_at', 'id')
  const isSearch = /^(?:not_)?(?:i_)?cont/.test(predicate)
  const attribute = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...NAMES) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_NAMES) },
    { weight: 4, arbitrary: own },
    {
      weight: 2,
      arbitrary: fc.constantFrom('a_or_t', 'a_b_or_n', 't_and_n', 'a_and_a_b_c', 'type_or_t'),
    },
    { weight: isSearch ? 6 : 0, arbitrary: fc.constantFrom('*', '*', '*_or_n') },
  )
  const isText = TEXT.some((name) => predicate.startsWith(name))
  const isPattern = predicate.startsWith('matches') || predicate.startsWith('does_not_match')
  return attribute.chain((name): fc.Arbitrary<readonly [key: string, value: unknown]> => {
    const key = `${name}_${predicate}`
    if (FLAGS.includes(predicate)) return flagValue.map((value) => [key, value])
    const text = isText
      ? ((isPattern ? undefined : ofOwn(ownPart, name)) ??
        (isPattern ? filterValues.pattern : filterValues.part))
      : (ofOwn(ownValue, name) ?? filterValues.value)
    if (!isList(predicate)) return text.map((value) => [key, value])
    return fc.array(text, { minLength: 1, maxLength: 4 }).map((list) => [key, list])
  })
}

/** A condition as an object, with attributes joined by `m`. */
const conditionObject = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...NAMES, ...ODD_NAMES), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('and', 'or'),
    fc.constantFrom('eq', 'lt', 'cont', 'not_eq', 'not_null'),
    filterValues.value,
  )
  .map(([a, m, p, v]) => ({ a, m, p, v }))

const member = fc.constantFrom(...PREDICATES).chain(criterion)

const grouping: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    fc.constantFrom('and', 'or'),
    fc.array(member, { minLength: 1, maxLength: 3 }),
    fc.option(conditionObject, { freq: 3, nil: undefined }),
  )
  .map(([m, members, part]) => ({
    m,
    ...Object.fromEntries(members),
    c: part ? [part] : undefined,
  }))

/** A filter: mostly one condition, sometimes a small tree. */
export const filter: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 4, arbitrary: member.map((entry) => Object.fromEntries([entry])) },
  { weight: 2, arbitrary: grouping },
  {
    weight: 1,
    arbitrary: fc
      .tuple(grouping, fc.array(grouping, { minLength: 1, maxLength: 2 }))
      .map(([outer, g]) => ({ ...outer, g })),
  },
)

/** Filters with one condition of this predicate. */
export const filterOf = (predicate: string): fc.Arbitrary<Record<string, unknown>> =>
  criterion(predicate).map((entry) => Object.fromEntries([entry]))

/** A word or phrase of free text, maybe excluded. */
const term = fc
  .tuple(
    fc.constantFrom('', '', '-'),
    fc.oneof(
      filterValues.part.filter((text) => text.trim() !== ''),
      fc.constantFrom(
        'alpha',
        'beta alpha',
        ...words('ann api:a "x" xb kkb 00000000-0000 /a/al i/a/ API/b/alpha /b/a -8000-00000000'),
      ),
    ),
  )
  .map(([minus, text]) => `${minus}"${text.replaceAll('"', '""')}"`)

/** Free text. Most queries have none. */
const freeText = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.array(term, { maxLength: 2 }).map((terms) => terms.join(' ')) },
)

/** Queries that only search all texts. */
export const searches: fc.Arbitrary<QueryObject> = fc
  .array(term, { minLength: 1, maxLength: 3 })
  .map((q) => ({ q, limit: 1000 }))

const sorts = fc.array(
  fc
    .tuple(
      fc.constantFrom(...NAMES, 'type', 'username', 'system', 'created_at', 'id'),
      fc.constantFrom('', ' asc', ' desc', ' DESC'),
    )
    .map((parts) => parts.join('')),
  { maxLength: 2 },
)

export const query: fc.Arbitrary<QueryObject> = fc
  .tuple(
    filter,
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: sorts }),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(1000) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }) },
    ),
    freeText,
  )
  .map(([filter, sorts, limit, q]) => ({ filter: { ...filter, sorts }, limit, q }))

/** Queries with low limits, which follow an order instead of sorting all matches. */
export const limitedQuery: fc.Arbitrary<QueryObject> = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: query }, { weight: 1, arbitrary: searches }),
    fc.constantFrom(1, 2, 5, 20, 1000),
  )
  .map(([query, limit]) => ({ ...query, limit }))

/** A filter, or a filter on own fields, or both. */
export const filterWithOwnFields: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    filter,
    fc.constantFrom<Record<string, unknown>>(
      {},
      {},
      { created_at_gteq: '2026-01-01T00:00:10Z' },
      { type_start_any: ['api:', 'ERROR:'] },
      { username_in: ['ann', 'Ann'] },
      { username_cont: 'AN', created_at_lt: '2026-01-01T00:00:30Z' },
    ),
    fc.boolean(),
  )
  .map(([any, own, isOwn]) => (isOwn ? own : { ...any, ...own }))
