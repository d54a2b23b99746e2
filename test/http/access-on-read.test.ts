import { type AuditEvent, AuditLogError } from 'daybook'
import type { EventsRead } from 'daybook/koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlitePlace } from '../support/event-stores.js'
import { newEvent, serve } from '../support/http.js'
import { openStream } from '../support/server-sent.js'
import { own, PATH, startFeed, textsOf } from './access.js'

describe('onRead', () => {
  const started = async () => {
    const reads: EventsRead[] = []
    const server = await startFeed({ visible: own, onRead: (_ctx, read) => void reads.push(read) })
    return { reads, server }
  }

  it('receives the user, the events and the query of a read', async () => {
    const { reads, server } = await started()
    const seen = [await server.record('ann'), await server.record('ann')]
    await server.record('bob')
    await server.send(`${PATH}?limit=1`)
    await server.send(`${PATH}/${seen[0]!.id}?fields[event]=type`)
    await server.send(PATH, { user: 'eve' })
    expect(reads).toEqual([
      { action: 'list', username: 'ann', query: 'limit=1', events: [seen[1]] },
      { action: 'read', username: 'ann', query: 'fields[event]=type', events: [seen[0]] },
      { action: 'list', username: 'eve', query: '', events: [] },
    ])
  })

  it('is also called for HEAD and 304, because these reveal that the events exist', async () => {
    const { reads, server } = await started()
    const event = await server.record('ann')
    const path = `${PATH}/${event.id}`
    const { etag } = (await server.send(path, { method: 'HEAD' })).headers
    const again = await server.send(path, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    expect(reads.map(({ events }) => events)).toEqual([[event], [event]])
  })

  it('is called for each batch of a stream', async () => {
    const { reads, server } = await started()
    const stream = await openStream(`${server.url}${PATH}/stream?filter[text_gt]=0`)
    for (const text of [0, 1, 2, 3]) await server.record('ann', { text })
    await stream.take(3)
    stream.leave()
    expect(new Set(reads.map(({ action }) => action))).toEqual(new Set(['stream']))
    const texts = reads.flatMap(({ events }) => events.map(({ attributes }) => attributes['text']))
    expect(texts).toEqual([1, 2, 3])
  })

  it('is not called for requests that read no events', async () => {
    const { reads, server } = await started()
    const hidden = await server.record('bob')
    await server.send(PATH, newEvent({ type: 'x' }))
    for (const path of ['openapi.json', 'types', 'me', hidden.id])
      await server.send(`${PATH}/${path}`)
    await server.send(`${PATH}?filter[nope]=1`)
    await server.send(PATH, { user: null })
    expect(reads).toEqual([])
  })

  it('delays the response until it resolves', async () => {
    const order: string[] = []
    let release = (): void => {}
    let onCall = (): void => {}
    const called = new Promise<void>((resolve) => (onCall = resolve))
    const server = await startFeed({
      async onRead() {
        order.push('called')
        onCall()
        await new Promise<void>((resolve) => (release = resolve))
      },
    })
    const responded = server.send(PATH).then(() => order.push('responded'))
    await called
    // Another response arrives in the meantime.
    await server.send(`${PATH}/openapi.json`)
    order.push('released')
    release()
    await responded
    expect(order).toEqual(['called', 'released', 'responded'])
  })

  it.each([PATH, `${PATH}/`, `${PATH}?filter[text_eq]=secret`])(
    'that throws prevents the response to %s, as an error of the host',
    async (path) => {
      const failure = new AuditLogError('STORE_FAILED', 'the notes cannot be kept')
      const server = await startFeed({ onRead: () => Promise.reject(failure) })
      const event = await server.record('ann', { text: 'secret' })
      for (const target of [path, `${PATH}/${event.id}`]) {
        const response = await server.send(target)
        expect(response.status).toBe(500)
        expect(response.body).not.toContain('secret')
      }
      expect(server.errors).toEqual([failure, failure])
    },
  )

  it('that throws cuts a stream off, and Koa emits the error', async () => {
    const failure = new Error('the notes cannot be kept')
    let reads = 0
    const server = await startFeed({
      onRead() {
        if (++reads > 1) throw failure
      },
    })
    const stream = await openStream(`${server.url}${PATH}/stream`)
    await server.record('ann', { text: 'first' })
    await stream.take(1)
    await server.record('ann', { text: 'second' })
    expect(await stream.ended).toBe('cut off')
    expect(stream.sent.events).toHaveLength(1)
    expect(server.emitted).toEqual([failure])
  })

  it('receives whole events even if the store has not parsed their attributes', async () => {
    const place = await sqlitePlace()
    const given: AuditEvent[] = []
    const onRead = (_context: unknown, { events }: EventsRead): void =>
      void given.push(...events.map((event) => ({ ...event })))
    const server = await serve({ store: place.open(), feed: { onRead } })
    onTestFinished(async () => {
      await server.close()
      await place.remove()
    })
    await server.audit.recordCustom('deploy:note', { text: 'hello' })
    expect(textsOf(await server.send(PATH))).toEqual(['hello'])
    expect(given.map(({ attributes }) => attributes)).toEqual([{ text: 'hello' }])
  })
})
