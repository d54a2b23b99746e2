import type { AuditEvent } from 'daybook'
import { expect, it } from 'vitest'
import { pageCollector } from '../../../src/store-kit/collect.js'
import { turnsDuring } from '../../support/turns.js'

it('the event loop runs while long texts that begin alike are sorted', async () => {
  const collector = pageCollector({
    where: undefined,
    sorts: [{ attribute: 'text', direction: 'asc' }],
    limit: 1000,
  })
  const prefix = 'x'.repeat(20_000)
  for (let i = 0; i < 1001; i++)
    collector.add({
      id: `${i}`,
      attributes: { text: `${prefix}${i % 1000}` },
    } as unknown as AuditEvent)
  const turns = await turnsDuring(async () => {
    const { events, truncated } = await collector.page()
    expect([events.length, truncated]).toEqual([1000, true])
  })
  expect(turns).toBeGreaterThanOrEqual(2)
})
