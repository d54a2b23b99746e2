import { describe, expect, it } from 'vitest'
import { querySentence } from '../../../../adapters/page/builder/sentence.js'
import {
  describeConjunct,
  isNegativeConjunct,
  phraseText,
  requiredAttribute,
  escapeInvisible,
} from '../../../../adapters/page/data/phrases.js'
import { negated } from '../../../../adapters/page/data/negation.js'
import { levelConjunct } from '../../../../adapters/page/data/level-choice.js'
import { type Conjunct, parsePageQuery } from '../../../../adapters/page/data/query.js'
import { filters } from '../../filter/queries.js'

const words = {
  attributes: { username: 'user' },
  level: 'level',
  predicates: {
    eq: 'is',
    not_eq: 'is not',
    cont: 'contains',
    not_cont: 'does not contain',
    start: 'starts with',
    null: 'is missing',
    lt: 'is less than',
  },
  timePredicates: { lt: 'is before' },
  or: 'or',
  and: 'and',
}

const read = (filter: string): readonly Conjunct[] =>
  parsePageQuery(`range=1h&${filters(filter)}`).where

const text = (filter: string): string =>
  read(filter)
    .map((part) => phraseText(describeConjunct(part, words)))
    .join(' | ')

describe('a filter in plain words', () => {
  it.each([
    ['type_start=api:', 'type starts with api:'],
    ['username_not_eq=ann', 'user is not ann'],
    ['username_in[]=ann&username_in[]=bob', 'user is ann or bob'],
    ['username_in[]=ann', 'user is ann'],
    ['username_not_in[]=ann&username_not_in[]=bob', 'user is not ann or bob'],
    ['a_cont_all[]=x&a_cont_all[]=y', 'a contains x and y'],
    ['a_not_cont_all[]=x&a_not_cont_all[]=y', 'a does not contain x or y'],
    ['a_not_cont_any[]=x&a_not_cont_any[]=y', 'a does not contain x and y'],
    ['a_in_any[]=x&a_in_any[]=y', 'a is x or y'],
    ['a_null=1', 'a is missing'],
    ['created_at_lt=2026-11-20', 'created_at is before 2026-11-20'],
    ['a_or_b_eq=x', 'a or b is x'],
    ['a_matches=x%25', 'a matches x%'],
    ['g[0][m]=or&g[0][a_eq]=x&g[0][name_cont]=y', 'a is x or name contains y'],
    [
      'g[0][m]=or&g[0][a_eq]=x&g[0][g][0][b_eq]=y&g[0][g][0][c_eq]=z',
      'a is x or ( b is y and c is z )',
    ],
  ])('%s', (filter, expected) => {
    expect(text(filter)).toBe(expected)
  })

  it('shows prefixes of the type as levels', () => {
    const levels = levelConjunct({ levels: ['warn', 'error'], not: false })
    expect(describeConjunct(levels, words)).toEqual([
      { kind: 'attribute', text: 'level' },
      { kind: 'predicate', text: 'is' },
      { kind: 'value', text: 'error', level: 'error' },
      { kind: 'join', text: 'or' },
      { kind: 'value', text: 'warn', level: 'warn' },
    ])
    const none = levelConjunct({ levels: ['custom', 'error'], not: true })
    expect(phraseText(describeConjunct(none, words))).toBe('level is not error or custom')
    expect(isNegativeConjunct(none)).toBe(true)
  })

  it('shows invisible characters', () => {
    expect(escapeInvisible('a\u202Eb\u0000\n')).toBe('aU+202EbU+0000U+000A')
  })

  it('names the attribute that a negative filter requires', () => {
    const needs = (filter: string): unknown => requiredAttribute(read(filter)[0]!)
    expect(needs('username_not_eq=ann')).toBe('username')
    expect(needs('a_does_not_match=x')).toBe('a')
    expect(needs('a_not_null=1')).toBeUndefined()
    expect(needs('a_null=1')).toBeUndefined()
    expect(needs('username_eq=ann')).toBeUndefined()
    expect(needs('type_not_start=api:')).toBeUndefined()
    expect(requiredAttribute(negated(read('a_or_b_eq=x')[0]!))).toBeUndefined()
  })
})

describe('the sentence of a query', () => {
  const sentence = (filter: string): string =>
    phraseText(
      querySentence(read(filter), {
        ...words,
        events: 'Events',
        whose: 'whose',
        theEvent: 'where the event',
        all: 'All events',
      }),
    )

  it('separates groups with commas', () => {
    expect(sentence('a_eq=x&b_eq=y&g[0][m]=or&g[0][c_eq]=1&g[0][d_cont]=2')).toBe(
      'Events whose a is x and whose b is y , and whose c is 1 or whose d contains 2',
    )
  })

  it('says that all events match', () => {
    expect(sentence('')).toBe('All events')
  })
})
