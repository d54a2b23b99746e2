import { AuditLog, type GroupOptions } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'
import { groupsQuery } from '../../../src/grouping/group-options.js'

describe('groupsQuery', () => {
  it('has defaults', () => {
    expect(groupsQuery(undefined, { by: ['type', 'type'] })).toEqual({
      where: undefined,
      visible: undefined,
      by: ['type'],
      numbers: [],
      buckets: undefined,
      top: 20,
      within: 2000,
    })
    const { buckets } = groupsQuery('', { by: ['type'], buckets: {} })
    expect(buckets).toEqual({ count: 96, zone: 'UTC' })
  })

  it.each<[parameter: string, options: unknown, message: string]>([
    ['by', {}, 'by must be a list of names of attributes'],
    ['by', { by: [] }, 'by must name one or two attributes, or level'],
    ['by', { by: ['a', 'b', 'c'] }, 'by must be at most 2 attributes'],
    ['by', { by: [''] }, 'by must be names of attributes'],
    ['by', { by: ['id'] }, 'by cannot have id, whose values are all different'],
    ['by', { by: ['created_at'] }, 'by cannot have created_at, whose values are all different'],
    ['numbers', { by: ['a'], numbers: 'ms' }, 'numbers must be a list of names of attributes'],
    ['numbers', { by: ['a'], numbers: [...'abcdef'] }, 'numbers must be at most 5 attributes'],
    ['top', { by: ['a'], top: 1001 }, 'top must be a whole number from 1 to 1000'],
    ['within', { by: ['a'], within: -1 }, 'within must be a whole number from 0 to 60000'],
    ['zone', { by: ['a'], buckets: { zone: 'Nowhere' } }, 'zone must be the name of an IANA time'],
  ])('refuses an invalid %s: %j', async (parameter, options, message) => {
    await using audit = new AuditLog({ store: memoryStore(), types: {} })
    const call = audit.groups('', options as GroupOptions)
    await expect(call).rejects.toMatchObject({ code: 'INVALID_VALUE', parameter })
    await expect(call).rejects.toThrow(message)
  })
})
