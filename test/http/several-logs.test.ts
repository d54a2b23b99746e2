import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { AuditLog, type AuditLogs } from 'daybook'
import { exportEventsOfLogs, type ExportFormat } from 'daybook/export'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { expect, it, onTestFinished } from 'vitest'
import { queryDuckDb } from '../support/duckdb.js'
import { ocsfFaults } from '../support/ocsf-schema.js'
import { listOf, type RawResponse, send } from '../support/http.js'
import { tempDir } from '../support/temp.js'
import { checkAnswers, PATH, serve, TYPES } from './served-logs.js'

const BOTH = 'logs[]=a&logs[]=b'
const START = '2026-03-01T00:00:00Z'

/** Logs with stopped clocks. Events of different logs then have the same times, and are ordered by the keys. */
const serveStanding = () => serve({}, memoryLogs({ clock: manualClock(START) }))

/** Events of two logs in turn. Each has an attribute with the name of the member for the key of the log. */
async function recordInTurn(logs: AuditLogs, count: number): Promise<void> {
  for (let n = 1; n <= count; n++)
    await logs.log(n % 2 === 1 ? 'a' : 'b').record('note', { n, log: `text ${n}` })
}

interface Line {
  readonly log: string
  readonly attributes: { readonly n: number; readonly log: string }
  readonly metadata: { readonly log_name: string }
}

const linesOf = ({ body }: { readonly body: string }) =>
  body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)

const numbersOf = (response: { readonly body: string }) =>
  linesOf(response).map(({ attributes }) => attributes.n)

const IN_TURN = ['a', 'b', 'a', 'b', 'a']

const LOGS: Readonly<Record<ExportFormat, (response: RawResponse) => Promise<readonly unknown[]>>> =
  {
    ndjson: async (response) => linesOf(response).map(({ log }) => log),
    csv: async ({ body }) => {
      const [head, ...rows] = body.trimEnd().split('\r\n')
      expect(head).toMatch(/^log_key,created_at,.*,log$/)
      expect(rows[1]).toMatch(/,text 2$/)
      return rows.map((row) => row.split(',')[0])
    },
    cloudevents: async (response) => linesOf(response).map(({ log }) => log),
    ocsf: async (response) => {
      const lines = linesOf(response)
      expect(lines.flatMap((line) => ocsfFaults({ ...line }))).toEqual([])
      return lines.map(({ metadata }) => metadata.log_name)
    },
    otlp: async ({ body }) =>
      body
        .split('\n')
        .slice(0, -1)
        .map((line) => /"daybook\.log","value":\{"stringValue":"(.)"/.exec(line)![1]),
    parquet: async ({ bytes }) => {
      const temp = tempDir()
      onTestFinished(temp.remove)
      const file = temp.file('events.parquet')
      fs.writeFileSync(file, bytes)
      const text = `SELECT log_key, attributes->>'log' AS text FROM '${file}' ORDER BY created_at`
      const [rows] = await queryDuckDb(text)
      expect(rows![1]!['text']).toBe('text 2')
      return rows!.map((row) => row['log_key'])
    },
  }

it.each(Object.entries(LOGS))('an export as %s names the log of each event', async (format, of) => {
  const { logs, url, get } = await serveStanding()
  await checkAnswers(url)
  await recordInTurn(logs, 5)
  const columns = format === 'csv' ? '&fields[event]=log' : ''
  const response = await get(`/events/export?${BOTH}&format=${format}${columns}`)
  expect(response.headers['x-total-count']).toBe('5')
  expect(await of(response)).toEqual(IN_TURN)
  const chunks: Uint8Array[] = []
  const options = {
    format: format as ExportFormat,
    logs: ['a', 'b'],
    columns: columns ? ['log'] : undefined,
  }
  for await (const chunk of exportEventsOfLogs(logs, '', options)) chunks.push(chunk)
  // A Parquet file may have been cut into other row groups.
  if (format !== 'parquet') expect(Buffer.concat(chunks).equals(response.bytes)).toBe(true)
})

it('an export continues after an earlier one, and ends at the given cursor', async () => {
  const { logs, get } = await serveStanding()
  await recordInTurn(logs, 4)
  const first = await get(`/events/export?${BOTH}&filter[n_gt]=1`)
  expect(numbersOf(first)).toEqual([2, 3, 4])
  const until = String(first.headers['x-export-until'])
  await recordInTurn(logs, 2)
  const next = await get(`/a,b/events/export?cursor=${until}`)
  expect(numbersOf(next)).toEqual([1, 2])
  expect(numbersOf(await get(`/events/export?${BOTH}&until=${until}`))).toEqual([1, 2, 3, 4])
  for (const query of ['until=x', 'cursor=x', 'until=', `until=${until}&until=${until}`])
    expect((await get(`/events/export?${BOTH}&${query}`)).status).toBe(400)
  for (const endpoint of ['counts', 'groups?by=n&', 'report'])
    expect((await get(`/events/${endpoint}?${BOTH}&until=${until}`)).status).toBe(400)
})

it('a report has the digest of an export that stays the same', async () => {
  const { logs, url, get } = await serveStanding()
  await checkAnswers(url)
  await recordInTurn(logs, 3)
  const report = await get(`/events/report?${BOTH}&filter[n_gt]=0`)
  const { meta, links, data } = JSON.parse(report.body) as {
    readonly meta: { readonly export: string; readonly sha256: string; readonly total: number }
    readonly links: { readonly self: string }
    readonly data: readonly { readonly meta: object }[]
  }
  expect(meta.total).toBe(3)
  expect(data.map((event) => event.meta)).toEqual([{ log: 'a' }, { log: 'b' }, { log: 'a' }])
  expect(links.self).toBe(`${PATH}/events/report?${BOTH}&filter[n_gt]=0`)
  await recordInTurn(logs, 3)
  const { bytes } = await send(url, meta.export)
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(meta.sha256)
})

it('groups of several logs equal those of one log with all events', async () => {
  const { logs, url, get } = await serve()
  await checkAnswers(url)
  const single: AuditLog = new AuditLog({ store: memoryStore(), types: TYPES })
  for (let n = 1; n <= 30; n++) {
    const data = { n, kind: `k${n % 4}` }
    await logs.log(`l${n % 3}`).record('note', data)
    await single.record('note', data)
  }
  const several = 'logs[]=l0&logs[]=l1&logs[]=l2'
  const found = await get(`/events/groups?${several}&by=kind&numbers[]=n&top=3`)
  const { meta } = JSON.parse(found.body) as { readonly meta: Record<string, unknown> }
  const { took_ms: _took, ...groups } = await single.groups('', {
    by: ['kind'],
    numbers: ['n'],
    top: 3,
  })
  expect(meta).toMatchObject(JSON.parse(JSON.stringify(groups)) as object)
  expect((await get(`/events/groups?${several}`)).status).toBe(400)
  await single.close()
})

it('a history leads through the changes in several logs, also at the same time', async () => {
  const { logs, url, get } = await serveStanding()
  await checkAnswers(url)
  // The clock of each log stands, so events of different logs have the same times.
  const states = [null, { v: 1 }, { v: 2 }, { v: 3 }, { v: 4 }]
  const data = { order_id: 'A' }
  for (const [i, key] of ['a', 'b', 'c', 'a'].entries()) {
    const type = i === 0 ? 'api:orders:create' : 'note'
    await logs.log(key).recordChange(type, states[i], states[i + 1], { data })
  }
  const several = 'logs[]=a&logs[]=b&logs[]=c'
  const read = async (path: string) => {
    const { body, status } = await send(url, path)
    const { data, meta, links } = JSON.parse(body) as {
      readonly data: readonly {
        readonly meta: { readonly log: string; readonly change: { readonly patch: unknown } }
      }[]
      readonly meta: { readonly total: number }
      readonly links: { readonly prev?: string }
    }
    return { status, data, total: meta.total, prev: links.prev }
  }
  const whole = await read(`${PATH}/events/history?${several}&resource[order_id]=A`)
  expect(whole).toMatchObject({ status: 200, total: 4, prev: undefined })
  expect(whole.data.map(({ meta }) => meta.log)).toEqual(['a', 'b', 'c', 'a'])
  const found = []
  for (
    let path: string | undefined = `${PATH}/events/history?${several}&resource[order_id]=A&limit=1`;
    path !== undefined;
  ) {
    const page = await read(path)
    expect(page.status).toBe(page.prev === undefined ? 200 : 206)
    expect(page.total).toBe(4 - found.length)
    found.unshift(...page.data)
    path = page.prev
  }
  expect(found).toEqual(whole.data)
  const inCode: unknown[] = []
  for await (const { log, state } of logs.history({ order_id: 'A' }, { logs: ['a', 'b', 'c'] }))
    inCode.push([log, state])
  expect(inCode).toEqual([
    ['a', { v: 1 }],
    ['b', { v: 2 }],
    ['c', { v: 3 }],
    ['a', { v: 4 }],
  ])
  expect((await get(`/events/history?${several}`)).status).toBe(400)
})

it('Prefer: wait delays an empty list until an event of one of the logs matches', async () => {
  const { logs, url, get } = await serve()
  await checkAnswers(url)
  await recordInTurn(logs, 2)
  const headers = { prefer: 'wait=60' }
  const matching = await get(`/events?${BOTH}`, { headers })
  expect([matching.status, matching.headers['preference-applied']]).toEqual([200, 'wait=60'])
  const oldestFirst = await get(`/events?${BOTH}&filter[s]=created_at+asc`)
  const { next } = (JSON.parse(oldestFirst.body) as { links: { next: string } }).links
  const waiting = send(url, next, { headers })
  await logs.log('c').record('note', { n: 3 })
  await logs.log('b').record('note', { n: 4 })
  const found = await waiting
  expect(listOf(found).data.map(({ attributes }) => attributes['n'])).toEqual([4])
  const after = (JSON.parse(found.body) as { links: { next: string } }).links.next
  const none = await send(url, after, { headers: { prefer: 'wait=1' } })
  expect([none.status, listOf(none).data]).toEqual([200, []])
  expect(logs.openCount).toBeGreaterThan(0)
})

it('warnings name sorts by attributes that no event of any log has', async () => {
  const { logs, url, get } = await serve()
  await checkAnswers(url)
  await logs.log('a').record('note', { m: 1 })
  await logs.log('b').record('note', { n: 1 })
  const warned = await get(`/events?${BOTH}&limit=1&filter[s][]=n&filter[s][]=nope`)
  expect(JSON.parse(warned.body)).toMatchObject({
    meta: { warnings: [{ detail: 'no visible event has the attribute "nope"' }] },
  })
})

it('the host decides about each log, and gets the events that were read of each', async () => {
  const reads: string[] = []
  const { logs, get } = await serve({
    authorize: (_request, action, log) => log !== 'b' || action !== 'export',
    visible: (_request, log) => (log === 'a' ? { n_lt: 3 } : 'all'),
    onRead: (_request, { action, events }, log) =>
      void reads.push(`${action} ${log} ${events.length}`),
  })
  await recordInTurn(logs, 4)
  await logs.log('c').record('note', { n: 5 })
  const other = 'logs[]=a&logs[]=c'
  expect((await get(`/events/export?${BOTH}`)).status).toBe(403)
  expect((await get(`/events/report?${BOTH}`)).status).toBe(403)
  expect((await get('/events/export?logs[]=a&logs[]=none')).status).toBe(404)
  expect(reads).toEqual([])
  expect(numbersOf(await get(`/events/export?${other}`))).toEqual([1, 5])
  expect(reads.splice(0)).toEqual(['export a 0', 'export c 0', 'export a 1', 'export c 1'])
  // The host is asked before the query is read.
  expect((await get(`/events/export?${BOTH}&wrong=1`)).status).toBe(403)
  expect((await get('/events?logs[]=a&logs[]=none&wrong=1')).status).toBe(404)
  expect((await get(`/events?${BOTH}&filter[n_eq]=9`)).status).toBe(200)
  expect(reads.splice(0)).toEqual(['list a 0', 'list b 0'])
  const groups = await get(`/events/groups?${BOTH}&by=n`)
  expect(JSON.parse(groups.body)).toMatchObject({ meta: { total: 3 } })
  expect(reads.splice(0)).toEqual(['count a 0', 'count b 0'])
  const me = await get('/a,b/events/me')
  expect(JSON.parse(me.body)).toMatchObject({ data: { attributes: { may: { export: false } } } })
  // A cursor does not reveal the time of the newest event, which the user may not see.
  const visible = await get('/events?logs[]=a')
  const { meta } = JSON.parse(visible.body) as { readonly meta: { readonly cursor: string } }
  await logs.log('a').record('note', { n: 6 })
  const { meta: later } = JSON.parse((await get('/events?logs[]=a')).body) as typeof meta & {
    readonly meta: { readonly cursor: string }
  }
  expect(later.cursor).toBe(meta.cursor)
})
