import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { spaced } from '../support/host.js'
import { serve, type TestServer } from '../support/http.js'
import { PATH } from './access.js'

const INVALID = 'INVALID_VALUE'
const UNKNOWN = 'UNKNOWN_PARAMETER'
const MALFORMED = 'MALFORMED_PARAMETER'

const ONE = '/0196b3c2-0000-7000-8000-000000000000'

const manyFacets = Array.from({ length: 21 }, (_, n) => `facets[]=a${n}`).join('&')
const manyNumbers = [...'abcdef'].map((name) => `numbers[]=${name}`).join('&')

const LIST = 'the parameters are filter, q, limit, personal and fields[event]'
const FORMATS = 'must be ndjson, csv, cloudevents, ocsf, otlp or parquet'

/** A parameter of an endpoint, and the expected message of the error. */
type Refused = readonly [target: string, code: string, parameter: string, said?: string]

const refused: readonly Refused[] = [
  ['?filter[type_equals]=x', 'UNKNOWN_PREDICATE', 'filter[type_equals]', 'type_eq?'],
  ['?filter[created_at_lt]=yesterday', INVALID, 'filter[created_at_lt]'],
  ['?filter[created_at_lt]=', INVALID, 'filter[created_at_lt]'],
  ['?filter[system_eq]=maybe', INVALID, 'filter[system_eq]'],
  ['?filter[m]=xor', INVALID, 'filter[m]'],
  ['?filter[sorts]=type,name', MALFORMED, 'filter[sorts]'],
  ['?filter[sorts]=type up', INVALID, 'filter[sorts]'],
  ['?filter[type_eq=x', MALFORMED, 'filter[type_eq'],
  ['?filter[type_eq][]=x', INVALID, 'filter[type_eq]'],
  ['?filter=x', MALFORMED, 'filter'],
  ['?filter[name_cont]=50%', MALFORMED, 'filter[name_cont]'],
  ...['0', '-1', '1.5', 'ten', '', '1e2', '%20'].map((limit): Refused => [
    `?limit=${limit}`,
    INVALID,
    'limit',
  ]),
  ['?sort=-created_at', UNKNOWN, 'sort', `${LIST}; did you mean filter[sorts]?`],
  [
    '?page[size]=5',
    UNKNOWN,
    'page[size]',
    `${LIST}; did you mean limit and filter[created_at_lt]?`,
  ],
  [
    '?include=source',
    UNKNOWN,
    'include',
    `${LIST}; events relate to other resources only by links`,
  ],
  ['?limt=5', UNKNOWN, 'limt', `limt is not supported here; ${LIST}; did you mean limit?`],
  ...['', ONE].flatMap((path): Refused[] => [
    [`${path}?fields[project]=code`, UNKNOWN, 'fields[project]', 'fields[event]'],
    [`${path}?fields=n`, UNKNOWN, 'fields', 'fields[event]'],
    [`${path}?fields[]=n`, UNKNOWN, 'fields[]', 'fields[event]'],
    [`${path}?fields[event][0]=n`, UNKNOWN, 'fields[event][0]', 'fields[event]'],
    [`${path}?fields[event]=50%`, MALFORMED, 'fields[event]'],
  ]),
  ...['include', 'filter[type_eq]', 'limit'].map((name): Refused => [
    `${ONE}?${name}=x`,
    UNKNOWN,
    name,
    `${name}: only personal and fields[event] is`,
  ]),

  ['/counts?limit=10', INVALID, 'limit', 'is not allowed: counts include all matching events'],
  ['/counts?buckets=-1', INVALID, 'buckets', 'must be a whole number from 0 to 1000'],
  ['/counts?buckets=1001', INVALID, 'buckets', 'from 0 to 1000'],
  ['/counts?buckets=', INVALID, 'buckets', 'from 0 to 1000'],
  ['/counts?buckets=5&buckets=6', INVALID, 'buckets', 'must not be repeated'],
  ['/counts?top=0', INVALID, 'top', 'must be a whole number from 1 to 1000'],
  ['/counts?top=1e2', INVALID, 'top', 'from 1 to 1000'],
  ['/counts?zone=Mars/Olympus', INVALID, 'zone', 'IANA time zone'],
  ['/counts?attributes=perhaps', INVALID, 'attributes', 'must be true or false'],
  ['/counts?facets=created_at', INVALID, 'facets', 'created_at'],
  [`/counts?${manyFacets}`, INVALID, 'facets', '20'],
  ['/counts?facets[x]=type', UNKNOWN, 'facets[x]', 'facets[], top and attributes'],
  ['/counts?within=5', UNKNOWN, 'within', 'the parameters are filter, q, buckets, zone, facets[]'],
  ['/counts?fields[event]=type', UNKNOWN, 'fields[event]', 'the parameters are filter'],
  ['/counts?filter[type_equals]=x', 'UNKNOWN_PREDICATE', 'filter[type_equals]', 'type_eq?'],
  ['/counts?facets=%ff', MALFORMED, 'facets', 'UTF-8'],

  ['/groups?', INVALID, 'by', 'must name one or two attributes, or level'],
  ['/groups?by=', INVALID, 'by', 'must name one or two attributes'],
  ['/groups?by[]=a&by[]=b&by[]=c', INVALID, 'by', 'must be at most 2 attributes'],
  ['/groups?by=id', INVALID, 'by', 'cannot have id'],
  ['/groups?by=type&limit=10', INVALID, 'limit', 'use top'],
  ['/groups?by=type&buckets=1001', INVALID, 'buckets', 'from 0 to 1000'],
  ['/groups?by=type&top=0', INVALID, 'top', 'from 1 to 1000'],
  ['/groups?by=type&buckets=5&zone=Mars/Olympus', INVALID, 'zone', 'IANA time zone'],
  [`/groups?by=type&${manyNumbers}`, INVALID, 'numbers', 'at most 5'],
  ['/groups?by=type&within=5', UNKNOWN, 'within', 'by[], numbers[], buckets, zone and top'],
  ['/groups?by=type&filter[type_equals]=x', 'UNKNOWN_PREDICATE', 'filter[type_equals]', 'type_eq?'],
  ['/groups?by=%ff', MALFORMED, 'by', 'UTF-8'],

  ['/export?limit=10', INVALID, 'limit', 'is not allowed: all matching events are returned'],
  ['/export?filter[sorts]=type', INVALID, 'filter[sorts]', 'must be created_at asc'],
  ['/export?filter[sorts]=created_at desc', INVALID, 'filter[sorts]', 'the only order'],
  ['/export?format=xml', INVALID, 'format', FORMATS],
  ['/export?format=', INVALID, 'format', FORMATS],
  ['/export?format=csv&format=csv', INVALID, 'format', 'must not be repeated'],
  ['/export?fields[event]=type', INVALID, 'fields[event]', 'only with format=csv or parquet'],
  ['/export?fields[user]=type&format=csv', UNKNOWN, 'fields[user]', 'fields[event]'],
  ['/export?page=2', UNKNOWN, 'page', 'the parameters are filter, q, format and fields[event]'],
  ['/export?filter[type_equals]=x', 'UNKNOWN_PREDICATE', 'filter[type_equals]', 'type_eq?'],

  ['/report?limit=3', INVALID, 'limit'],
  ['/report?filter[sorts]=type', INVALID, 'filter[sorts]'],
  ['/report?format=csv', UNKNOWN, 'format'],
  ['/report?filter[type_equals]=a', 'UNKNOWN_PREDICATE', 'filter[type_equals]'],

  ['/history?', INVALID, 'source', 'must be a path such as /api/orders/1; without it,'],
  ['/history?source=A-17', INVALID, 'source', 'must be a path such as /api/orders/1'],
  ['/history?source=/a&resource[b]=c', INVALID, 'source', 'must not be combined with'],
  ['/history?source=/a&source=/b', INVALID, 'source', 'must not be repeated'],
  ['/history?resource[a]=b&resource[a]=c', INVALID, 'resource[a]', 'must not be repeated'],
  [
    '/history?source=/a&as_of=today',
    INVALID,
    'as_of',
    'must be a time such as 2026-03-01T12:00:00Z',
  ],
  ['/history?source=/a&limit=101', INVALID, 'limit', 'must be a whole number from 1 to 100'],
  ['/history?source=/a&filter[a_eq]=b', UNKNOWN, 'filter[a_eq]', 'is not supported here'],
  ['/history?resource[]=b', UNKNOWN, 'resource[]', 'here; the parameters are source'],

  ['/stream?filter[type_equals]=a', 'UNKNOWN_PREDICATE', 'filter[type_equals]'],
  ['/stream?filter[created_at_gt]=soon', INVALID, 'filter[created_at_gt]'],
  ['/stream?filter[sorts]=type', INVALID, 'filter[sorts]'],
  ['/stream?filter[s]=type desc', INVALID, 'filter[sorts]'],
  ['/stream?limit=10', INVALID, 'limit'],
  ['/stream?fields[change]=type', UNKNOWN, 'fields[change]'],
  ['/stream?since=2000', UNKNOWN, 'since'],
  ['/stream?after=yesterday', INVALID, 'after'],
  ['/stream?after=', INVALID, 'after'],
  ['/stream?after=2000-01-01&after=2001-01-01', INVALID, 'after'],
  ['/stream?changes=maybe', INVALID, 'changes'],

  ['/types?filter[area_eq]=Shop', UNKNOWN, 'filter[area_eq]', 'no parameters are allowed here'],
  ['/me?user=eve', UNKNOWN, 'user'],
  ['/openapi.json?v=1', UNKNOWN, 'v'],
]

let server: TestServer

beforeAll(async () => {
  server = await serve()
})
afterAll(() => server.close())

const rows = refused.map(([target, code, parameter, said = '']) => ({
  target,
  code,
  parameter,
  said,
}))

it.each(rows)('$target is refused', async ({ target, code, parameter, said }) => {
  const response = await server.send(PATH + spaced(target))
  const { detail } = expectError(response, 400, code, { parameter })
  expect(detail).toContain(parameter)
  expect(detail).toContain(said)
})
