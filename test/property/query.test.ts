import {
  AuditLogError,
  type Condition,
  type EventQuery,
  formatQuery,
  type Grouping,
  parseQuery,
  type PredicateName,
  type QueryObject,
} from 'daybook'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { words } from '../support/words.js'

const ONE = ['eq', 'not_eq', 'lt', 'lteq', 'gt', 'gteq', 'matches', 'does_not_match'] as const
const TEXT = ['cont', 'not_cont', 'i_cont', 'not_i_cont', 'start', 'not_start', 'end', 'not_end']
const LIST = ['in', 'not_in', ...[...ONE, ...TEXT, 'in', 'not_in'].flatMap(compounds)]
const FLAG = ['true', 'not_true', 'false', 'not_false', 'null', 'not_null', 'present', 'blank']

function compounds(name: string): string[] {
  return [`${name}_any`, `${name}_all`]
}

const isBlank = (text: string): boolean => /^\p{White_Space}*$/u.test(text)

/** Any non-blank text that can be stored, including URL delimiters and surrounding spaces. */
const value = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.string({
      unit: fc.constantFrom('a', ' ', '\t', '\u00A0', '&', '=', '+', '%', '#', '[', ']'),
    }),
    fc.string({ unit: 'binary', minLength: 1 }),
  )
  .filter((text) => !isBlank(text) && !text.includes('\0'))

/** Attribute names of a condition in the object form, which allows any text. */
const attribute = fc
  .oneof(
    fc.constantFrom('a', 'parent_code', 'a_or_b', 'a_and_b', 'x_not', 'x_eq', 'not', 'in_any'),
    fc.constantFrom('c', 'g', 'm', 's', 'sorts', 'name', 'value', '__proto__', '_', 'a_', '_a'),
    fc.string({
      unit: fc.constantFrom('a', 'é', '😀', '_', '[', ']', '&', '=', '%', '+', ' ', '.'),
    }),
    fc.string({ unit: 'binary' }),
  )
  .filter((name) => !isBlank(name) && !isOwn(name))

// Values of these fields must parse as their type. `*` supports few predicates, and other tests cover them.
const isOwn = (name: string): boolean => ['created_at', 'system', '*'].includes(name)

/** A predicate with values that fit it. */
const test: fc.Arbitrary<Pick<Condition, 'predicate' | 'values'>> = fc.oneof(
  fc.record({
    predicate: fc.constantFrom(...([...ONE, ...TEXT] as PredicateName[])),
    values: fc.tuple(value),
  }),
  fc.record({
    predicate: fc.constantFrom(...(LIST as PredicateName[])),
    values: fc.array(value, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    predicate: fc.constantFrom(...(FLAG as PredicateName[])),
    values: fc.constant([]),
  }),
)

const plain: fc.Arbitrary<Condition> = fc
  .tuple(
    fc.array(attribute, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('and' as const, 'or' as const),
    test,
  )
  .map(([attributes, anyCombinator, test]) => {
    const combinator = attributes.length > 1 ? anyCombinator : 'and'
    return { attributes, combinator, ...test }
  })

/** A condition from one name such as `a_or_b`. Its parts can be parsed from the name. */
const joined = (top: boolean): fc.Arbitrary<Condition> =>
  fc
    .tuple(
      fc.array(fc.constantFrom('a', 'b', 'parent_code', 'é', 'x y', '%'), {
        minLength: 2,
        maxLength: 3,
      }),
      fc.constantFrom('and' as const, 'or' as const),
      test,
    )
    .filter(([, , { values }]) => !top || values.every((text) => text.trim() === text))
    .map(([attributes, combinator, test]) => ({
      attributes,
      combinator,
      joinedName: attributes.join(`_${combinator}_`),
      ...test,
    }))

function grouping(levels: number, top = false): fc.Arbitrary<Grouping> {
  return fc
    .record({
      combinator: fc.constantFrom('and' as const, 'or' as const),
      conditions: fc
        .tuple(
          fc.uniqueArray(joined(top), {
            maxLength: 2,
            selector: ({ joinedName, predicate }) => `${joinedName}_${predicate}`,
          }),
          fc.array(plain, { maxLength: 4 }),
        )
        .map((parts) => parts.flat()),
      groupings: levels === 0 ? fc.constant([]) : fc.array(grouping(levels - 1), { maxLength: 2 }),
    })
    .filter(({ conditions, groupings }) => conditions.length + groupings.length > 0)
}

const query: fc.Arbitrary<EventQuery> = fc.record({
  where: fc.option(grouping(2, true), { nil: undefined }),
  sorts: fc.array(
    fc.record({
      attribute: fc
        .oneof(attribute, fc.constant('created_at'))
        .filter((name) => !/[\p{White_Space},]/u.test(name)),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
    }),
    { maxLength: 3 },
  ),
  limit: fc.integer({ min: 1, max: 1000 }),
})

describe('a formatted query', () => {
  it('parses to the same query', () => {
    fc.assert(
      fc.property(query, (query) => {
        expect(parseQuery(formatQuery(query))).toEqual(query)
      }),
      { numRuns: 500 },
    )
  })

  it('parses to the same query if its brackets are encoded', () => {
    fc.assert(
      fc.property(query, (query) => {
        const text = formatQuery(query)
        expect(parseQuery(new URLSearchParams(text))).toEqual(parseQuery(text))
      }),
      { numRuns: 150 },
    )
  })
})

describe('formatted free text', () => {
  const text = (part: fc.Arbitrary<string>, max: number): fc.Arbitrary<Condition[]> =>
    fc.array(
      fc.tuple(part, fc.boolean()).map(([value, isExcluded]): Condition => ({
        attributes: ['*'],
        combinator: 'and',
        predicate: isExcluded ? 'not_cont' : 'cont',
        values: [value],
      })),
      { minLength: 1, maxLength: max, size: 'max' },
    )
  const short = fc
    .oneof(
      fc.string({
        unit: fc.constantFrom('a', '"', '-', ' ', '\\', '\u00A0', '\uFEFF', '\n'),
        minLength: 1,
      }),
      value,
    )
    .filter((some) => !isBlank(some))

  it('parses to the same conditions', () => {
    fc.assert(
      fc.property(text(short, 20), fc.option(plain, { nil: undefined }), (texts, other) => {
        const conditions = other ? [other, ...texts] : texts
        const query: EventQuery = {
          where: { combinator: 'and', conditions, groupings: [] },
          sorts: [],
          limit: 10,
        }
        expect(parseQuery(formatQuery(query))).toEqual(query)
      }),
      { numRuns: 400 },
    )
  })

  it('parses to the same conditions if there are too many for q, or if they are alternatives', () => {
    fc.assert(
      fc.property(
        text(short, 60),
        fc.constantFrom('and' as const, 'or' as const),
        (conditions, combinator) => {
          const query: EventQuery = {
            where: { combinator, conditions, groupings: [] },
            sorts: [],
            limit: 10,
          }
          expect(parseQuery(formatQuery(query))).toEqual(query)
        },
      ),
      { numRuns: 150 },
    )
  })
})

/** Parses the query; `undefined` if it is refused with an `AuditLogError`. */
function tryParse(query: string | QueryObject): EventQuery | undefined {
  try {
    return parseQuery(query)
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
    expect(error.message).not.toBe('')
    return undefined
  }
}

describe('a parsed query', () => {
  const fragments = [
    ...['filter[', 'filter', '[', ']', '[]', '][', '=', '&', '%', '%5B', '%5D', '+', '%20', '%FF'],
    ...['limit', 'limit=', '1', '0', 'g', 'c', 'm', 's', 'sorts', 'a', 'p', 'v', 'name', 'dir'],
    ...['or', 'and', '_or_', '_', 'a_eq', 'a_in', 'a_null', 'created_at_lt', 'eq', 'type asc', ','],
    ...['filter[a_eq]=1&', 'filter[g][0]', 'filter[c][0]', '__proto__', '\0', 'é', '😀', '\uD83D'],
  ]
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom(...fragments), { maxLength: 24, size: 'max' })
      .map((parts) => parts.join('')),
    fc
      .array(fc.array(fc.constantFrom(...fragments), { maxLength: 5 }), { maxLength: 6 })
      .map((parameters) => parameters.map((parts) => `filter[${parts.join('')}`).join('&')),
  )

  it('from any text is a query or an AuditLogError', () => {
    let queries = 0
    fc.assert(
      fc.property(text, (text) => {
        if (tryParse(text)) queries++
        tryParse(`filter[${text}`)
        tryParse(`filter[a_eq]=${text}`)
        tryParse(`limit=${text}`)
        tryParse(`q=${text}`)
      }),
      { numRuns: 1500 },
    )
    expect(queries).toBeGreaterThan(100)
  })

  const key = fc.oneof(
    fc.constantFrom(...words('a_eq a_in a_null a_or_b_cont created_at_gt system_eq __proto__')),
    fc.constantFrom(...words('m g c s sorts a p v name dir value 0 filter')),
    fc.string(),
  )
  const member = fc.oneof(
    fc.constantFrom<unknown>('x', 'or', 'eq', 'a desc', 1, true, '2026-03-01', '', null, undefined),
    fc.anything({ key, maxDepth: 3, withDate: true, withMap: true, withSparseArray: true }),
  )

  it('from any object is a query or an AuditLogError', () => {
    let queries = 0
    fc.assert(
      fc.property(fc.dictionary(key, member), member, fc.anything(), (filter, limit, whole) => {
        if (tryParse({ filter })) queries++
        tryParse({ filter, limit } as QueryObject)
        tryParse({ filter: { g: [filter], c: [filter] } })
        if (typeof whole === 'object' && whole !== null) tryParse(whole)
      }),
      { numRuns: 1500 },
    )
    expect(queries).toBeGreaterThan(100)
  })

  it('can be formatted and parsed again', () => {
    fc.assert(
      fc.property(text, fc.dictionary(key, member), (text, filter) => {
        for (const query of [tryParse(text), tryParse({ filter })]) {
          if (!query || !JSON.stringify(query).isWellFormed()) continue
          if (/\\ud[89a-f]/.test(JSON.stringify(query))) continue
          expect(parseQuery(formatQuery(query))).toEqual(query)
        }
      }),
      { numRuns: 500 },
    )
  })
})
