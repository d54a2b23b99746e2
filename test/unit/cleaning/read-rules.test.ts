import { NO_SEALED_NAMES } from '../../../src/filter/sealed-names.js'
import { describe, expect, it } from 'vitest'
import { checkHolds } from '../../../src/cleaning/filters.js'
import { readRules } from '../../../src/cleaning/read-rules.js'
import type { CleaningRule } from '../../../src/cleaning/rule.js'

const run = (): Promise<number> => Promise.resolve(0)
const maxAge = { days: 30 }

const aged = { target: 'events', maxAge } as const

const invalid: [string, object, RegExp][] = [
  ['no bound', { target: 'events' }, /rule events: needs maxAge, maxRows or maxBytes/],
  ['an empty age', { target: 'events', maxAge: {} }, /rule events: maxAge must be/],
  ['an age of zero', { target: 'events', maxAge: { days: 0 } }, /maxAge must be longer than 0/],
  ['an endless age', { target: 'events', maxAge: { years: 1e9 } }, /at most 1000 years/],
  ['an unknown unit', { target: 'events', maxAge: { day: 1 } }, /a date-fns Duration/],
  ['a number as age', { target: 'events', maxAge: 30 }, /maxAge must be a date-fns Duration/],
  [
    'a fraction of a month',
    { target: 'events', maxAge: { months: 0.5 } },
    /whole years and months/,
  ],
  ['a negative age', { target: 'events', maxAge: { days: -1 } }, /maxAge must be a date-fns/],
  ['rows as text', { target: 'events', maxRows: '10' }, /maxRows must be a whole number/],
  ['negative bytes', { target: 'events', maxBytes: -1 }, /maxBytes must be a whole number/],
  [
    'an unknown predicate',
    { ...aged, name: 'old', filter: 'filter[type_equals]=a' },
    /rule old: filter: filter\[type_equals\]: no known predicate/,
  ],
  [
    'an unknown parameter',
    { ...aged, filter: 'fliter[type_eq]=a' },
    /rule events: filter: fliter\[type_eq\] is not a parameter/,
  ],
  ['a limit', { ...aged, filter: 'filter[type_eq]=a&limit=5' }, /cannot have a limit/],
  ['sorts', { ...aged, filter: 'filter[type_eq]=a&filter[s]=type' }, /cannot have sorts/],
  ['a blank filter', { ...aged, filter: '' }, /filter has no condition/],
  ['a filter that is undefined', { ...aged, filter: undefined }, /is undefined/],
  [
    'a filter with a part that would be left out',
    { ...aged, filter: { filter: { type_eq: 'a', tenant_eq: undefined } } },
    /rule events: filter: filter\[tenant_eq\]: sets no condition/,
  ],
  ['null as filter', { ...aged, filter: null }, /rule events: filter: a query is/],
  ['an archive without a name', { ...aged, archive: '' }, /archive must be/],
  [
    'a mode without owner',
    { ...aged, archive: 'a', archiveMode: 0o044 },
    /archiveMode must be from 0o600 to 0o777.*it is 0o44/,
  ],
  [
    'a mode without a directory',
    { ...aged, archiveMode: 0o640 },
    /archiveMode needs an archive in a directory/,
  ],
  ['every and at', { ...aged, every: { days: 1 }, at: '03:00' }, /cannot have both/],
  ['a wrong interval', { target: 'statistics', every: { fortnights: 1 } }, /every must be/],
  ['a wrong time of day', { target: 'statistics', at: '24:00' }, /at must be a time of day/],
  ['a time of day that is a number', { target: 'statistics', at: 330 }, /at must be a time of day/],
  [
    'a misspelt member',
    { ...aged, maxage: 1 },
    /rule events has no option maxage; did you mean maxAge\?/,
  ],
  [
    'an age of statistics',
    { target: 'statistics', maxAge },
    /rule statistics has no option maxAge/,
  ],
  ['a host rule without run', { target: 'jobs', maxAge }, /rule jobs: run must be a function/],
  ['a host rule with rows', { target: 'jobs', run, maxRows: 1 }, /rule jobs has no option maxRows/],
  ['filters that are a list', { target: 'jobs', run, filters: [] }, /filters must be an object/],
  ['no target', { run }, /rule 0: target must be a text/],
  ['a target of control characters', { target: 'a\n', run }, /target must be a text/],
  ['a name that is not a text', { name: 1, target: 'jobs', run }, /rule 0: name must be a text/],
  ['an empty name', { name: '', target: 'jobs', run }, /name must be a text of 1 to 100/],
  ['null', null as unknown as object, /rule 0: target must be/],
]

describe('cleaning rules', () => {
  it.each(invalid)('with %s are rejected', (_, rule, message) => {
    expect(() => readRules([rule as CleaningRule], NO_SEALED_NAMES)).toThrow(message)
    expect(() => readRules([rule as CleaningRule], NO_SEALED_NAMES)).toThrow(
      expect.objectContaining({ name: 'AuditLogError', code: 'INVALID_OPTION' }),
    )
  })

  it('with the same name are rejected', () => {
    const rules: CleaningRule[] = [
      { target: 'jobs', run },
      { name: 'jobs', target: 'statistics' },
    ]
    expect(() => readRules(rules, NO_SEALED_NAMES)).toThrow('two cleaning rules jobs')
  })

  it('that are not a list are rejected', () => {
    expect(() => readRules({} as unknown as CleaningRule[], NO_SEALED_NAMES)).toThrow(
      'rules must be a list',
    )
  })

  it('are named after their target by default, and have their criteria as filters', () => {
    const rules = readRules(
      [
        { ...aged, maxRows: 0, maxBytes: 5, filter: { filter: { type_eq: 'a:b' } } },
        { name: 'nightly', target: 'statistics', at: '03:30' },
        { target: 'jobs', run, every: { hours: 2 }, filters: { state: 'done' } },
      ],
      NO_SEALED_NAMES,
    )
    const filters = { filter: 'filter[type_eq]=a%3Ab', max_age: maxAge, max_rows: 0, max_bytes: 5 }
    expect(rules.map((rule) => [rule.name, rule.target, rule.schedule, rule.filters])).toEqual([
      ['events', 'events', undefined, filters],
      ['nightly', 'statistics', { at: 12_600_000_000 }, {}],
      ['jobs', 'jobs', { every: { hours: 2 } }, { state: 'done' }],
    ])
  })
})

describe('legal holds', () => {
  it('with a filter that matches all events or is invalid are rejected', () => {
    expect(() => checkHolds([{ name: 'case 7', filter: '' }], NO_SEALED_NAMES)).toThrow(
      'legal hold case 7: filter has no condition',
    )
    expect(() => checkHolds([{ filter: 'filter[a]=1' }], NO_SEALED_NAMES)).toThrow(
      'legal hold 0: filter: filter[a]',
    )
    const blank = [{ filter: 'filter[type_eq]=a&filter[tenant_not_eq]=' }]
    expect(() => checkHolds(blank, NO_SEALED_NAMES)).toThrow(
      'legal hold 0: filter: filter[tenant_not_eq]: sets no',
    )
  })
})
