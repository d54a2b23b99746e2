import { AuditLog, type CountOptions, type CountsQuery } from 'daybook'
import { describe, expect, it } from 'vitest'
import { countsQuery } from '../../../src/counting/count-options.js'
import { fakeStore } from '../fake-store.js'

describe('countsQuery', () => {
  it('has defaults', () => {
    expect(countsQuery(undefined, {})).toEqual({
      where: undefined,
      visible: undefined,
      buckets: undefined,
      facets: [],
      top: 5,
      attributes: false,
      within: 2000,
    })
    expect(countsQuery('', { buckets: {} }).buckets).toEqual({ count: 96, zone: 'UTC' })
    expect(countsQuery('', { buckets: { zone: 'Asia/Tokyo' } }).buckets).toEqual({
      count: 96,
      zone: 'Asia/Tokyo',
    })
    expect(countsQuery('', { facets: ['type', 'level', 'type'] }).facets).toEqual(['type', 'level'])
  })

  it('is passed to the store with the signal', async () => {
    const asked: [CountsQuery, unknown][] = []
    const store = fakeStore()
    await using audit = new AuditLog({
      types: {},
      store: {
        ...store,
        count(query, options) {
          asked.push([query, options?.signal])
          return store.count(query)
        },
      },
    })
    const { signal } = new AbortController()
    await audit.count('filter[sorts]=type&limit=3', { within: 0, signal })
    expect(asked).toEqual([[{ ...countsQuery('', {}), within: 0 }, signal]])
  })

  it.each<[parameter: string, options: unknown, message: string]>([
    ['top', { top: 0 }, 'top must be a whole number from 1 to 1000'],
    ['top', { top: 1001 }, 'top must be a whole number from 1 to 1000'],
    ['top', { top: 1.5 }, 'top must be a whole number from 1 to 1000'],
    ['top', { top: '5' }, 'top must be a whole number from 1 to 1000'],
    ['within', { within: -1 }, 'within must be a whole number from 0 to 60000'],
    ['within', { within: 60_001 }, 'within must be a whole number from 0 to 60000'],
    ['buckets', { buckets: { count: 0 } }, 'buckets must be a whole number from 1 to 1000'],
    ['buckets', { buckets: { count: 1001 } }, 'buckets must be a whole number from 1 to 1000'],
    ['buckets', { buckets: 5 }, 'buckets must be an object'],
    ['buckets', { buckets: null }, 'buckets must be an object'],
    ['zone', { buckets: { zone: 'Nowhere' } }, 'such as Europe/Berlin: Nowhere is not'],
    ['zone', { buckets: { zone: 7 } }, 'such as Europe/Berlin: number was given'],
    ['facets', { facets: 'type' }, 'facets must be a list of names'],
    ['facets', { facets: [''] }, 'facets must be names of attributes, or level'],
    ['facets', { facets: [7] }, 'facets must be names of attributes, or level'],
    ['facets', { facets: ['id'] }, 'facets cannot have id'],
    ['facets', { facets: ['created_at'] }, 'facets cannot have created_at'],
    [
      'facets',
      { facets: Array.from({ length: 21 }, (_, i) => `a${i}`) },
      'facets must be at most 20',
    ],
    ['attributes', { attributes: 'yes' }, 'attributes must be true or false'],
  ])('refuses a wrong %s: %j', (parameter, options, message) => {
    expect(() => countsQuery('', options as CountOptions)).toThrow(
      expect.objectContaining({
        code: 'INVALID_VALUE',
        parameter,
        message: expect.stringContaining(message) as string,
      }),
    )
  })

  it('refuses a wrong filter', async () => {
    await using audit = new AuditLog({ store: fakeStore(), types: {} })
    await expect(audit.count('filter[type_equals]=x')).rejects.toMatchObject({
      code: 'UNKNOWN_PREDICATE',
    })
  })
})
