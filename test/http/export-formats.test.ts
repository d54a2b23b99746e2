import fs from 'node:fs'
import { CloudEvent } from 'cloudevents'
import { AuditLog, type AuditEvent } from 'daybook'
import { exportEvents, type ExportFormat, lineTime } from 'daybook/export'
import { toOcsf, toOtlp } from 'daybook/formats'
import { auditRoutes } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { fromParquet } from 'daybook/parquet'
import { workflowEventTypes } from 'daybook/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { queryDuckDb } from '../support/duckdb.js'
import { expectError } from '../support/expect-error.js'
import { hidePackage } from '../support/hidden-package.js'
import { checkAnswers, type RawResponse, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { ocsfFaults } from '../support/ocsf-schema.js'
import { throughProtobuf, withoutDefaults } from '../support/otlp-messages.js'
import { tempDir } from '../support/temp.js'
import { startFeed } from './access.js'
import { EXPORT } from './export.js'
import { type Host, hostsOf } from './management-hosts.js'

const SERVICE = 'https://orders.example/audit'

const hosts = hostsOf('auditRoutes', { service: SERVICE })

const temp = tempDir()
afterAll(temp.remove)

const HOSTILE = ['\0', '\uD800', '😀', `'"; --`, 'a\r\nb,"c"', '=1+1', '\u2028']

let audit: AuditLog
let events: readonly AuditEvent[]

beforeAll(async () => {
  audit = new AuditLog({ store: memoryStore(), types: workflowEventTypes })
  for (const text of HOSTILE)
    await audit.record(
      'api:projects:create',
      { name: text, url_params: { project: { code: text } } },
      { username: 'ann' },
    )
  await audit.recordCustom('note', { text: 'ours' }, { username: 'bob' })
  events = (await audit.list({ limit: 1000 })).events
})
afterAll(() => audit.close())

const types = workflowEventTypes

const objectsOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const LINES: Readonly<Record<string, (lines: Record<string, unknown>[]) => void>> = {
  cloudevents: (lines) => {
    for (const line of lines) expect(new CloudEvent(line).validate()).toBe(true)
    expect(lines.map(({ source }) => source)).toEqual(events.map(() => SERVICE))
    expect(lines.map(({ data }) => (data as AuditEvent).attributes)).toEqual(
      events.map(({ attributes }) => attributes),
    )
  },
  ocsf: (lines) => {
    expect(lines.flatMap(ocsfFaults)).toEqual([])
    expect(lines).toEqual(
      events.map((event) => json(toOcsf(event, { product: { name: SERVICE }, types }))),
    )
  },
  otlp: (lines) => {
    for (const line of lines) expect(throughProtobuf(line).json).toEqual(withoutDefaults(line))
    expect(lines).toEqual(events.map((event) => json(toOtlp([event], { service: SERVICE, types }))))
  },
}

/** The export that a host sends. */
async function exportOf(host: Host, query: string): Promise<RawResponse> {
  const { url, close } = await listen(host(audit))
  const endChecks = checkAnswers(url, audit)
  onTestFinished(async () => {
    endChecks()
    await close()
  })
  const response = await send(url, `${EXPORT}?${query}`)
  expect(response.status, response.body).toBe(200)
  expect(response.headers['x-export-until']).toBe(events.at(-1)!.created_at)
  return response
}

const PARQUET = 'format=parquet&fields[event]=url_params_project_code'

describe('an export', () => {
  it.each(Object.keys(LINES))('as %s follows the standard in each line', async (format) => {
    const { headers, body } = await exportOf(hosts['Koa']!, `format=${format}`)
    expect(headers['content-type']).toBe('application/x-ndjson')
    expect(headers['content-disposition']).toMatch(/\.ndjson"$/)
    LINES[format]!(objectsOf(body))
  })

  it('as Parquet has the same events, which DuckDB reads', async () => {
    const { headers, bytes } = await exportOf(hosts['Koa']!, PARQUET)
    expect(headers['content-type']).toBe('application/vnd.apache.parquet')
    expect(headers['content-disposition']).toMatch(/\.parquet"$/)
    const file = temp.file('events.parquet')
    fs.writeFileSync(file, bytes)
    for await (const page of fromParquet(file)) expect(page).toEqual(events)
    const [rows] = await queryDuckDb(`SELECT url_params_project_code AS code FROM '${file}'`)
    expect(rows!.map(({ code }) => code)).toEqual(
      events.map(({ attributes }) => attributes['name'] ?? null),
    )
  })

  it.each(Object.entries(hosts))('of %s has the same bytes as of Koa', async (_name, host) => {
    for (const query of [...Object.keys(LINES).map((format) => `format=${format}`), PARQUET]) {
      const [given, expected] = [await exportOf(host, query), await exportOf(hosts['Koa']!, query)]
      expect(Buffer.compare(given.bytes, expected.bytes), query).toBe(0)
      expect(given.headers['content-type']).toBe(expected.headers['content-type'])
    }
  })
})

describe('GET /api/events/export', () => {
  it.each([
    ['application/vnd.apache.parquet', 'application/vnd.apache.parquet'],
    [
      'application/x-ndjson;q=0.1, application/vnd.apache.parquet',
      'application/vnd.apache.parquet',
    ],
    ['application/*', 'application/x-ndjson'],
  ])('with Accept: %s is %s', async (accept, type) => {
    const server = await startFeed({})
    const response = await server.send(EXPORT, { headers: { accept } })
    expect([response.status, response.headers['content-type']]).toEqual([200, type])
  })

  it('continues after the last whole line of each format, up to the end of the first request', async () => {
    const server = await startFeed({})
    for (let n = 0; n < 3; n++) await server.record('ann', { n })
    for (const format of ['ndjson', 'csv', 'cloudevents', 'ocsf', 'otlp'] as ExportFormat[]) {
      const path = `${EXPORT}?format=${format}`
      const { body, headers } = await server.send(path)
      const cut = body.slice(0, -10)
      const whole = cut.slice(0, cut.lastIndexOf('\n') + 1)
      const after = lineTime(format, whole.trimEnd().split('\n').at(-1)!)
      await server.record('ann', { n: 'later' })
      const range = `filter[created_at_gt]=${after}&filter[created_at_lteq]=${headers['x-export-until'] as string}`
      const rest = await server.send(`${path}&${range}`)
      const heading = format === 'csv' ? rest.body.slice(0, rest.body.indexOf('\n') + 1) : ''
      expect(whole + rest.body.slice(heading.length)).toBe(body)
    }
  })

  it('names the package that the format needs if it is not installed', async () => {
    onTestFinished(hidePackage('hyparquet-writer'))
    const server = await startFeed({})
    const response = await server.send(`${EXPORT}?format=parquet`)
    const source = { parameter: 'format' }
    const { detail } = expectError(response, 501, 'FORMAT_UNAVAILABLE', source)
    expect(detail).toContain('npm install hyparquet-writer')
  })

  it('refuses the name of a service that CloudEvents cannot have as a source', () => {
    expect(() => auditRoutes(audit, { service: 'two words' })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})

describe('exportEvents', () => {
  const textOf = async (chunks: AsyncIterable<Uint8Array>): Promise<string> => {
    const parts: Uint8Array[] = []
    for await (const chunk of chunks) parts.push(chunk)
    return Buffer.concat(parts).toString()
  }

  it('gives the bytes of the export over HTTP', async () => {
    const server = await startFeed({})
    const query = 'filter[username_eq]=ann'
    for (const username of ['ann', 'bob', 'ann']) await server.record(username)
    for (const format of ['ndjson', 'csv', 'cloudevents', 'ocsf', 'otlp'] as ExportFormat[]) {
      const { body } = await server.send(`${EXPORT}?${query}&format=${format}`)
      expect(await textOf(exportEvents(server.audit, query, { format }))).toBe(body)
    }
  })

  it('leaves out events that are recorded meanwhile', async () => {
    const log = new AuditLog({ store: memoryStore(), types: {} })
    for (let n = 0; n < 1001; n++) await log.recordCustom('note', { n, text: 'x'.repeat(100) })
    const chunks = exportEvents(log)
    const first = await chunks.next()
    await log.recordCustom('note', { n: 'later' })
    const rest = await textOf(chunks)
    const lines = objectsOf(Buffer.from(first.value as Uint8Array).toString() + rest)
    expect(lines.map(({ attributes }) => (attributes as { n: unknown }).n)).toEqual(
      Array.from({ length: 1001 }, (_, n) => n),
    )
    await log.close()
  })

  it.each([
    ['filter[sorts]=created_at desc', {}, 'INVALID_VALUE'],
    ['filter[sorts]=type', {}, 'INVALID_VALUE'],
    ['', { format: 'xml' as ExportFormat }, 'INVALID_OPTION'],
    ['', { service: 'two words' }, 'INVALID_OPTION'],
  ])('refuses %s with %j', async (query, options, code) => {
    await expect(textOf(exportEvents(audit, query, options))).rejects.toMatchObject({ code })
  })
})

describe('the time of a line', () => {
  it('is unknown in incomplete lines, headings and events of OCSF with an imported id', () => {
    const event = { ...events[0]!, id: 'f81d4fae-7dec-4d1d-a765-00a0c91e6bf6' }
    const ocsf = JSON.stringify(toOcsf(event, { product: { name: 'x' } }))
    expect(lineTime('ocsf', ocsf)).toBeUndefined()
    expect(lineTime('csv', 'created_at,type')).toBeUndefined()
    for (const format of ['ndjson', 'cloudevents', 'ocsf', 'otlp'] as ExportFormat[])
      for (const line of ['', '{', 'null', '{}', '{"resourceLogs":[{}]}'])
        expect(lineTime(format, line)).toBeUndefined()
    expect(lineTime('parquet', '')).toBeUndefined()
  })
})
