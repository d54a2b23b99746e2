import { once } from 'node:events'
import { type AuditEvent, AuditLogError } from 'daybook'
import { describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { type AccessServer, startFeed } from './access.js'
import { EXPORT, openExport, recordMany } from './export.js'

/** A feed whose pages of events go through `wrap`. */
async function startWrapped(
  wrap: (pages: AsyncIterable<readonly AuditEvent[]>) => AsyncIterable<readonly AuditEvent[]>,
): Promise<AccessServer> {
  const server = await startFeed({})
  const { audit } = server
  const { pages } = audit
  audit.pages = async function* (query, options) {
    yield* wrap(pages.call(audit, query, options))
  }
  return server
}

describe('an interrupted export', () => {
  it('stops reading when the client disconnects, without an error', async () => {
    let taken = 0
    let letGo = (): void => {}
    const ended = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const server = await startWrapped(async function* (pages) {
      try {
        for await (const page of pages) {
          taken++
          yield page
        }
      } finally {
        letGo()
      }
    })
    // More than the socket buffers hold while the client does not read.
    await recordMany(server, 5000, 6000)
    const incoming = await openExport(server)
    await once(incoming, 'readable')
    incoming.destroy()
    await ended
    expect(taken).toBeLessThan(5)
    expect((await server.send(`${EXPORT}?filter[n_eq]=1`)).status).toBe(200)
    // Koa reports that the client has reset its connection.
    expect(server.emitted.filter((error) => error instanceof AuditLogError)).toEqual([])
  })

  it('closes the connection when the store fails, and Koa emits the error', async () => {
    const failure = new AuditLogError('STORE_FAILED', 'the disk failed')
    const server = await startWrapped(async function* (pages) {
      for await (const page of pages) {
        yield page
        throw failure
      }
    })
    await recordMany(server, 300, 2000)
    for (const format of ['ndjson', 'csv'])
      await expect(server.send(`${EXPORT}?format=${format}`)).rejects.toThrow('aborted')
    expect(server.emitted).toEqual([failure, failure])
  })

  it('closes the connection when onRead throws', async () => {
    let reads = 0
    const given = new AuditLogError('ABORTED', 'the other log did not take it')
    const server = await startFeed({
      onRead: (_ctx, { events }) => {
        if (events.length > 0 && ++reads > 1) throw given
      },
    })
    await recordMany(server, 2500, 10)
    await expect(server.send(EXPORT)).rejects.toThrow('aborted')
    expect(reads).toBe(2)
  })

  it('is a normal error response if it fails before it starts', async () => {
    const server = await startFeed({})
    server.audit.count = () => Promise.reject(new AuditLogError('STORE_FAILED', 'the disk failed'))
    expectError(await server.send(EXPORT), 503, 'STORE_FAILED')
  })
})
