import { AuditLog, defineEventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import { describe, expect, it } from 'vitest'
import { readSourcePath } from '../../../src/event/source-path.js'
import { words } from '../../support/words.js'
import { errorWith } from '../errors.js'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e'

describe('the source of an event type', () => {
  it('is the path with the values of attributes', () => {
    const source = readSourcePath('/api/shops/{shop}/orders/{order_id}')
    expect(source({ shop: 'Main-1', order_id: ID.toUpperCase() })).toBe(
      `/api/shops/Main-1/orders/${ID}`,
    )
  })

  it.each([undefined, null, 7, '', '.', '..', 'a/b', 'a b', '%2e', ['a'], { a: 1 }])(
    'is absent if the attribute is %j',
    (order_id) =>
      expect(
        readSourcePath('/orders/{order_id}')(order_id === undefined ? {} : { order_id }),
      ).toBeNull(),
  )

  it.each([
    '',
    ...words('orders/{id} /orders /orders/ /orders/{id /orders/{} /a/../{id} /a?{id} /a/{id}/'),
  ])('cannot be %j', (source) =>
    expect(() => defineEventTypes({ 'api:orders:create': { source } })).toThrow(
      errorWith('INVALID_OPTION', 'event type api:orders:create: source:'),
    ),
  )
})

describe('a system event', () => {
  const types = {
    ...workflowEventTypes,
    'api:orders:create': { source: '/api/orders/{order_id}', data: ['total'] },
  } as const

  it('has the source of its type, or else the source of its links', async () => {
    await using audit = new AuditLog({
      store: memoryStore(),
      types,
      links: workflowLinks,
      strict: true,
    })
    const sourceOf = async (data: { order_id?: string; change_id?: string }) =>
      (await audit.record('api:orders:create', data))!.source
    expect(await sourceOf({ order_id: 'A-7', change_id: ID })).toBe('/api/orders/A-7')
    expect(await sourceOf({ change_id: ID })).toBe(`/api/changes/${ID}`)
    expect(await sourceOf({})).toBeNull()
    const update = await audit.record('api:workflows:update', { workflow_id: ID })
    expect(update!.source).toBe(`/api/workflows/${ID}`)
  })

  it('that is custom has no source of its type', async () => {
    await using audit = new AuditLog({ store: memoryStore(), types })
    const event = await audit.recordCustom('api:orders:create', { order_id: 'A-7' })
    expect(event!.source).toBeNull()
  })
})
