import { afterAll, beforeAll, expect, it } from 'vitest'
import { listOf, serve, type TestServer } from '../support/http.js'

let server: TestServer
let id: string

beforeAll(async () => {
  server = await serve()
  const data = { project_path: '/projects/acme', '': 0, nested: { deep: true } }
  for (let n = 0; n < 3; n++) {
    const event = await server.audit.recordCustom('own', { ...data, n }, { username: 'ann' })
    id = event!.id
  }
})
afterAll(() => server.close())

const source = { source: { links: { source: '/api/projects/acme' } } }

it.each([
  ['fields[event]=type,n', { type: 'own', n: 2 }, undefined],
  ['fields[event]=n,source', { n: 2 }, source],
  ['fields[event]=source', {}, source],
  ['fields[event]=', {}, undefined],
  ['fields[event]', {}, undefined],
  ['fields[event]=,n,,', { n: 2 }, undefined],
  ['fields[event]=none', {}, undefined],
  ['fields[event]=nested', { nested: { deep: true } }, undefined],
  ['fields%5Bevent%5D=n%2Cusername', { username: 'ann', n: 2 }, undefined],
  ['fields[event]=n&fields[event]=username', { username: 'ann', n: 2 }, undefined],
])('%s gives these fields alone, in lists and of one event', async (query, attributes, related) => {
  const list = await server.send(`/api/events?limit=1&${query}`)
  const { data } = listOf(list)
  expect(data).toEqual([
    {
      type: 'event',
      id,
      attributes,
      ...(related && { relationships: related }),
      links: { self: `/api/events/${id}` },
    },
  ])
  const one = await server.send(`/api/events/${id}?${query}`)
  expect((JSON.parse(one.body) as { data: unknown }).data).toEqual(data[0])
})

it('is kept in links', async () => {
  const self = '/api/events?fields%5Bevent%5D=n&limit=1'
  const { links } = listOf(await server.send(self))
  expect(links.self).toBe(self)
  expect(links.prev).toContain('fields[event]=n')
  const before = listOf(await server.send(links.prev!))
  expect(before.data[0]!.attributes).toEqual({ n: 1 })
  const none = listOf(await server.send('/api/events?fields[event]=&limit=1'))
  expect(listOf(await server.send(none.links.prev!)).data[0]!.attributes).toEqual({})
})
