import Router from '@koa/router'
import { type AuditLogError, defineEventTypes } from 'daybook'
import { assertCoverage, type AssertCoverageOptions } from 'daybook/koa'
import { describe, expect, it } from 'vitest'
import { done } from './recorded.js'

const types = defineEventTypes({
  'api:changes:create': {},
  'api:changes:start': {},
  'api:changes:destroy': {},
  'error:changes:create': {},
  'info:changes:done': {},
})

function changes(): Router {
  const router = new Router({ prefix: '/changes' })
  router.get('/', done)
  router.post('/', done)
  router.post('/:id/start', done)
  return router
}

/** The mismatches, one per line. */
function faults(routers: Router | readonly Router[], options?: AssertCoverageOptions): string[] {
  try {
    assertCoverage(routers, types, options)
  } catch (error) {
    const { code, cause } = error as AuditLogError
    expect(code).toBe('NOT_COVERED')
    return (cause as Error).message.split('\n')
  }
  return []
}

describe('assertCoverage', () => {
  it('passes if routes and types match', () => {
    const router = changes().delete('/:id', done)
    expect(faults(router)).toEqual([])
    expect(faults([changes(), new Router().delete('/changes/:id', done)])).toEqual([])
    expect(faults(new Router().use('/:tenant', router.routes()))).toEqual([])
  })

  it('lists routes without a type and types without a route', () => {
    const router = changes().post('/:id/pause', done).put('named:so', '/:id', done)
    expect(faults(router)).toEqual([
      'POST /changes/:id/pause records api:changes:pause, which is not registered',
      'PUT /changes/:id records api:named:so, which is not registered',
      'api:changes:destroy is registered, but no route records it',
    ])
  })

  it('accepts the routes option of recordRequests', () => {
    const router = changes().post('/:id/drop', done).patch('/:id', done)
    const routes = {
      'POST /changes/:id/drop': 'changes:destroy',
      'PATCH /changes/:id': false,
    } as const
    expect(faults(router, { routes })).toEqual([])
    expect(faults(router, { routes: { ...routes, 'POST /gone': 'a:b' } })).toEqual([
      'routes has POST /gone, which is not a route',
    ])
    expect(() => assertCoverage(router, types, { routes: { nonsense: false } })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })

  it('ignores types that no request records', () => {
    expect(faults(changes(), { except: ['api:changes:destroy'] })).toEqual([])
  })

  it('checks each method of a route', () => {
    const router = new Router().all('/changes', done)
    expect(faults(router, { except: ['api:changes:start'] })).toEqual([
      'PATCH /changes records api:changes:update, which is not registered',
      'PUT /changes records api:changes:update, which is not registered',
    ])
  })

  it('lists everything in the cause when the message is cut', () => {
    const router = changes().delete('/:id', done)
    for (let i = 0; i < 50; i++) router.post(`/:id/move${i}`, done)
    const list = faults(router)
    expect(list).toHaveLength(50)
    expect(list[30]).toBe(
      'POST /changes/:id/move30 records api:changes:move30, which is not registered',
    )
    expect(() => assertCoverage(router, types)).toThrow(/move0 records[^]* … [^]*move49 records/)
  })
})
