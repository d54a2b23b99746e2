import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { curlLine, shellQuote } from '../../../../adapters/page/data/curl-command.js'
import { parsePasted } from '../../../../adapters/page/bar/pasted-query.js'
import { apiQuery, parsePageQuery } from '../../../../adapters/page/data/query.js'
import { pageQuery } from './queries.js'

const HOSTILE = [
  "it's",
  "'; rm -rf / #",
  '$(id)',
  '`id`',
  '\\',
  '"',
  '*',
  '!!',
  'a\nb',
  "''",
  '-x',
  '~',
  '',
]

describe('a curl command', () => {
  it('quotes every text as one word', () => {
    const script = `for word in ${HOSTILE.map(shellQuote).join(' ')}; do printf '%s\\0' "$word"; done`
    expect(
      execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1),
    ).toEqual(HOSTILE)
  })

  it('names the user, quoted if needed', () => {
    expect(curlLine('ann', 'http://h/api/events?filter[a_eq]=1')).toBe(
      "curl -g -u ann 'http://h/api/events?filter[a_eq]=1'",
    )
    expect(curlLine("o'hara; id", 'http://h/')).toBe(
      String.raw`curl -g -u 'o'\''hara; id' 'http://h/'`,
    )
    expect(curlLine(undefined, 'http://h/')).toBe("curl -g 'http://h/'")
  })

  it('is read back as the same query', () => {
    fc.assert(
      fc.property(pageQuery, (query) => {
        const filter = apiQuery(query, new Date(0))
        fc.pre(filter !== '')
        const pasted = parsePasted(curlLine("o'hara", `https://h/api/events?${filter}`))
        expect(pasted).toEqual({ query: filter, isBare: false })
      }),
      { numRuns: 100 },
    )
  })
})

describe('a pasted text', () => {
  it.each([
    ['https://h/audit?range=7d&filter[a_eq]=1#event=x', 'range=7d&filter[a_eq]=1'],
    ['http://h:3000/api/events?limit=5&filter%5Ba_eq%5D=1', 'filter%5Ba_eq%5D=1'],
    ['GET /api/events?filter[a_eq]=1', 'filter[a_eq]=1'],
    ['GET /api/events?filter[a_eq]=1 HTTP/1.1', 'filter[a_eq]=1'],
    ['/audit?range=1h', 'range=1h'],
    ['curl -g "http://h/api/events?filter[a_eq]=1&limit=2" | jq', 'filter[a_eq]=1'],
    [
      'curl -g http://h/api/events?filter[a_eq]=1\\&filter[b_eq]=2',
      'filter[a_eq]=1&filter[b_eq]=2',
    ],
    [String.raw`curl -g 'http://h/e?filter[a_eq]=it'\''s'`, "filter[a_eq]=it's"],
  ])('%s', (text, query) => {
    expect(parsePasted(text)).toEqual({ query, isBare: false })
  })

  it('is bare if it has only filters', () => {
    expect(parsePasted(' ?filter[a_eq]=1&filter[b_eq]=2 \n')).toEqual({
      query: 'filter[a_eq]=1&filter[b_eq]=2',
      isBare: true,
    })
  })

  it.each([
    'ann',
    'https://h/audit',
    'https://h/x?y=1',
    'curl https://h/',
    'what is filter[a]?',
    '',
  ])('is ignored if it is not a query: %s', (text) => {
    expect(parsePasted(text)).toBeUndefined()
  })

  it('is returned even if the query is invalid, so that the page can show the error', () => {
    const pasted = parsePasted('filter[type_begins]=x')
    expect(() => parsePageQuery(pasted!.query)).toThrow('type_start')
  })
})
