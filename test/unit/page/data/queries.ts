import fc from 'fast-check'
import type { Conjunct, PageQuery, Range } from '../../../../adapters/page/data/query.js'
import type { AuditEvent } from '../../../../src/event/event.js'
import type { Condition, Grouping, Sort } from '../../../../src/filter/ast.js'
import { compileFilter } from '../../../../src/filter/evaluate.js'
import { type PredicateName, predicateOf, predicates } from '../../../../src/filter/predicates.js'

/*
 * Arbitrary page queries over text attributes.
 */

const NAMES = ['a', 'b_c', 'username', 'type', 'd', 'x_eq', 'm', 'odd name', 'é[0]'] as const

const text = fc.oneof(
  fc.constantFrom('x', 'y', 'X', 'xy', '7', 'error:', "it's", 'a b', ' x', '100%', 'a&b=c', '#+?'),
  fc.constantFrom('; rm -rf /', '$(id)', '`id`', '"q"', '\\', 'a\nb', '\u202Eabc', '日本', '😀'),
)

const names = [...predicates.keys()] as PredicateName[]

export const condition: fc.Arbitrary<Condition> = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 }),
    fc.constantFrom('and' as const, 'or' as const),
    fc.constantFrom(...names),
    fc.array(text, { minLength: 1, maxLength: 3 }),
  )
  .map(([attributes, given, predicate, texts]) => {
    const { takes } = predicateOf(predicate)
    const values = { flag: [], one: texts.slice(0, 1), list: texts }[takes]
    const combinator = attributes.length > 1 ? given : 'and'
    return { attributes, combinator, predicate, values }
  })

const groupingOf = (depth: number): fc.Arbitrary<Grouping> =>
  fc
    .record({
      combinator: fc.constantFrom('and' as const, 'or' as const),
      conditions: fc.array(condition, { maxLength: 3 }),
      groupings: depth === 0 ? fc.constant([]) : fc.array(groupingOf(depth - 1), { maxLength: 2 }),
    })
    .filter(({ conditions, groupings }) => conditions.length + groupings.length > 0)

export const grouping = groupingOf(2)

/** Conditions before groups, as in the query string. */
export const where: fc.Arbitrary<readonly Conjunct[]> = fc
  .tuple(fc.array(condition, { maxLength: 3 }), fc.array(grouping, { maxLength: 2 }))
  .map((parts) => parts.flat())

const time = fc
  .integer({ min: 0, max: 1_900_000_000 })
  .map((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}.123456Z`)

const range: fc.Arbitrary<Range> = fc.oneof(
  fc.constantFrom('15m', '24h', '7d', '4w').map((last) => ({ last })),
  fc.record({
    from: fc.option(time, { nil: undefined }),
    to: fc.option(time, { nil: undefined }),
  }),
)

const sort: fc.Arbitrary<Sort> = fc.record({
  attribute: fc.constantFrom('created_at', 'username', 'a'),
  direction: fc.constantFrom('asc' as const, 'desc' as const),
})

export const pageQuery: fc.Arbitrary<PageQuery> = fc.record({
  where,
  sorts: fc.array(sort, { maxLength: 2 }),
  range,
})

export const event = (fields: Record<string, string>): AuditEvent => {
  const { type = 'api:x', username = 'x', created_at = '2026-11-20T13:00:00.000000Z' } = fields
  const { type: _, username: __, created_at: ___, ...attributes } = fields
  return { id: 'x', created_at, username, system: true, type, source: null, attributes }
}

export const holds = (conjunct: Conjunct, event: AuditEvent): boolean =>
  compileFilter({
    combinator: 'and',
    conditions: 'groupings' in conjunct ? [] : [conjunct],
    groupings: 'groupings' in conjunct ? [conjunct] : [],
  })(event)

/** Events that have all of the attributes, each a text. */
export const fullEvent = fc
  .tuple(
    ...NAMES.map((name) =>
      fc.constantFrom('x', 'y', 'XY', '7', 'error:', '', 'a b').map((text) => [name, text]),
    ),
  )
  .map((entries) => event(Object.fromEntries(entries) as Record<string, string>))
