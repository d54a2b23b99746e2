import { describe, expect, it } from 'vitest'
import { readTyped } from '../../../../adapters/page/bar/reading.js'
import { ENGLISH } from '../../../../adapters/page/bar/time-words.js'
import { levelConjunct } from '../../../../adapters/page/data/level-choice.js'
import { conditionOn } from '../../../../adapters/page/data/query.js'

const words = {
  attributes: { username: 'user', url_params_project_code: 'project' },
  level: 'level',
  predicates: {},
  timePredicates: {},
  or: 'or',
  and: 'and',
}

const attributes = [
  'username',
  'type',
  'created_at',
  'response_status',
  'request_method',
  'name',
  'user',
  'changes_status',
].map((name) => ({
  name,
  values: name === 'type' ? [{ value: 'api:plan:create' }, { value: 'deploy' }] : [],
}))

const at = { now: new Date('2026-11-20T10:00:00Z'), zone: 'UTC', words: [ENGLISH] }

const read = (text: string) => readTyped(text, { attributes, words }, at)
const filters = (text: string) => read(text).conjuncts
const text = (value: string) => conditionOn('*', 'cont', [value])
const noText = (value: string) => conditionOn('*', 'not_cont', [value])

describe('a typed text', () => {
  it('is a comparison of an attribute, by the nearest name that occurs', () => {
    expect(filters('status >= 500')).toEqual([conditionOn('response_status', 'gteq', ['500'])])
    expect(filters('status<500')).toEqual([conditionOn('response_status', 'lt', ['500'])])
    expect(filters('name = "x y"')).toEqual([conditionOn('name', 'eq', ['x y'])])
    expect(filters('name != x')).toEqual([conditionOn('name', 'not_eq', ['x'])])
    expect(filters('nmae ~ x')).toEqual([conditionOn('name', 'cont', ['x'])])
    expect(filters('request.method=PUT')).toEqual([conditionOn('request_method', 'eq', ['PUT'])])
    expect(filters('name=a,"b, c"')).toEqual([conditionOn('name', 'in', ['a', 'b, c'])])
    expect(filters('name = ""')).toEqual([conditionOn('name', 'blank')])
  })

  it('is a value after a colon', () => {
    expect(filters('user:bob')).toEqual([conditionOn('username', 'eq', ['bob'])])
    expect(filters('-user:bob')).toEqual([conditionOn('username', 'not_eq', ['bob'])])
    expect(filters('user:bo*')).toEqual([conditionOn('username', 'start', ['bo'])])
    expect(filters('-user:*')).toEqual([conditionOn('username', 'null')])
    expect(filters('type:deploy')).toEqual([conditionOn('type', 'eq', ['deploy'])])
    expect(filters('type:plan')).toEqual([conditionOn('type', 'cont', ['plan'])])
    expect(filters('status:5xx')).toEqual([
      conditionOn('response_status', 'gteq', ['500']),
      conditionOn('response_status', 'lt', ['600']),
    ])
  })

  it('is a level', () => {
    expect(filters('level:error,warn')).toEqual([
      levelConjunct({ levels: ['error', 'warn'], not: false }),
    ])
    expect(filters('-level:api')).toEqual([levelConjunct({ levels: ['api'], not: true })])
  })

  it('is a type, or the start of one', () => {
    expect(filters('api:plan:create')).toEqual([conditionOn('type', 'eq', ['api:plan:create'])])
    expect(filters('api:pl')).toEqual([conditionOn('type', 'start', ['api:pl'])])
  })

  it('is text to search for', () => {
    expect(filters('bob')).toEqual([text('bob')])
    expect(filters('-bob "two words" -"a ""b"""')).toEqual([
      noText('bob'),
      text('two words'),
      noText('a "b"'),
    ])
    expect(filters('http://x.test/a?b=c')).toEqual([text('http://x.test/a?b=c')])
    expect(read('bob').isText).toBe(true)
    expect(read('user:bob').isText).toBe(false)
  })

  it('is several filters, and a time', () => {
    const { conjuncts, range } = read('user:bob status>=500 backup yesterday 14:00-15:00')
    expect(conjuncts).toEqual([
      conditionOn('username', 'eq', ['bob']),
      conditionOn('response_status', 'gteq', ['500']),
      text('backup'),
    ])
    expect(range).toEqual({ from: '2026-11-19T14:00:00Z', to: '2026-11-19T15:00:00Z' })
    expect(read('"yesterday"')).toMatchObject({ conjuncts: [text('yesterday')], range: undefined })
    expect(read('14:00 - 15:00').range).toEqual(read('14:00-15:00').range)
  })

  it('names attributes that no event has, and parts that are not understood', () => {
    expect(read('colour > 5')).toMatchObject({
      conjuncts: [conditionOn('colour', 'gt', ['5'])],
      unknown: ['colour'],
    })
    expect(read('status >=').problem).toEqual({ key: 'noValue', text: 'status >=' })
    expect(read('status > 1,2').problem).toEqual({ key: 'oneValue', text: '>' })
    expect(read('level:bad').problem).toEqual({ key: 'noLevel', text: 'bad' })
  })

  it('loses no character of the text that it does not read as a filter', () => {
    for (const typed of ['a"b', '>= 5', 'a - b', '"open', ':', '-', 'ü"ö', 'x:y:z', '""']) {
      const found = filters(typed).flatMap((conjunct) =>
        'values' in conjunct ? conjunct.values : [],
      )
      const letters = (all: string): string => all.replaceAll(/[\s"]|(?<!\S)-(?=\S)/g, '')
      expect(letters(found.join('')), typed).toBe(letters(typed))
    }
  })
})
