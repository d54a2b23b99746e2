import { AuditLog, type AuditEvent, defineEventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'

const types = defineEventTypes({
  'api:orders:create': { data: ['total'] },
  'api:orders:ship': { data: v.object({ weight: v.number() }) },
  'api:any:thing': {},
  'info:switch:on': { enabled: () => true },
})

const log = (options = {}) => new AuditLog({ store: memoryStore(), types, ...options })

const event = (overrides: object = {}): AuditEvent => ({
  id: '0196b3c2-0000-4000-8000-000000000001',
  created_at: '2025-05-01T10:00:00Z',
  username: null,
  system: true,
  type: 'x',
  source: null,
  attributes: {},
  ...overrides,
})

describe('AuditLog', () => {
  it('records system events of registered types, and custom events of any', async () => {
    const audit = log()
    expect(
      await audit.record('api:orders:create', { total: 5 }, { username: 'ann' }),
    ).toMatchObject({
      type: 'api:orders:create',
      system: true,
      username: 'ann',
      attributes: { total: 5 },
    })
    expect(await audit.recordCustom('anything at all')).toMatchObject({
      system: false,
      username: null,
    })
    expect(await audit.record('info:switch:on')).toMatchObject({ system: true, attributes: {} })
  })

  it.each(['api:orders:creat', 'constructor', '__proto__'])(
    'refuses the unregistered type %s',
    async (type) => {
      await expect(log().record(type as 'api:any:thing')).rejects.toMatchObject({
        code: 'UNKNOWN_EVENT_TYPE',
      })
    },
  )

  it('records unregistered system types where the caller says so', async () => {
    expect(await log().recordSystem('error:derived:create', { error: 'no' })).toMatchObject({
      type: 'error:derived:create',
      system: true,
    })
  })

  it.each([
    ['', 'a'],
    ['x'.repeat(256), 'too long'],
    ['a\u0007b', 'a control character'],
    ['\ud800', 'half a surrogate pair'],
  ])('refuses a custom type %#', async (type) => {
    await expect(log().recordCustom(type)).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      pointer: '/type',
    })
  })

  it.each(['x', 'x'.repeat(255), '😀'.repeat(255)])(
    'takes a custom type of 1 to 255 characters %#',
    async (type) => {
      expect((await log().recordCustom(type))!.type).toBe(type)
    },
  )

  it('keeps undeclared data, unless it is strict', async () => {
    const stray = { total: 1, stray: 2 } as { total: number }
    expect((await log().record('api:orders:create', stray))!.attributes).toEqual({
      total: 1,
      stray: 2,
    })
    await expect(log({ strict: true }).record('api:orders:create', stray)).rejects.toMatchObject({
      code: 'INVALID_DATA',
      pointer: '/stray',
    })
    const strict = log({ strict: true })
    await strict.record('api:orders:create', { total: 1, message: 'common' })
    await strict.record('api:any:thing', { whatever: 1 })
  })

  it('asks a Standard Schema in strict mode only', async () => {
    const wrong = { weight: 'heavy' } as unknown as { weight: number }
    expect((await log().record('api:orders:ship', wrong))!.attributes).toEqual({ weight: 'heavy' })
    await expect(log({ strict: true }).record('api:orders:ship', wrong)).rejects.toMatchObject({
      code: 'INVALID_DATA',
      pointer: '/weight',
    })
  })

  it('gives wrong links no source in system events, and refuses them in custom ones', async () => {
    const link = { change_id: 42 }
    expect(await log().record('api:any:thing', link)).toMatchObject({
      source: null,
      attributes: link,
    })
    await expect(log().recordCustom('x', link)).rejects.toMatchObject({
      code: 'INVALID_LINK',
      pointer: '/change_id',
    })
    await expect(log({ strict: true }).record('api:any:thing', link)).rejects.toMatchObject({
      code: 'INVALID_LINK',
    })
  })

  it("turns what the host's own functions throw into an AuditLogError", async () => {
    const broken = new Error('host bug')
    const audit = log({
      resolveSource: () => {
        throw broken
      },
    })
    await expect(audit.recordCustom('x', { project_path: '/projects/a' })).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      cause: broken,
    })
  })

  it('tells listeners in the order of events, until they are taken off', async () => {
    const audit = log()
    const heard: string[] = []
    const listener = ({ type }: AuditEvent): unknown => heard.push(type)
    audit.on('recorded', listener)
    await Promise.all([audit.recordCustom('a'), audit.recordCustom('b')])
    audit.off('recorded', listener)
    await audit.recordCustom('c')
    expect(heard).toEqual(['a', 'b'])
  })

  it('lets a throwing listener stop neither others nor the event', async () => {
    const audit = log()
    const errors: unknown[] = []
    const heard: string[] = []
    audit.on('recorded', () => {
      throw new Error('listener')
    })
    audit.on('recorded', ({ type }) => heard.push(type))
    audit.on('error', (error) => errors.push(error))
    expect(await audit.recordCustom('a')).toBeDefined()
    expect(heard).toEqual(['a'])
    expect(errors).toEqual([new Error('listener')])
  })

  it('warns the process of a throwing listener where nobody listens for errors', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const audit = log()
    audit.on('rejected', () => {
      throw new Error('listener')
    })
    await expect(audit.recordCustom('')).rejects.toThrow()
    expect(warn).toHaveBeenCalledWith(new Error('listener'))
    warn.mockRestore()
  })

  it('closes with await using', async () => {
    let closed: AuditLog
    {
      await using audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
      closed = audit
      await audit.recordCustom('a')
    }
    await expect(closed.list()).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it.each([
    [{ id: 'nonsense' }, 'id'],
    [{ created_at: 'yesterday' }, 'created_at'],
    [{ created_at: '1969-12-31T23:59:59Z' }, 'created_at'],
    [{ type: '' }, 'type'],
    [{ system: 1 }, 'system'],
    [{ username: undefined }, 'username'],
    [{ source: 5 }, 'source'],
    [{ attributes: null }, 'attributes'],
    [{ attributes: [] }, 'attributes'],
  ])('refuses an import with %j and keeps nothing', async (wrong, member) => {
    const audit = log()
    const good = event({ id: '0196b3c2-0000-4000-8000-000000000002', created_at: '2025-01-01' })
    await expect(audit.importEvents([good, event(wrong)])).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      pointer: `/1/${member}`,
    })
    expect((await audit.list()).events).toEqual([])
  })

  it('refuses an import that is no event at all', async () => {
    await expect(log().importEvents([null as unknown as AuditEvent])).rejects.toMatchObject({
      code: 'INVALID_EVENT',
    })
  })

  it.each([{ maxDepth: 65 }, { maxDepth: 0 }, { maxBytes: 1000 }])(
    'refuses the limits %j',
    (limits) => {
      expect(() => log({ limits })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    },
  )

  it('refuses a wrong query with the name of the parameter', async () => {
    await expect(log().list('filter[type_equals]=x')).rejects.toMatchObject({
      code: 'UNKNOWN_PREDICATE',
      parameter: 'filter[type_equals]',
      suggestion: 'type_eq',
    })
    await expect(log().pages('filter[m]=xor').next()).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    })
  })
})
