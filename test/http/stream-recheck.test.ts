import { AuditLog } from 'daybook'
import { auditRoutes, type AuditRoutesOptions, type Visible } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import { type EventStream, openStream } from '../support/server-sent.js'
import { type AccessServer, own, PATH, startFeed } from './access.js'

const start = (feed: AuditRoutesOptions) => startFeed({ recheckMs: 20, ...feed })

const open = (server: AccessServer, query: string): Promise<EventStream> =>
  openStream(`${server.url}${PATH}/stream${query}`)

/** Records events until the stream ends. Resolves to the kind of its end. */
async function endOf(server: AccessServer, stream: EventStream): Promise<string> {
  let end: string | undefined
  void stream.ended.then((how) => (end = how))
  while (end === undefined) await server.record('ann', { text: 'later' })
  return end
}

describe.each(['', '?changes=true'])('an open stream%s', (query) => {
  it('repeats the check at the interval, and continues while the answers are the same', async () => {
    let asked = 0
    let reached = (): void => {}
    const askedOften = new Promise<void>((resolve) => (reached = resolve))
    const server = await start({
      authorize: () => ++asked > 0,
      visible(ctx) {
        if (asked === 5) reached()
        return own(ctx as Context)
      },
    })
    const stream = await open(server, query)
    await askedOften
    await server.record('ann', { text: 'after' })
    await stream.take(1)
    stream.leave()
  })

  it('ends when authorize no longer returns true', async () => {
    let answer: unknown = true
    const server = await start({ authorize: () => answer as boolean })
    const stream = await open(server, query)
    await server.record('ann')
    await stream.take(1)
    answer = 1
    expect(await stream.ended).toBe('ended')
    expect((await open(server, query)).status).toBe(403)
    expect(server.emitted).toEqual([])
  })

  it('ends while events flow', async () => {
    let allowed = true
    const server = await start({ authorize: () => allowed })
    const stream = await open(server, query)
    allowed = false
    expect(await endOf(server, stream)).toBe('ended')
  })

  it('ends when visible returns another filter, and the next stream uses that filter', async () => {
    let username = 'ann'
    const server = await start({ visible: () => ({ username_eq: username }) })
    const stream = await open(server, query)
    username = 'bob'
    expect(await stream.ended).toBe('ended')
    const next = await open(server, query)
    await server.record('ann')
    await server.record('bob')
    const [event] = await next.take(1)
    expect(event!.data).toContain('"bob"')
    next.leave()
  })

  it.each(['authorize', 'visible'] as const)(
    'is cut off when %s throws, and the host gets the error',
    async (name) => {
      const failure = new Error('the directory is down')
      let fails = false
      const answer = (): never => {
        if (fails) throw failure
        return { authorize: true, visible: 'all' }[name] as never
      }
      const server = await start({ [name]: answer })
      const stream = await open(server, query)
      fails = true
      expect(await stream.ended).toBe('cut off')
      expect(server.emitted).toEqual([failure])
    },
  )

  it('is cut off when visible returns a filter without a condition', async () => {
    let filter: unknown = 'all'
    const server = await start({ visible: () => filter as Visible })
    const stream = await open(server, query)
    filter = {}
    expect(await stream.ended).toBe('cut off')
    expect(server.emitted).toMatchObject([{ code: 'INVALID_VALUE', parameter: 'filter' }])
  })

  it('ends when the host does not answer before the next check', async () => {
    let asked = 0
    const server = await start({
      authorize: () => (asked++ === 0 ? true : new Promise<boolean>(() => {})),
    })
    const stream = await open(server, query)
    expect(await stream.ended).toBe('ended')
  })
})

it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 31, '60'])('recheckMs %o is refused', (value) => {
  const audit = new AuditLog({ store: memoryStore(), types: {} })
  expect(() => auditRoutes(audit, { recheckMs: value as number })).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/^recheckMs must be/),
    }),
  )
})
