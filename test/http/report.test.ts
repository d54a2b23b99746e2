import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import { memoryPlace } from '../support/event-stores.js'
import { useServer } from '../support/host.js'
import { expectError } from '../support/expect-error.js'
import type { ListDocument, RawResponse } from '../support/http.js'
import { own, PATH, startFeed } from './access.js'
import { inFull } from './counts.js'
import { linesOf, recordMany } from './export.js'

const REPORT = `${PATH}/report`

interface ReportDocument {
  readonly data: ListDocument['data']
  readonly links: { readonly self: string }
  readonly meta: Readonly<Record<'username' | 'as_of' | 'sha256' | 'export', string>> & {
    readonly total: number
    readonly bytes: number
  }
}

const reportOf = (response: RawResponse): ReportDocument => {
  expect(response.status, response.body).toBe(200)
  return JSON.parse(response.body) as ReportDocument
}

const idsOf = ({ data }: Pick<ReportDocument, 'data'>): string[] => data.map(({ id }) => id)

const sha256 = ({ bytes }: RawResponse): string => createHash('sha256').update(bytes).digest('hex')

describe('GET /api/events/report', () => {
  const server = useServer(memoryPlace, { record: false })

  it('returns the events oldest first, with the digest of the export that its link names', async () => {
    const { audit } = server()
    const username = 'ann'
    const given: string[] = []
    for (let n = 0; n < 7; n++) {
      const data = { n, text: 'ü "quoted" \u2028', deep: { list: [n, null] } }
      given.push((await audit.recordCustom('report:all', data, { username }))!.id)
      await audit.recordCustom('report:other', {}, { username: 'bob' })
    }
    const target = `${REPORT}?filter[type_eq]=report:all&filter[username_in][]=ann`
    const response = await server().send(target)
    const report = reportOf(response)
    expect(idsOf(report)).toEqual(given)
    expect(report.links.self).toBe(target)
    expect(report.meta).toMatchObject({ username: 'ann', total: 7 })
    expect(report.meta.as_of).toBe(report.data.at(-1)!.attributes['created_at'])

    // Later events match the query too, but not the query of the link.
    await audit.recordCustom('report:all', { n: 'later' }, { username })
    const exported = await server().send(report.meta.export)
    expect(linesOf(exported).map(({ id }) => id)).toEqual(given)
    expect(report.meta.bytes).toBe(exported.bytes.length)
    expect(report.meta.sha256).toBe(sha256(exported))
    const later = reportOf(await server().send(target))
    expect(later.meta.total).toBe(8)
    expect(later.meta.sha256).not.toBe(report.meta.sha256)
  })

  it('repeats filters with any of several conditions, groups, and no filter at all', async () => {
    const { audit } = server()
    const types = ['report:a', 'report:b', 'report:c']
    for (const type of types) await audit.recordCustom(type, { name: type }, { username: 'ann' })
    const queries = [
      'filter[m]=or&filter[type_eq]=report:a&filter[name_eq]=report:b',
      'filter[g][0][m]=or&filter[g][0][type_end]=:a&filter[g][0][type_end_any][]=:c&filter[system_eq]=0',
      'filter[created_at_lteq]=2090-01-01&filter[type_start]=report',
      '',
    ]
    for (const query of queries) {
      const report = reportOf(await server().send(`${REPORT}?${query}`))
      expect(report.data.length, query).toBeGreaterThan(1)
      await audit.recordCustom('report:a', { name: 'report:b' }, { username: 'ann' })
      const exported = await server().send(report.meta.export)
      expect(linesOf(exported).map(({ id }) => id)).toEqual(idsOf(report))
      expect(sha256(exported)).toBe(report.meta.sha256)
    }
  })

  it('without events has the digest of an empty text', async () => {
    const report = reportOf(await server().send(`${REPORT}?filter[type_eq]=report:none`))
    expect(report).toMatchObject({ data: [], meta: { total: 0, bytes: 0 } })
    expect(report.meta.sha256).toBe(createHash('sha256').digest('hex'))
    expect(linesOf(await server().send(report.meta.export))).toEqual([])
  })

  it('marks live events that are still open', async () => {
    const { audit } = server()
    const live = await audit.recordLive('info:template_version:fetch', { progress: 'a' })
    const target = `${REPORT}?filter[id_eq]=${live.event!.id}`
    expect(reportOf(await server().send(target)).data[0]).toMatchObject({ meta: { live: true } })
    await live.close()
    expect(reportOf(await server().send(target)).data[0]).not.toHaveProperty('meta')
  })
})

describe('a report', () => {
  it('of more than 5,000 events is refused. The error contains their number', async () => {
    const server = await startFeed({})
    inFull(server)
    await recordMany(server, 5001, 1)
    const refused = await server.send(`${REPORT}?filter[type_eq]=note`)
    const problem = expectError(refused, 422, 'TOO_MANY_EVENTS', { parameter: 'filter' })
    expect(problem).toMatchObject({ meta: { total: 5001, max: 5000 } })
    expect(problem.detail).toMatch(/^5001 events match, and a report has at most 5000/)
    const allowed = await server.send(`${REPORT}?filter[type_eq]=note&filter[n_lt]=5000`)
    expect(reportOf(allowed).meta.total).toBe(5000)
  })

  it('of very large events is refused', async () => {
    const server = await startFeed({})
    const text = 'x'.repeat(900_000)
    for (let n = 0; n < 38; n++) await server.audit.recordCustom('large', { text, n })
    const refused = await server.send(`${REPORT}?filter[type_eq]=large`)
    const { detail } = expectError(refused, 422, 'TOO_MANY_EVENTS')
    expect(detail).toContain('more than 32 MiB')
    const allowed = await server.send(`${REPORT}?filter[type_eq]=large&filter[n_lt]=3`)
    expect(reportOf(allowed).meta.total).toBe(3)
  })

  it('contains and digests only visible events, and names no other time', async () => {
    const server = await startFeed({ visible: (ctx) => own(ctx as Context) })
    const mine = await server.record('ann')
    await server.record('bob')
    const response = await server.send(REPORT)
    const report = reportOf(response)
    expect(idsOf(report)).toEqual([mine.id])
    expect(report.meta.as_of).toBe(mine.created_at)
    expect(response.body).not.toMatch(/bob/)
    expect(sha256(await server.send(report.meta.export))).toBe(report.meta.sha256)
  })

  it('is reported to the host as an export with its events', async () => {
    const reads: unknown[] = []
    const server = await startFeed({
      onRead: (_ctx, { action, username, events }) =>
        void reads.push([action, username, events.map(({ id }) => id)]),
    })
    const { id } = await server.record('ann')
    const report = reportOf(await server.send(REPORT))
    expect(reads).toEqual([['export', 'ann', [id]]])
    expect(sha256(await server.send(report.meta.export))).toBe(report.meta.sha256)
  })

  it('accepts its own order as a sort', async () => {
    const server = await startFeed({})
    expect((await server.send(`${REPORT}?filter[sorts]=created_at`)).status).toBe(200)
  })
})
