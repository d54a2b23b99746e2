import { describe, expect, it } from 'vitest'
import { eachStore } from '../../support/event-stores.js'
import { JSON_API, newEvent, type RawResponse } from '../../support/http.js'
import { clientOf, type Resource, spaced, timeOf, useServer } from '../../support/host.js'

/*
 * The interface, "Endpoints" (GET /api/events, GET /api/events/<event_id>, POST /api/events) and "Event",
 * sentence by sentence. The link table is in `links.test.ts`, the query syntax in `lists.test.ts`, what
 * the service records by itself in `service.test.ts`.
 */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe.each(eachStore)('Endpoints, on the %s store', (_name, create) => {
  const server = useServer(create)
  const { events } = clientOf(() => server().url)
  const get = (query: string): Promise<RawResponse> => server().send(`/api/events?${spaced(query)}`)

  let sets = 0
  /** Events of a separate type, numbered in the attribute `n`. */
  const numbered = async (count: number): Promise<string> => {
    const type = `set:${sets++}`
    await Promise.all(
      Array.from({ length: count }, (_, n) => server().audit.recordCustom(type, { n })),
    )
    return type
  }
  const numbers = (found: readonly Resource[]): unknown[] =>
    found.map(({ attributes }) => attributes['n'])

  describe('GET /api/events', () => {
    it('responds with a JSON:API document whose data is an array of events', async () => {
      await numbered(2)
      const response = await get('')
      expect(response.headers['content-type']).toBe(JSON_API)
      const document = JSON.parse(response.body) as Record<string, unknown>
      expect(document['jsonapi']).toEqual({ version: '1.1' })
      for (const event of document['data'] as Resource[])
        expect(event).toEqual({
          type: 'event',
          id: expect.stringMatching(UUID),
          attributes: expect.objectContaining({
            type: expect.any(String),
            created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
          }),
          links: { self: `/api/events/${event.id}` },
        })
    })

    it('accepts filters, sorts and a limit together', async () => {
      const type = await numbered(9)
      const found = await events(
        `filter[type_eq]=${type}&filter[n_gt]=3&filter[sorts]=n desc&limit=3`,
      )
      expect(numbers(found)).toEqual([8, 7, 6])
    })

    it('orders from oldest to newest', async () => {
      const type = await numbered(5)
      const found = await events(`filter[type_eq]=${type}`)
      expect(numbers(found)).toEqual([0, 1, 2, 3, 4])
      expect(found.map(timeOf)).toEqual(found.map(timeOf).toSorted())
    })

    it('gives the most recent events if more match than the limit allows', async () => {
      const type = await numbered(6)
      expect(numbers(await events(`filter[type_eq]=${type}&limit=2`))).toEqual([4, 5])
    })

    it('responds 200 with all matching events, 206 if the limit cut them', async () => {
      const type = await numbered(3)
      expect((await get(`filter[type_eq]=${type}&limit=3`)).status).toBe(200)
      expect((await get(`filter[type_eq]=${type}&limit=2`)).status).toBe(206)
      expect((await get('filter[type_eq]=none')).status).toBe(200)
    })

    it('is paged backwards by created_at_lt of data[0] until data is empty', async () => {
      const type = await numbered(23)
      const seen: unknown[] = []
      let older = ''
      for (;;) {
        const page = await events(`filter[type_eq]=${type}${older}`)
        if (page.length === 0) break
        seen.unshift(...numbers(page))
        older = `&filter[created_at_lt]=${timeOf(page[0])}`
      }
      expect(seen).toEqual(Array.from({ length: 23 }, (_, n) => n))
    })

    it('can be polled with created_at_gt and the type', async () => {
      const [last] = await events('limit=1')
      const query = `filter[created_at_gt]=${timeOf(last)}&filter[type_eq]=api:changes:success`
      const system = `${query}&filter[system_true]=1`
      expect(await events(query)).toEqual([])
      await server().send('/api/events', newEvent({ type: 'api:changes:success', n: 1 }))
      // A user's event of the same type is none of the service's.
      expect(numbers(await events(query))).toEqual([1])
      expect(await events(system)).toEqual([])
      await server().audit.record('api:changes:success', { n: 2 })
      expect(numbers(await events(query))).toEqual([1, 2])
      expect(numbers(await events(system))).toEqual([2])
    })
  })

  describe('GET /api/events/<event_id>', () => {
    it('returns the same event at links.self', async () => {
      await numbered(1)
      const [event] = await events('limit=1')
      const response = await server().send(event!.links.self)
      expect(response.status).toBe(200)
      expect((JSON.parse(response.body) as { data: Resource }).data).toEqual(event)
    })
  })

  describe('POST /api/events', () => {
    const create = async (attributes: Record<string, unknown>, user = 'ann'): Promise<Resource> => {
      const response = await server().send('/api/events', { ...newEvent(attributes), user })
      expect([response.status, response.body]).toEqual([201, ''])
      const [event] = await events('limit=1')
      return event!
    }

    it('responds 201 without a body', async () => {
      const response = await server().send('/api/events', newEvent({ type: 'deploy:note' }))
      expect([response.status, response.body]).toEqual([201, ''])
    })

    it('requires the content type application/vnd.api+json', async () => {
      const { body } = newEvent({ type: 'unread' })
      const headers = { 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body: body! }
      expect((await server().send('/api/events', request)).status).toBe(415)
      expect(await events('filter[type_eq]=unread')).toEqual([])
    })

    it.each([
      ['Event', 201],
      ['event', 201],
      ['Note', 409],
    ])('with data.type %s responds %i', async (type, status) => {
      const body = JSON.stringify({ data: { type, attributes: { type: 'typed' } } })
      const headers = { 'content-type': JSON_API }
      expect((await server().send('/api/events', { method: 'POST', headers, body })).status).toBe(
        status,
      )
    })

    it.each([
      'deploy:note',
      'linked:to:project:acme',
      'api:changes:create',
      'anything at all',
      'Ärger',
    ])('accepts the event type %s', async (type) => {
      expect((await create({ type })).attributes['type']).toBe(type)
    })

    it('keeps attributes of any JSON type, nested objects too', async () => {
      const attributes = {
        text: 'hello',
        number: -1.5e3,
        yes: true,
        no: false,
        nothing: null,
        list: [1, 'two', null, [3], { four: 4 }],
        nested: { a: { b: { c: 'deep' } } },
      }
      const event = await create({ type: 'kept', ...attributes })
      expect(event.attributes).toMatchObject(attributes)
      expect(await events('filter[type_eq]=kept&filter[nested_a_b_c_eq]=deep')).toEqual([event])
    })

    it.each(['ann', 'bob'])('records %s as username, and system false', async (user) => {
      expect((await create({ type: 'mine' }, user)).attributes).toMatchObject({
        system: false,
        username: user,
      })
    })

    it('needs no link: an event without one has no source', async () => {
      expect(await create({ type: 'alone' })).not.toHaveProperty('relationships')
    })
  })
})
