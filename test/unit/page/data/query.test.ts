import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNegative, negated, orMissing } from '../../../../adapters/page/data/negation.js'
import {
  type LevelChoice,
  levelChoice,
  levelConjunct,
} from '../../../../adapters/page/data/level-choice.js'
import {
  ALL_TIME,
  apiQuery,
  apiQueryWith,
  conditionOn,
  type Conjunct,
  formatPageQuery,
  parsePageQuery,
  rangeAt,
  relativeMilliseconds,
  replaceConjunct,
  valueCondition,
  withConjunct,
  withoutConjunct,
} from '../../../../adapters/page/data/query.js'
import type { AuditEvent } from '../../../../src/event/event.js'
import { compileFilter } from '../../../../src/filter/evaluate.js'
import { parseQuery } from '../../../../src/filter/parse.js'
import { predicates } from '../../../../src/filter/predicates.js'
import { type Level, LEVELS } from '../../../../src/event/level.js'
import { condition, event, fullEvent, grouping, holds, pageQuery, where } from './queries.js'
import { words } from '../../../support/words.js'

const NOW = new Date('2026-11-20T13:06:00.500Z')

describe('the query in the address', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(pageQuery, (query) => {
        expect(parsePageQuery(formatPageQuery(query))).toEqual(query)
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    'my name',
    ' a',
    'a,b',
    'x[y]',
    '[x',
    'x]',
    'a=b',
    'a&b',
    'a_or_b',
    'a+b',
    'a%20b',
    'a desc',
    's',
    'level',
    'a_eq',
  ])('filters and sorts by the attribute "%s"', (name) => {
    const query = {
      where: [valueCondition(name, 'v'), valueCondition(name, null, true)],
      sorts: [{ attribute: name, direction: 'desc' as const }],
      range: ALL_TIME,
    }
    const read = parseQuery(apiQuery(query))
    expect(read.sorts).toEqual(query.sorts)
    expect(read.where?.conditions.map(({ attributes }) => attributes)).toEqual([[name], [name]])
    expect(parsePageQuery(formatPageQuery(query))).toMatchObject(query)
  })

  it('reads bounds on created_at as the range', () => {
    const search =
      'filter[created_at_gteq]=2026-11-19&filter[created_at_lt]=2026-11-20&filter[a_eq]=1'
    expect(parsePageQuery(search)).toEqual({
      where: [conditionOn('a', 'eq', ['1'])],
      sorts: [],
      range: { from: '2026-11-19', to: '2026-11-20' },
    })
  })

  it('keeps several bounds of one kind as filters', () => {
    const search =
      'filter[created_at_lt]=2026-11-19&filter[c][0][a]=created_at&filter[c][0][p]=lt&filter[c][0][v]=2026-11-18'
    const { where, range } = parsePageQuery(search)
    expect(where).toHaveLength(2)
    expect(range).toEqual(ALL_TIME)
  })

  it('keeps a relative range and a bound apart', () => {
    const { where, range } = parsePageQuery('range=24h&filter[created_at_lt]=2026-11-20')
    expect(range).toEqual({ last: '24h' })
    expect(where).toHaveLength(1)
  })

  it.each(['range=0h', 'range=24', 'range=1y', 'range=', 'range=-1h', 'range=999999h'])(
    'refuses %s',
    (search) => {
      expect(() => parsePageQuery(search)).toThrow(RangeError)
    },
  )

  it('names the nearest predicate', () => {
    expect(() => parsePageQuery('range=1h&filter[type_begins]=api:')).toThrow(
      expect.objectContaining({ parameter: 'filter[type_begins]', suggestion: 'type_start' }),
    )
  })

  it('reads relative lengths', () => {
    expect(['15m', '24h', '7d', '4w', '90s'].map(relativeMilliseconds)).toEqual([
      900_000,
      86_400_000,
      604_800_000,
      2_419_200_000,
      undefined,
    ])
  })
})

describe('the API query', () => {
  it("matches the same events as the page's query", () => {
    fc.assert(
      fc.property(where, fullEvent, (where, event) => {
        const query = apiQuery({ where, sorts: [], range: ALL_TIME })
        const { where: filter } = parseQuery(query)
        expect(compileFilter(filter)(event)).toBe(where.every((part) => holds(part, event)))
      }),
      { numRuns: 150 },
    )
  })

  it('writes a relative range as absolute times', () => {
    const query = {
      where: [conditionOn('type', 'start', ['api:'])],
      sorts: [],
      range: { last: '24h' },
    }
    expect(apiQuery(query, NOW)).toBe(
      'filter[created_at_gteq]=2026-11-19T13%3A06%3A00Z&filter[type_start]=api%3A',
    )
    expect(rangeAt({ last: '15m' }, NOW)).toEqual({ from: '2026-11-20T12:51:00Z', to: undefined })
  })

  it('combines an any-group with the range', () => {
    const either: Conjunct = {
      combinator: 'or',
      conditions: [conditionOn('a', 'eq', ['x']), conditionOn('b', 'eq', ['x'])],
      groupings: [],
    }
    const query = apiQuery({ where: [either], sorts: [], range: { last: '1h' } }, NOW)
    const filter = compileFilter(parseQuery(query).where)
    const at = (created_at: string): AuditEvent => event({ b: 'x', created_at })
    expect(filter(at('2026-11-20T12:30:00.000000Z'))).toBe(true)
    expect(filter(at('2026-11-20T11:30:00.000000Z'))).toBe(false)
  })

  it('adds further filters and drops sorts', () => {
    const query = {
      where: [conditionOn('a', 'eq', ['x'])],
      sorts: [{ attribute: 'a', direction: 'asc' as const }],
      range: ALL_TIME,
    }
    expect(apiQueryWith(query, [conditionOn('b', 'null')])).toBe('filter[a_eq]=x&filter[b_null]=1')
    expect(apiQuery(query)).toBe('filter[a_eq]=x&filter[sorts][]=a%20asc')
  })
})

describe('filters', () => {
  const query = { where: [conditionOn('a', 'eq', ['x'])], sorts: [], range: ALL_TIME }

  it('are added once, replaced and removed', () => {
    const same = conditionOn('a', 'eq', ['x'])
    const other = conditionOn('a', 'eq', ['y'])
    expect(withConjunct(query, same)).toBe(query)
    expect(withConjunct(query, other).where).toEqual([same, other])
    expect(replaceConjunct(query, same, other).where).toEqual([other])
    expect(withoutConjunct(query, same).where).toEqual([])
  })

  it('test for a missing value if a cell is empty', () => {
    expect(valueCondition('a', null)).toEqual(conditionOn('a', 'null'))
    expect(valueCondition('a', null, true)).toEqual(conditionOn('a', 'not_null'))
    expect(valueCondition('a', 'x', true)).toEqual(conditionOn('a', 'not_eq', ['x']))
  })

  it('match exactly the other events with the attributes when negated', () => {
    fc.assert(
      fc.property(fc.oneof(condition, grouping), fullEvent, (conjunct, event) => {
        expect(holds(negated(conjunct), event)).toBe(!holds(conjunct, event))
        expect(negated(negated(conjunct))).toEqual(conjunct)
      }),
      { numRuns: 200 },
    )
  })

  it('also match events without the attribute with "or is missing"', () => {
    const isNot = conditionOn('a', 'not_eq', ['x'])
    const kept = orMissing(isNot)
    const answers = [event({ a: 'y' }), event({}), event({ a: 'x' })]
    expect(answers.map((event) => holds(isNot, event))).toEqual([true, false, false])
    expect(answers.map((event) => holds(kept, event))).toEqual([true, true, false])
  })

  it('are negative if they exclude a value', () => {
    const negative = [...predicates.values()]
      .filter(({ compound, name }) => compound === undefined && isNegative(name))
      .map(({ name }) => name)
    expect(negative).toEqual(
      words(`
        not_eq not_in does_not_match not_cont not_i_cont not_start not_end not_true not_false null
        blank
      `),
    )
    expect(isNegative('not_cont_any')).toBe(true)
    expect(isNegative('not_null')).toBe(false)
  })
})

describe('levels', () => {
  const choice = fc.record({
    levels: fc.subarray([...LEVELS], { minLength: 1 }),
    not: fc.boolean(),
  })

  // Excluding all levels except custom is the same as selecting custom.
  const shown = ({ levels, not }: LevelChoice): readonly Level[] =>
    LEVELS.filter((level) => levels.includes(level) !== not)

  it('are read back from the condition on the type', () => {
    fc.assert(
      fc.property(choice, (choice) => {
        const conjunct = levelConjunct(choice)
        expect(shown(levelChoice(conjunct)!)).toEqual(shown(choice))
        const search = formatPageQuery({ where: [conjunct], sorts: [], range: ALL_TIME })
        expect(parsePageQuery(search).where).toEqual([conjunct])
      }),
    )
    expect(levelChoice(levelConjunct({ levels: ['error', 'warn'], not: true }))).toEqual({
      levels: ['error', 'warn'],
      not: true,
    })
  })

  it('match the types with their prefix', () => {
    const types = {
      error: 'error:a:b',
      warn: 'warning:a',
      audit: 'audit:a:b',
      info: 'info:a',
      api: 'API:a:b',
      custom: 'deploy:done',
    }
    fc.assert(
      fc.property(choice, fc.constantFrom(...LEVELS), ({ levels, not }, level) => {
        const filter = levelConjunct({ levels, not })
        expect(holds(filter, event({ type: types[level] }))).toBe(levels.includes(level) !== not)
      }),
    )
  })

  it('are not read from other conditions', () => {
    fc.assert(
      fc.property(fc.oneof(condition, grouping), (conjunct) => {
        expect(levelChoice(conjunct)).toBeUndefined()
      }),
    )
    expect(levelChoice(conditionOn('type', 'start_any', ['warn:']))).toBeUndefined()
  })
})
