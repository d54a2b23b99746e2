import type { AuditEvent, JsonValue } from 'daybook'
import type { Context } from 'koa'
import { beforeAll, describe, expect, it } from 'vitest'
import { memoryPlace } from '../support/event-stores.js'
import { useServer } from '../support/host.js'
import type { RawResponse } from '../support/http.js'
import { type AccessServer, own, PATH, startFeed } from './access.js'

const HISTORY = `${PATH}/history`

interface Change {
  readonly known: boolean
  readonly state: JsonValue
  readonly patch: readonly object[] | null
  readonly revert: readonly object[] | null
  readonly not_revertible?: string
}

interface HistoryDocument {
  readonly data: readonly { readonly id: string; readonly meta: { readonly change: Change } }[]
  readonly links: { readonly self: string; readonly prev?: string }
  readonly meta: { readonly total: number; readonly restricted: boolean }
}

const documentOf = (response: RawResponse): HistoryDocument => {
  expect(response.status, response.body).toBeLessThan(300)
  return JSON.parse(response.body) as HistoryDocument
}

const statesOf = (document: HistoryDocument): unknown[] =>
  document.data.map(({ meta }) => (meta.change.known ? meta.change.state : 'not known'))

const idsOf = ({ data }: HistoryDocument): string[] => data.map(({ id }) => id)

const op = (name: string, path: string, value?: JsonValue): object => ({
  op: name,
  path,
  ...(value !== undefined && { value }),
})
const changed = (
  state: JsonValue,
  patch: readonly object[],
  revert: readonly object[] | null,
): Change => ({ known: true, state, patch, revert })

type Action = 'create' | 'update' | 'destroy'

/** Records a change of a resource as a custom event. */
const recordTo =
  ({ audit }: Pick<AccessServer, 'audit'>, username = 'ann') =>
  async (action: Action, data: object): Promise<AuditEvent> =>
    (await audit.recordSystem(`api:orders:${action}`, data, { username }))!

const replaced = (path: string, old_value: JsonValue, value: JsonValue): object => ({
  changes: [{ op: 'replace', path, value, old_value }],
})
const added = (path: string, value: JsonValue): object => ({
  changes: [{ op: 'add', path, value }],
})

describe('GET /api/events/history', () => {
  const server = useServer(memoryPlace, { record: false })
  const project_id = '0190b6a4-64a1-7000-8000-000000000001'
  const source = `/api/projects/${project_id}`
  const recorded: AuditEvent[] = []
  const read = async (query: string): Promise<HistoryDocument> =>
    documentOf(await server().send(`${HISTORY}?${query}`))

  beforeAll(async () => {
    const record = recordTo(server())
    const of = { project_id, order_id: 'A-17' }
    recorded.push(
      await record('create', { ...of, ...added('/total', 1) }),
      await record('update', { ...of, ...replaced('/total', 1, 2) }),
      await record('update', { ...of, ...added('/token', '[redacted]') }),
      await record('update', { ...of, ...replaced('/token', '[redacted]', '[redacted]') }),
      await record('update', { ...of, ...replaced('/total', 7, 8) }),
      await record('destroy', { ...of, changes: [{ op: 'remove', path: '/total', old_value: 8 }] }),
    )
    await record('update', { ...of, note: 'no change' })
    await record('create', { order_id: 'B-1', ...added('/total', 9) })
  })

  it('has the changes of a resource with the states after them', async () => {
    const { data, links, meta } = await read(`source=${source}`)
    expect(links).toEqual({ self: `${HISTORY}?source=${source}` })
    expect(meta).toEqual({ total: 6, restricted: false })
    expect(data.map(({ id }) => id)).toEqual(recorded.map(({ id }) => id))
    const redacted = '[redacted]'
    expect(data.map(({ meta }) => meta.change)).toEqual([
      changed(
        { total: 1 },
        [op('add', '/total', 1)],
        [op('test', '/total', 1), op('remove', '/total')],
      ),
      changed(
        { total: 2 },
        [op('replace', '/total', 2)],
        [op('test', '/total', 2), op('replace', '/total', 1)],
      ),
      changed(
        { total: 2, token: redacted },
        [op('add', '/token', redacted)],
        [op('remove', '/token')],
      ),
      {
        ...changed({ total: 2, token: redacted }, [op('replace', '/token', redacted)], null),
        not_revertible: 'the old value of /token is redacted',
      },
      {
        ...changed(
          null,
          [op('replace', '/total', 8)],
          [op('test', '/total', 8), op('replace', '/total', 7)],
        ),
        known: false,
      },
      changed(null, [op('remove', '/total')], [op('add', '/total', 8)]),
    ])
  })

  it('finds a resource by its attributes', async () => {
    expect(idsOf(await read('resource[order_id]=A-17'))).toEqual(recorded.map(({ id }) => id))
    expect(statesOf(await read('resource[order_id]=B-1'))).toEqual([{ total: 9 }])
    expect(idsOf(await read(`resource[order_id]=B-1&resource[project_id]=${project_id}`))).toEqual(
      [],
    )
    expect((await read('source=/api/none')).meta).toEqual({ total: 0, restricted: false })
  })

  it('leaves out the changes after `as_of`', async () => {
    const [, second, third] = recorded
    const asOf = await read(`source=${source}&as_of=${second!.created_at}`)
    expect(statesOf(asOf)).toEqual([{ total: 1 }, { total: 2 }])
    expect(asOf.meta.total).toBe(2)
    const before = await read(`source=${source}&as_of=${third!.created_at}&limit=1`)
    expect(idsOf(before)).toEqual([third!.id])
  })

  it('is read in pages from the newest change back, with the same states', async () => {
    const whole = await read(`source=${source}`)
    const pages: HistoryDocument[] = []
    let path: string | undefined = `${HISTORY}?source=${source}&limit=4`
    while (path !== undefined) {
      const response = await server().send(path)
      const page = documentOf(response)
      expect(response.status).toBe(page.links.prev === undefined ? 200 : 206)
      pages.unshift(page)
      path = page.links.prev
    }
    expect(pages.map(({ data }) => data.length)).toEqual([2, 4])
    expect(pages.flatMap(({ data }) => data)).toEqual(whole.data)
    expect(pages.map(({ meta }) => meta.total)).toEqual([2, 6])
  })

  it('reveals no change that the user may not see, and is reported to the host', async () => {
    const reads: unknown[] = []
    const server = await startFeed({
      visible: (ctx: Context) => own(ctx),
      onRead: (_ctx, { action, events }) => void reads.push([action, events.map(({ id }) => id)]),
    })
    const order = { order_id: 'A-17' }
    const first = await recordTo(server)('create', { ...order, ...added('/n', 1) })
    await recordTo(server, 'bob')('update', { ...order, ...replaced('/n', 1, 2) })
    const last = await recordTo(server)('update', { ...order, ...replaced('/n', 2, 3) })
    const document = documentOf(await server.send(`${HISTORY}?resource[order_id]=A-17`))
    expect(idsOf(document)).toEqual([first.id, last.id])
    expect(document.meta).toEqual({ total: 2, restricted: true })
    expect(statesOf(document)).toEqual([{ n: 1 }, 'not known'])
    expect(reads).toEqual([['list', [first.id, last.id]]])
  })
})
