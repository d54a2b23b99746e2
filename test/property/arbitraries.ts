import fc from 'fast-check'
import type { Condition, EventQuery, Grouping, JsonObject, JsonValue, PredicateName } from 'daybook'
import { predicates } from '../../src/filter/predicates.js'

/** Few names and few values, so that random queries often match something, and seldom everything. */
const KEYS = ['a', 'b', 'c', 'a_b', 'b_c', 'x', 'y', 'x_or_y', 'k"q']
const TEXTS = [
  '',
  'Alpha',
  'alpha',
  'beta',
  '7',
  '10',
  'true',
  'Straße',
  '10 \u212A',
  'Ünï',
  '50%',
  'a_b',
  '😀',
  'x"y',
]
const NUMBERS = [0, 1, 7, 10, -2.5, 0.1, 1e21, 9_007_199_254_740_991]

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
)

const { value } = fc.letrec<{ value: JsonValue; object: JsonObject; list: JsonValue[] }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    { weight: 5, arbitrary: scalar },
    { weight: 2, arbitrary: tie('object') },
    { weight: 1, arbitrary: tie('list') },
  ),
  object: fc.dictionary(fc.constantFrom(...KEYS), tie('value'), {
    maxKeys: 4,
    depthIdentifier: 'json',
  }),
  list: fc.array(tie('value'), { maxLength: 3, depthIdentifier: 'json' }),
}))

/** Attributes of one event. */
export const attributes = fc.dictionary(fc.constantFrom(...KEYS), value, {
  minKeys: 1,
  maxKeys: 5,
}) as fc.Arbitrary<JsonObject>

const NAMES =
  'a b c a_b b_c a_b_c a_c x y x_a a_a_a_a_a k"q none type username system attributes_type'.split(
    ' ',
  )

/** Names that the attributes above spell in one way or another. */
export const attributeName = fc.constantFrom(...NAMES)

const WORDS = [
  ...TEXTS.filter((text) => text !== ''),
  '007',
  '-2.5',
  '1e1',
  'k',
  'K',
  'A',
  'ß',
  '%a%',
  'a\\_b',
  '_',
  'f',
  'T',
]

const condition: fc.Arbitrary<Condition> = fc
  .record({
    predicate: fc.constantFrom(...([...predicates.keys()] as PredicateName[])),
    names: fc.oneof(
      { weight: 5, arbitrary: fc.array(attributeName, { minLength: 1, maxLength: 1 }) },
      { weight: 1, arbitrary: fc.array(attributeName, { minLength: 2, maxLength: 2 }) },
      { weight: 1, arbitrary: fc.constant<string[]>(['x', 'y']) },
    ),
    combinator: fc.constantFrom('and' as const, 'or' as const),
    isJoined: fc.boolean(),
    words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }),
    booleans: fc.array(fc.constantFrom('1', 't', 'false', '0'), { minLength: 1, maxLength: 2 }),
  })
  .map(({ predicate, names, combinator, isJoined, words, booleans }) => {
    const { takes } = predicates.get(predicate)!
    const given = names.includes('system') ? booleans : words
    const values = takes === 'flag' ? [] : takes === 'one' ? given.slice(0, 1) : given
    const joinedName = names.join(`_${combinator}_`)
    return {
      attributes: names,
      combinator: names.length === 1 ? 'and' : combinator,
      predicate,
      values,
      ...(isJoined && names.length > 1 ? { joinedName } : {}),
    }
  })

const { grouping } = fc.letrec<{ grouping: Grouping }>((tie) => ({
  grouping: fc.record({
    combinator: fc.constantFrom('and' as const, 'or' as const),
    conditions: fc.array(condition, { minLength: 1, maxLength: 3 }),
    groupings: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(tie('grouping'), {
          maxLength: 2,
          depthIdentifier: 'group',
          size: 'xsmall',
        }),
      },
    ),
  }),
}))

/** Queries as the parser gives them, over the names and values above. */
export const query: fc.Arbitrary<EventQuery> = fc.record({
  where: grouping,
  sorts: fc.array(
    fc.record({
      attribute: fc.oneof(attributeName, fc.constant('created_at')),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
    }),
    { maxLength: 2 },
  ),
  limit: fc.oneof(fc.constant(1000), fc.integer({ min: 1, max: 20 })),
})
