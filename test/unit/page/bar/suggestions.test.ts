import { describe, expect, it } from 'vitest'
import { completeLine } from '../../../../adapters/page/bar/query-line-completion.js'
import { suggest } from '../../../../adapters/page/bar/suggestions.js'
import { ENGLISH } from '../../../../adapters/page/bar/time-words.js'
import { phraseText } from '../../../../adapters/page/data/phrases.js'
import type { Range } from '../../../../adapters/page/data/query.js'

const words = {
  attributes: { username: 'user' },
  level: 'level',
  predicates: {
    eq: 'is',
    not_eq: 'is not',
    in: 'is any of',
    cont: 'contains',
    start: 'starts with',
    null: 'is missing',
  },
  timePredicates: {},
  textPredicates: { cont: 'contains the text', not_cont: 'does not contain the text' },
  or: 'or',
  and: 'and',
}

const known = {
  attributes: [
    {
      name: 'username',
      values: [
        { value: 'ann', count: 3 },
        { value: 'joanna', count: 9 },
      ],
    },
    { name: 'type', values: [{ value: 'api:plan:create', count: 20 }, { value: 'error:x' }] },
    { name: 'channel', values: [] },
    { name: 'name', values: [] },
  ],
  recent: ['range=24h&filter[type_start]=api:&filter[username_eq]=joanna'],
  types: [
    { type: 'api:plan:create', text: 'created a plan' },
    { type: 'audit:grant', text: 'was given the annual right to do it' },
  ],
  typedAt: { now: new Date('2026-11-20T10:00:00Z'), zone: 'UTC', words: [ENGLISH] },
  rangeText: (range: Range): string => JSON.stringify(range),
}

const offered = (text: string): string[] =>
  suggest(text, known, words).map(({ kind, phrases }) => `${kind}: ${phraseText(phrases)}`)

describe('suggestions', () => {
  it('are the text, values, types by their sentence, attributes and recent queries, in this order', () => {
    expect(offered('ann')).toEqual([
      'typed: contains the text ann',
      'value: user is ann',
      'value: user is joanna',
      'value: type is audit:grant',
      'attribute: channel',
      'recent: type starts with api: and user is joanna',
    ])
  })

  it('show how a typed text is read, and offer it as a phrase', () => {
    expect(offered('user:bob -x yesterday').slice(0, 2)).toEqual([
      'typed: user is bob and does not contain the text x and {"last":"yesterday"}',
      'text: contains the text user:bob -x yesterday',
    ])
    const [typed] = suggest('colour > 5 24h', known, words)
    expect(typed?.unknown).toEqual(['colour'])
    expect(typed?.take).toMatchObject({ range: { last: '24h' } })
    const [problem] = suggest('user >', known, words)
    expect(problem).toMatchObject({ kind: 'problem', take: { text: 'user >' } })
  })

  it.each([
    'create',
    'plan',
    'api:plan:create',
    'type is api:plan:create',
    'user:ann',
    'joanna',
    '',
  ])('have no equal texts: %s', (text) => {
    const twice = { ...known, recent: [...known.recent, known.recent[0]!.replace('24h', '7d')] }
    const texts = suggest(text, twice, words).map(({ phrases }) => phraseText(phrases))
    expect(texts).not.toEqual([])
    expect([...new Set(texts)]).toEqual(texts)
  })

  it('have the known number of events of the same filter', () => {
    const [typed] = suggest('api:plan:create', known, words)
    expect(typed).toMatchObject({ kind: 'typed', count: 20 })
  })

  it('are the newest events of types after "since"', () => {
    const [since] = suggest('since plan', known, words)
    expect(since?.take).toEqual({ sinceType: 'api:plan:create' })
    const [time] = suggest('since monday', known, words)
    expect(time?.take).toMatchObject({ range: { from: '2026-11-16T00:00:00Z' } })
  })

  it('are attributes if nothing is typed', () => {
    expect(offered('')[0]).toBe('attribute: level')
    expect(offered('').at(-1)).toMatch(/^recent: /)
  })

  it('are predicates after an attribute', () => {
    expect(offered('user ')[0]).toBe('predicate: user is')
    expect(offered('username is m')).toEqual(['text: user is m', 'predicate: user is missing'])
    const [first] = suggest('user con', known, words)
    expect(first?.take).toEqual({ text: 'user contains ' })
  })

  it('are values after a predicate, existing ones before the typed one', () => {
    expect(offered('user is an').slice(0, 3)).toEqual([
      'value: user is ann',
      'value: user is joanna',
      'text: user is an',
    ])
    expect(offered('user is not ann')).toEqual([
      'value: user is not ann',
      'value: user is not joanna',
    ])
    expect(offered('user contains an')[0]).toBe('text: user contains an')
  })

  it('read lists, levels and API names', () => {
    const [list] = suggest('user is any of ann, bob', known, words)
    expect(list?.take).toMatchObject({ conjunct: { predicate: 'in', values: ['ann', 'bob'] } })
    const [level] = suggest('level is w', known, words)
    expect(level?.take).toMatchObject({ conjunct: { values: ['warn:', 'warning:'] } })
    const [written] = suggest('url_params_id_not_eq=a b', known, words)
    expect(written?.take).toMatchObject({
      conjunct: { attributes: ['url_params_id'], predicate: 'not_eq', values: ['a b'] },
    })
  })
})

describe('completions of the query line', () => {
  const at = (text: string) => completeLine(text, text.length, known.attributes)

  it('are attributes, then predicates, then values', () => {
    expect(at('filter[us')).toEqual({ from: 7, to: 9, options: ['username_'] })
    expect(at('range=1h&filter[g][0][username_not_c')?.options).toContain('username_not_cont]')
    expect(at('filter[username_eq]=a')).toEqual({ from: 20, to: 21, options: ['ann'] })
    expect(at('filter[type_in][]=api')?.options).toEqual(['api:plan:create'])
    expect(at('range=1h&fil')).toEqual({ from: 9, to: 12, options: ['filter['] })
  })

  it('are empty if nothing matches', () => {
    expect(at('filter[username_eq]=zz')).toBeUndefined()
    expect(at('filter[zz')).toBeUndefined()
  })
})
