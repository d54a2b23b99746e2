import type { AuditLog } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOpenEventFinder } from '../../src/http/events/open-events.js'
import { memoryPlace } from '../support/event-stores.js'
import { useServer } from '../support/host.js'

const FETCH = 'info:template_version:fetch'

interface Resource {
  readonly id: string
  readonly attributes: { readonly type: string }
  readonly meta?: { readonly live?: true }
}

describe('live events over HTTP', () => {
  const server = useServer(memoryPlace, { record: false })

  const listed = async (): Promise<readonly Resource[]> =>
    (JSON.parse((await server().send('/api/events')).body) as { data: Resource[] }).data
  const read = async (id: string): Promise<Resource> =>
    (JSON.parse((await server().send(`/api/events/${id}`)).body) as { data: Resource }).data

  it('have meta.live until they are closed', async () => {
    const { audit } = server()
    const types = { ...workflowEventTypes }
    expect(types[FETCH].live).toBe(true)
    const live = await audit.recordLive(FETCH, { progress: '1 %' })
    const other = await audit.recordSystem(FETCH, { progress: 'done at once' })
    onTestFinished(async () => void (await live.close()))
    const { id } = live.event!
    expect((await listed()).map((event) => [event.id, event.meta])).toEqual([
      [id, { live: true }],
      [other!.id, undefined],
    ])
    expect((await read(id)).meta).toEqual({ live: true })
    expect((await read(other!.id)).meta).toBeUndefined()
    const tag = (await server().send('/api/events')).headers.etag!
    await live.close()
    const after = await server().send('/api/events', { headers: { 'if-none-match': tag } })
    expect(after.status).toBe(200)
    expect((await listed()).map((event) => event.meta)).toEqual([undefined, undefined])
    expect((await read(id)).meta).toBeUndefined()
  })

  it('are not queried if no event on the page can be live', async () => {
    const { audit } = server()
    const queries: string[] = []
    const store: AuditLog['store'] = {
      ...audit.store,
      openEvents: (options) => {
        queries.push('open')
        return audit.store.openEvents(options)
      },
    }
    const event = await audit.recordSystem('note:taken')
    expect(await createOpenEventFinder({ store, types: audit.types })([event!])).toEqual(new Set())
    expect(queries).toEqual([])
    const live = await audit.recordLive(FETCH)
    onTestFinished(async () => void (await live.close()))
    const open = await createOpenEventFinder({ store, types: audit.types })([event!, live.event!])
    expect([...open]).toEqual([live.event!.id])
    expect(queries).toEqual(['open'])
  })
})
