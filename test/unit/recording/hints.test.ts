import { AuditLog, defineEventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'

const types = defineEventTypes({
  'api:orders:create': { sentence: 'created [**{order_name}**|an order]' },
  'api:orders:pay': { data: ['total'] },
  'warn:pool:full': { throttle: { period: { hours: 1 }, scope: ['cluster', 'pool'] } },
})

describe('a process warning is emitted', () => {
  let warned: MockInstance<typeof process.emitWarning>
  beforeEach(() => {
    warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterEach(() => warned.mockRestore())

  const warnings = (): string[] => warned.mock.calls.map(([warning]) => String(warning))
  const open = (strict: boolean) =>
    new AuditLog({ store: memoryStore(), types, links: workflowLinks, strict })

  it('in strict mode for a key that differs in one letter from a known one, once', async () => {
    await using audit = open(true)
    for (let n = 0; n < 2; n++) {
      await audit.record('api:orders:create', { ordername: 'a', mesage: 'b', nodeid: 1, other: 2 })
      await audit.record('api:orders:create', { order_name: 'a', message: 'b', node_id: null })
    }
    expect(warnings()).toEqual([
      'api:orders:create was recorded with the data key ordername; did you mean order_name?',
      'api:orders:create was recorded with the data key mesage; did you mean message?',
      'api:orders:create was recorded with the data key nodeid; did you mean node_id?',
    ])
    const [event] = (await audit.list()).events
    expect(event!.attributes).toMatchObject({ ordername: 'a', mesage: 'b' })
  })

  it('for no such key outside of strict mode', async () => {
    await using audit = open(false)
    await audit.record('api:orders:create', { ordername: 'a', mesage: 'b' })
    expect(warnings()).toEqual([])
  })

  it('for a missing scope key, once for each type', async () => {
    await using audit = open(false)
    await audit.record('warn:pool:full', { cluster: 'a' })
    await audit.record('warn:pool:full', { cluster: 'b' })
    await audit.record('warn:pool:full', { cluster: null, pool: null })
    await audit.record('warn:pool:full', { cluster: 'c', pool: 'd' })
    expect(warnings()).toEqual([
      'warn:pool:full was recorded without pool, the scope of its throttle; events without it share one period',
    ])
  })
})

it('an unknown type is refused with the nearest name', async () => {
  await using audit = new AuditLog({ store: memoryStore(), types: workflowEventTypes })
  await expect(audit.record('api:change:creat' as 'api:changes:create')).rejects.toMatchObject({
    code: 'UNKNOWN_EVENT_TYPE',
    message:
      'api:change:creat is not in the registry of event types; did you mean api:changes:create?',
    suggestion: 'api:changes:create',
  })
  await expect(audit.record('x' as 'api:changes:create')).rejects.toMatchObject({
    message: 'x is not in the registry of event types',
    suggestion: undefined,
  })
})

it('an undeclared key is refused in strict mode with the nearest name', async () => {
  await using audit = new AuditLog({ store: memoryStore(), types, strict: true })
  const data: object = { totl: 5 }
  await expect(audit.record('api:orders:pay', data)).rejects.toMatchObject({
    code: 'INVALID_DATA',
    suggestion: 'total',
  })
})
