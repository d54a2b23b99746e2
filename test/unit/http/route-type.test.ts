import { expect, it } from 'vitest'
import { type RouteTypes, routeType } from '../../../src/http/record/route-type.js'

/** The type as `<controller>:<method>`. */
function typeOf(request: string, types = {}, routes: RouteTypes = {}): string | false {
  const [method = '', path = '', name] = request.split(' ')
  const type = routeType({ path, name }, method, types, routes)
  return type && `${type.controller}:${type.method}`
}

it.each([
  ['POST /api/changes', 'changes:create'],
  ['PATCH /api/changes/:change_id', 'changes:update'],
  ['PUT /api/changes/:change_id', 'changes:update'],
  ['DELETE /api/changes/:change_id', 'changes:destroy'],
  ['POST /api/changes/:change_id/start', 'changes:start'],
  ['POST /api/changes/:change_id/notes', 'notes:create'],
  ['POST /api/projects/:project_code/environments nodes:create', 'nodes:create'],
  ['POST /api/bookmarks named', 'bookmarks:create'],
  ['patch /orders', 'orders:update'],
  ['Delete /orders', 'orders:destroy'],
  ['BREW /orders', 'orders:brew'],
  ['M-SEARCH /orders', 'orders:m-search'],
  ["a.b!#$%&'*+^`|~c /orders", 'orders:a_b____________c'],
  [`${'X'.repeat(300)} /orders`, `orders:${'x'.repeat(40)}`],
])('%s is of the type %s', (request, type) => {
  expect(typeOf(request)).toBe(type)
})

it('an action of the registry counts as one even if it is a plural', () => {
  const types = { 'api:changes:settings': {} }
  expect(typeOf('POST /changes/:id/settings', types)).toBe('changes:settings')
  expect(typeOf('POST /changes/:id/notes', types)).toBe('notes:create')
})

it('routes name requests of any method, in upper case', () => {
  const routes = {
    'PATCH /orders': 'orders:amend',
    'LINK /orders': 'orders:join',
    'BREW /orders': false,
  } as const
  const methods = ['patch', 'LINK', 'BREW', 'UNLINK']
  expect(methods.map((method) => typeOf(`${method} /orders`, {}, routes))).toEqual([
    'orders:amend',
    'orders:join',
    false,
    'orders:unlink',
  ])
})
