import type { AuditEvent } from 'daybook'
import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support/http.js'
import { own, startFeed } from './access.js'
import { counted, COUNTS, type CountsDocument, countsOf, inFull } from './counts.js'

describe('GET /api/events/counts with a visible filter', () => {
  const started = async (): Promise<TestServer> => {
    const server = await startFeed({
      visible: (ctx: Context) => ({ ...own(ctx), hidden_null: true }),
    })
    for (let n = 0; n < 3; n++) {
      await server.record('ann', { n, kind: 'seen' })
      await server.record('ann', { n, kind: 'secret', hidden: 'yes' })
      await server.record('bob', { n, kind: 'of bob', secret: 1 })
    }
    return inFull(server)
  }

  it.each([
    '',
    'filter[username_eq]=ann',
    'filter[username_eq]=bob',
    'filter[username_not_eq]=ann',
    'filter[hidden_eq]=yes',
    'filter[hidden_not_null]=1',
    'filter[m]=or&filter[username_eq]=bob&filter[id_not_null]=1',
    'filter[g][0][username_eq]=ann&filter[g][1][hidden_null]=1',
    'filter[type_start]=error:',
    'filter[kind_eq]=secret&filter[username_in][]=bob&filter[hidden_eq]=yes',
  ])('counts reveal nothing of invisible events for the query %s', async (query) => {
    const server = await started()
    const all = 'facets[]=username&facets[]=hidden&facets[]=kind&facets[]=level&facets[]=type'
    const response = await server.send(`${COUNTS}?${query}&${all}&attributes=true`)
    const { facets, attributes, total } = countsOf(response)
    expect(total).toBeLessThanOrEqual(3)
    const { links: _, ...document } = JSON.parse(response.body) as CountsDocument
    expect(JSON.stringify(document)).not.toMatch(/secret|bob|yes/)
    for (const { values, missing } of Object.values(facets))
      expect(values.reduce((sum, { count }) => sum + count, missing)).toBeLessThanOrEqual(3)
    for (const { count } of attributes!) expect(count).toBeLessThanOrEqual(3)
  })

  it('gives the same counts as a log that holds only the visible events', async () => {
    const server = inFull(await startFeed({ visible: own }))
    const hour = 3_600_000_000
    const eventAt = (n: number, username: string): AuditEvent => ({
      id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      created_at: `2026-0${1 + (n % 9)}-01T00:00:00.000000Z`,
      username,
      system: false,
      type: 'note',
      source: null,
      attributes: { n: n * hour },
    })
    const mine = [eventAt(4, 'ann'), eventAt(5, 'ann')]
    await server.audit.importEvents([eventAt(0, 'bob'), ...mine, eventAt(8, 'bob')])
    const other = inFull(await startFeed({}))
    await other.audit.importEvents(mine)
    const query = 'filter[created_at_lt]=2026-12-01&facets[]=username&attributes=true'
    for (const user of ['ann', 'eve']) {
      if (user === 'eve') await other.audit.store.removeBefore(Date.now() * 1000)
      const { took_ms: _given, ...given } = await counted(server, query, user)
      const { took_ms: _expected, ...expected } = await counted(other, query, user)
      expect(given).toEqual(expected)
    }
  })
})
