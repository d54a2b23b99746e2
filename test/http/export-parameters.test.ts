import type { EventsRead } from 'daybook/koa'
import { describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { JSON_API } from '../support/http.js'
import { own, startFeed } from './access.js'
import { inFull } from './counts.js'
import { EXPORT, linesOf, openExport, recordMany, rowsOf } from './export.js'

describe('GET /api/events/export', () => {
  it('is a file to save, and must not be cached', async () => {
    const server = await startFeed({})
    await server.record('ann')
    for (const [query, ending] of [
      ['', 'ndjson'],
      ['?format=csv', 'csv'],
    ]) {
      const { headers } = await server.send(EXPORT + query)
      expect(headers['content-disposition']).toMatch(
        new RegExp(`^attachment; filename="events-\\d{4}-\\d\\d-\\d\\dT\\d{6}Z\\.${ending}"$`),
      )
      expect(headers['cache-control']).toBe('no-store')
      expect(headers.vary).toBe('Accept')
    }
  })

  it('without events is empty, or only a heading', async () => {
    const server = await startFeed({})
    const empty = await server.send(EXPORT)
    expect([empty.status, empty.body, empty.headers['x-total-count']]).toEqual([200, '', '0'])
    expect(rowsOf(await server.send(`${EXPORT}?format=csv`))).toEqual([])
  })

  it.each([
    ['', undefined, 'application/x-ndjson'],
    ['', '*/*', 'application/x-ndjson'],
    ['', 'text/csv', 'text/csv; charset=utf-8'],
    ['', 'text/*;q=0.5, application/*;q=0.2', 'text/csv; charset=utf-8'],
    ['', 'application/x-ndjson;q=0.1, text/csv', 'text/csv; charset=utf-8'],
    ['', 'text/csv;q=0, */*', 'application/x-ndjson'],
    // Links cannot send a header.
    ['format=csv', 'text/html,*/*;q=0.8', 'text/csv; charset=utf-8'],
    ['format=ndjson', 'text/csv', 'application/x-ndjson'],
    ['format=csv', JSON_API, 'text/csv; charset=utf-8'],
  ])('of ?%s with Accept: %s is %s', async (query, accept, type) => {
    const server = await startFeed({})
    const headers = accept === undefined ? {} : { accept }
    const response = await server.send(`${EXPORT}?${query}`, { headers })
    expect([response.status, response.headers['content-type']]).toEqual([200, type])
  })

  it.each(['text/html', JSON_API, 'application/json', 'text/csv;q=0'])(
    'responds 406 to Accept: %s',
    async (accept) => {
      const server = await startFeed({})
      const response = await server.send(EXPORT, { headers: { accept } })
      const { detail } = expectError(response, 406, 'NOT_ACCEPTABLE', { header: 'accept' })
      expect(detail).toBe(
        `accept must allow application/x-ndjson or text/csv or application/vnd.apache.parquet; it is "${accept}"`,
      )
    },
  )

  it('responds to HEAD with the headers', async () => {
    const reads: EventsRead[] = []
    const server = inFull(await startFeed({ onRead: (_ctx, read) => void reads.push(read) }))
    for (let n = 0; n < 3; n++) await server.record('ann')
    const { status, headers, body } = await server.send(EXPORT, { method: 'HEAD' })
    expect([status, body, headers['x-total-count'], headers['content-type']]).toEqual([
      200,
      '',
      '3',
      'application/x-ndjson',
    ])
    // The count reveals that there are events.
    expect(reads).toEqual([{ action: 'export', username: 'ann', query: '', events: [] }])
  })

  it('accepts its own order as a sort', async () => {
    const server = await startFeed({})
    const events = [await server.record('ann'), await server.record('ann')]
    const response = await server.send(`${EXPORT}?filter[sorts]=created_at+asc`)
    expect(linesOf(response)).toEqual(events)
  })

  it('contains and counts only visible events', async () => {
    const server = inFull(await startFeed({ visible: own }))
    const seen = await server.record('ann', { n: 1 })
    for (let n = 0; n < 3; n++) await server.record('bob', { n })
    const response = await server.send(`${EXPORT}?filter[m]=or&filter[n_gteq]=0&filter[n_null]=1`)
    expect(linesOf(response)).toEqual([seen])
    expect(response.headers['x-total-count']).toBe('1')
    expect(response.headers['x-export-until']).toBe(seen.created_at)
  })

  it('calls onRead for each batch before it is sent', async () => {
    const reads: EventsRead[] = []
    const order: string[] = []
    const server = await startFeed({
      async onRead(_ctx, read) {
        reads.push(read)
        order.push(`read ${read.events.length}`)
      },
    })
    await recordMany(server, 1001, 2000)
    const incoming = await openExport(server)
    for await (const chunk of incoming as AsyncIterable<Buffer>)
      if (chunk.includes('"n":1000')) order.push('the last came')
    expect(order).toEqual(['read 0', 'read 1000', 'read 1', 'the last came'])
    expect(reads.map(({ action, username, query }) => [action, username, query])).toEqual(
      Array.from({ length: 3 }, () => ['export', 'ann', '']),
    )
  })

  it('does not start if onRead throws', async () => {
    const failure = new Error('not at this hour')
    const server = await startFeed({ onRead: () => Promise.reject(failure) })
    await server.record('ann', { text: 'secret' })
    const response = await server.send(EXPORT)
    expect(response.status).toBe(500)
    expect(response.body).not.toContain('secret')
    expect(server.errors).toEqual([failure])
  })
})

it('has a lower bound of the count if counting takes too long', async () => {
  const server = await startFeed({})
  await server.record('ann')
  const { audit } = server
  const { count } = audit
  audit.count = async (query, options) => ({
    ...(await count.call(audit, query, options)),
    total: 31_000_000,
    exact: { total: false, levels: false, buckets: false, attributes: true },
  })
  const { headers } = await server.send(EXPORT, { method: 'HEAD' })
  expect(headers['x-total-count-at-least']).toBe('31000000')
  expect(headers['x-total-count']).toBeUndefined()
})
