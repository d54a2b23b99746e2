import { once } from 'node:events'
import http from 'node:http'
import type { AuditEvent } from 'daybook'
import { expect } from 'vitest'
import { parseCsv } from '../support/csv.js'
import type { RawResponse, TestServer } from '../support/http.js'
import { PATH } from './access.js'

export const EXPORT = `${PATH}/export`

/** The events of an export as JSON lines. */
export const linesOf = (response: RawResponse): AuditEvent[] => {
  expect(response.status, response.body).toBe(200)
  expect(response.headers['content-type']).toBe('application/x-ndjson')
  return response.body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEvent)
}

/** The cells of each event by heading. */
export const rowsOf = (response: RawResponse): Readonly<Record<string, string>>[] => {
  expect(response.status, response.body).toBe(200)
  expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
  const [heading = [], ...records] = parseCsv(response.body)
  return records.map((cells) =>
    Object.fromEntries(heading.map((name, index) => [name, cells[index]!])),
  )
}

/** Records events of about this size, numbered from 0 in the attribute `n`. */
export const recordMany = async (
  server: TestServer,
  count: number,
  size: number,
): Promise<void> => {
  const text = 'x'.repeat(size)
  await Promise.all(
    Array.from({ length: count }, (_, n) => server.audit.recordCustom('note', { text, n })),
  )
}

/** Resolves to the response, whose body is not read yet. */
export async function openExport(server: TestServer): Promise<http.IncomingMessage> {
  const request = http.get(server.url + EXPORT, { auth: 'ann:ann', agent: false })
  const [incoming] = (await once(request, 'response')) as [http.IncomingMessage]
  return incoming
}
