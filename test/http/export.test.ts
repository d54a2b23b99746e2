import { type AuditEvent, AuditLog, type JsonObject } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runScript } from '../support/child.js'
import { memoryPlace } from '../support/event-stores.js'
import { useServer } from '../support/host.js'
import type { TestServer } from '../support/http.js'
import { inFull } from './counts.js'
import { EXPORT, linesOf, rowsOf } from './export.js'

const record = async (
  { audit }: TestServer,
  type: string,
  attributes: object,
  username = 'ann',
): Promise<AuditEvent> => (await audit.recordCustom(type, attributes, { username }))!

describe('GET /api/events/export', () => {
  const server = useServer(memoryPlace, { record: false })
  beforeAll(() => void inFull(server()))

  it('contains all matching events, whole and oldest first, beyond the limit of a list', async () => {
    const given = await Promise.all(
      Array.from({ length: 1203 }, (_, n) =>
        record(server(), 'export:all', { n, list: [n, null] }),
      ),
    )
    await record(server(), 'export:other', {})
    const response = await server().send(`${EXPORT}?filter[type_eq]=export:all`)
    expect(linesOf(response)).toEqual(given)
    expect(response.headers['x-total-count']).toBe('1203')
    expect(response.headers['x-total-count-at-least']).toBeUndefined()
    const csv = await server().send(`${EXPORT}?filter[type_eq]=export:all&format=csv`)
    expect(rowsOf(csv).map(({ id }) => id)).toEqual(given.map(({ id }) => id))
  })

  it('writes lines that importEvents accepts, which give the same log', async () => {
    await record(server(), 'export:import', { project_path: '/projects/acme', text: 'a\n\u2028"b' })
    await server().audit.recordSystem('export:import', { nested: { deep: [{ a: 1 }] } })
    const path = `${EXPORT}?filter[type_eq]=export:import`
    const lines = linesOf(await server().send(path))
    expect(lines).toHaveLength(2)
    const other = new AuditLog({ store: memoryStore(), types: {} })
    expect(await other.importEvents(lines)).toEqual({ imported: 2, skipped: 0 })
    const { events } = await other.list()
    expect(events).toEqual((await server().audit.list('filter[type_eq]=export:import')).events)
    await other.close()
  })

  it('writes CSV with all attributes in one column', async () => {
    const noted = await record(server(), 'export:table', { text: 'hello, "ann"', n: 1 })
    const { audit } = server()
    const made = (await audit.recordSystem('export:table', { project_path: '/projects/acme' }))!
    const response = await server().send(`${EXPORT}?format=csv&filter[type_eq]=export:table`)
    expect(response.body.split('\r\n')[0]).toBe(
      'created_at,type,username,system,source,id,sentence,attributes',
    )
    const rows = rowsOf(response)
    const { sentence } = rows[0]!
    expect(rows[0]).toEqual({
      created_at: noted.created_at,
      type: 'export:table',
      username: 'ann',
      system: 'false',
      source: '',
      id: noted.id,
      sentence,
      attributes: '{"text":"hello, \\"ann\\"","n":1}',
    })
    expect(sentence).toContain('export:table')
    expect(rows[1]).toMatchObject({
      username: '',
      system: 'true',
      source: '/api/projects/acme',
      id: made.id,
      attributes: '{"project_path":"/projects/acme"}',
    })
  })

  it('gives each selected attribute a column, named as in filters', async () => {
    const all: JsonObject[] = [
      { name: 'one', url_params: { project: { code: 'acme' } }, n: 7 },
      { name: ['a', 'b'], url_params_project_code: 'x', url_params: { project: { code: 'y' } } },
      { name: null, n: false, url_params: { project: [{ code: 1 }, { code: 2 }] } },
      { name: { first: 'a' }, n: '' },
    ]
    for (const attributes of all) await record(server(), 'export:columns', attributes)
    const fields = 'fields[event]=name,url_params_project_code,n,type,__proto__'
    const response = await server().send(
      `${EXPORT}?format=csv&filter[type_eq]=export:columns&${fields}`,
    )
    expect(response.body.split('\r\n')[0]).toBe(
      'created_at,type,username,system,source,id,sentence,name,url_params_project_code,n,__proto__',
    )
    expect(
      rowsOf(response).map((row) => [row['name'], row['url_params_project_code'], row['n']]),
    ).toEqual([
      ['one', 'acme', '7'],
      ['["a","b"]', '["y","x"]', ''],
      ['', '[1,2]', 'false'],
      ['{"first":"a"}', '', ''],
    ])
    const none = await server().send(`${EXPORT}?format=csv&fields[event]=`)
    expect(none.body.split('\r\n')[0]).toBe('created_at,type,username,system,source,id,sentence')
  })

  it('escapes every cell that spreadsheets would run as a formula', async () => {
    await record(server(), 'export:hostile', { text: '=1+1' }, '=cmd')
    const response = await server().send(
      `${EXPORT}?format=csv&filter[type_eq]=export:hostile&fields[event]=text,=evil`,
    )
    const [row] = rowsOf(response)
    expect(row).toMatchObject({ text: "'=1+1", username: "'=cmd", "'=evil": '' })
    expect(row!['sentence']).toMatch(/^'=cmd/)
  })

  it('ends while events are being recorded: it contains the events that existed at its start', async () => {
    for (let n = 0; n < 3; n++) await record(server(), 'export:end', { n })
    const { audit } = server()
    const { pages } = audit
    onTestFinished(() => {
      audit.pages = pages
    })
    audit.pages = async function* (query, options) {
      await record(server(), 'export:end', { n: 'new' })
      yield* pages.call(audit, query, options)
    }
    const response = await server().send(`${EXPORT}?filter[type_eq]=export:end`)
    expect(linesOf(response).map(({ attributes }) => attributes['n'])).toEqual([0, 1, 2])
    expect(response.headers['x-total-count']).toBe('3')
  })
})

it('uses no more memory for more events', async () => {
  // Less than the size of the file.
  const env = { NODE_OPTIONS: '--max-old-space-size=64' }
  const child = runScript('test/support/export-child.ts', ['18000'], env)
  expect(await child.ended, child.stderr()).toBe(0)
  const { lines, bytes } = JSON.parse(child.stdout()) as Record<'lines' | 'bytes', number>
  expect(lines).toBe(18_000)
  expect(bytes).toBeGreaterThan(64 * 2 ** 20)
})
