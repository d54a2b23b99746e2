import net from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { listRoute as koaRoute } from 'daybook/koa'
import { listRoute as nodeRoute } from 'daybook/node'
import Koa from 'koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { errorOf, listOf, send } from '../support/http.js'
import { serveOn } from './until-finished.js'

interface Item {
  readonly id: string
  readonly n: number
}

interface Options {
  readonly source: readonly Item[] | (() => AsyncIterable<Item>)
  readonly resource?: (item: Item) => object
  readonly queryTimeoutMs?: number
}

const attributes = { n: 'number' } as const
const itemOf = (n: number): Item => ({ id: String(n).padStart(8, '0'), n })

const listeners = {
  Koa: (options: Options) =>
    new Koa().use(koaRoute({ resource: 'item', attributes, ...options })).callback(),
  'node:http': (options: Options) => nodeRoute({ resource: 'item', attributes, ...options }),
} as const

/** An endless source, with counters of its use. */
function endless(next: () => Promise<unknown> = nextTurn) {
  let begin: () => void
  let end: () => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const ended = new Promise<void>((resolve) => (end = resolve))
  async function* source(): AsyncGenerator<Item> {
    begin()
    try {
      for (let n = 0; ; n++) {
        yield itemOf(n)
        await next()
      }
    } finally {
      end()
    }
  }
  return { source, begun, ended }
}

/** Serves the list until the test is over. */
const serve = (name: keyof typeof listeners, options: Options): Promise<string> =>
  serveOn(listeners[name](options))

describe.each(['Koa', 'node:http'] as const)('a list on %s', (name) => {
  it('ends when its client leaves', async () => {
    const { source, begun, ended } = endless()
    const { hostname, port } = new URL(await serve(name, { source }))
    const client = net.connect(Number(port), hostname).on('error', () => {})
    client.write(`GET /?filter[n_lt]=0 HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
    await begun
    client.destroy()
    await ended
  })

  it('ends at its time limit', async () => {
    const { source, ended } = endless()
    const url = await serve(name, { source, queryTimeoutMs: 20 })
    const { status, code } = errorOf(await send(url, '/?filter[n_lt]=0'))
    expect([status, code]).toEqual(['503', 'QUERY_TIMEOUT'])
    await ended
  })

  it('ends at its time limit while its source waits', async () => {
    let give = (): void => {}
    const { source, ended } = endless(
      () => new Promise((resolve) => (give = resolve as () => void)),
    )
    const url = await serve(name, { source, queryTimeoutMs: 20 })
    expect(errorOf(await send(url, '/')).code).toBe('QUERY_TIMEOUT')
    // The source is not read any further.
    give()
    await ended
  })

  it('lets the event loop turn while it is written', async () => {
    const items = Array.from({ length: 20_000 }, (_, n) => itemOf(n))
    let turn = 0
    const written = new Set<number>()
    const resource = ({ id }: Item): object => {
      written.add(turn)
      return { type: 'item', id }
    }
    const url = await serve(name, { source: items, resource, queryTimeoutMs: 60_000 })
    const counting = setInterval(() => (turn += 1), 0)
    onTestFinished(() => clearInterval(counting))
    const { data } = listOf(await send(url, '/'))
    expect(data.map(({ id }) => id)).toEqual(items.map(({ id }) => id))
    expect(written.size).toBeGreaterThan(1)
  })
})

it.each([0, -1, 1.5, Number.NaN, '10', null])('the time limit cannot be %j', (queryTimeoutMs) =>
  expect(() =>
    koaRoute({
      resource: 'item',
      attributes,
      source: [],
      queryTimeoutMs: queryTimeoutMs as number,
    }),
  ).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' })),
)
