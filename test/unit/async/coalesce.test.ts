import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogs, type LogStores } from 'daybook'
import { memoryLogs } from 'daybook/memory'
import { expect, it, onTestFinished } from 'vitest'
import type { Visible } from '../../../src/filter/visible-filter.js'
import { eventsEndpoint } from '../../../src/http/events/endpoint.js'
import type { HttpRequest } from '../../../src/http/exchange.js'
import { logsEndpoint } from '../../../src/http/logs/endpoint.js'
import { coalescePerTurn } from '../../../src/async/coalesce.js'

const { signal } = new AbortController()

it('runs once for all calls of a turn with the same key, after the last one', async () => {
  const shared = coalescePerTurn<number>()
  let calls = 0
  const run = (): Promise<number> => Promise.resolve(calls)
  const ask = (key: string): Promise<number> => {
    calls++
    return shared(key, signal, run)
  }
  const first = [ask('a'), ask('b'), ask('a')]
  await Promise.resolve()
  first.push(ask('a'))
  expect(first[0]).toBe(first[2])
  expect(await Promise.all(first)).toEqual([4, 4, 4, 4])
  expect(await ask('a')).toBe(5)
})

it('starts another run for a call that comes during a run', async () => {
  const shared = coalescePerTurn<string>()
  const slow = shared('a', signal, async () => {
    await nextTurn()
    await nextTurn()
    return 'slow'
  })
  await nextTurn()
  const next = shared('a', signal, () => Promise.resolve('next'))
  expect(await Promise.all([slow, next])).toEqual(['slow', 'next'])
})

it('rejects all calls that share a failed run, but no later calls', async () => {
  const shared = coalescePerTurn<string>()
  const fail = (): Promise<string> => Promise.reject(new Error('no'))
  const asked = [shared('a', signal, fail), shared('a', signal, fail)]
  await expect(asked[0]).rejects.toThrow('no')
  await expect(asked[1]).rejects.toThrow('no')
  expect(await shared('a', signal, () => Promise.resolve('yes'))).toBe('yes')
})

it('aborts the run once the signals of all its calls have aborted', async () => {
  const shared = coalescePerTurn<string>()
  const clients = Array.from({ length: 3 }, () => new AbortController())
  let given: AbortSignal | undefined
  const run = (stop: AbortSignal): Promise<string> => {
    given = stop
    return new Promise((resolve) => {
      stop.addEventListener('abort', () => resolve('stopped'))
    })
  }
  const shares = clients.map((client) => shared('a', client.signal, run))
  clients[0]!.abort()
  await nextTurn()
  await nextTurn()
  clients[2]!.abort()
  expect(given!.aborted).toBe(false)
  clients[1]!.abort('gone')
  expect(given!.aborted).toBe(true)
  expect(given!.reason).toBe('gone')
  expect(await Promise.all(shares)).toEqual(['stopped', 'stopped', 'stopped'])
})

it('runs again for a call in the turn in which all other calls were aborted', async () => {
  const shared = coalescePerTurn<boolean>()
  const run = (stop: AbortSignal): Promise<boolean> => Promise.resolve(stop.aborted)
  const left = shared('a', AbortSignal.abort(), run)
  const stays = shared('a', signal, run)
  const joins = shared('a', signal, run)
  expect(await left).toBe(true)
  expect(await stays).toBe(false)
  expect(joins).toBe(stays)
})

/** The endpoints of the log `a`, and a function that returns the number of lists that its store was asked for. */
function served(kind: 'one log' | 'several logs') {
  const stores = memoryLogs()
  let reads = 0
  const open: LogStores['open'] = (key) => {
    const store = stores.open(key)
    return { ...store, list: (...given) => (reads++, store.list(...given)) }
  }
  const logs = new AuditLogs({ stores: { ...stores, open }, types: {} })
  const visible = (user: string): Visible => (user === 'root' ? 'all' : { username_eq: user })
  const endpoint =
    kind === 'one log'
      ? eventsEndpoint<string>(logs.log('a'), { path: '/events', visible })
      : logsEndpoint<string>(logs, { path: '', visible })
  return { logs, endpoint, reads: () => reads }
}

it.each(['one log', 'several logs'] as const)(
  'lists of %s in one turn share a read only if they see the same events',
  async (kind) => {
    const { logs, endpoint, reads } = served(kind)
    onTestFinished(() => logs.close())
    for (const username of ['ann', 'bob']) await logs.log('a').recordCustom('x', {}, { username })
    const ask = async (username: string, query = ''): Promise<unknown[]> => {
      const request: HttpRequest<string> = {
        method: 'GET',
        path: '/events',
        query: kind === 'one log' ? query : `logs[]=a&${query}`,
        username,
        context: username,
        signal: new AbortController().signal,
        header: () => '',
        body: () => Promise.reject(new Error('no body')),
      }
      const { body } = (await endpoint(request))!
      const { data } = JSON.parse(body as string) as {
        data: { attributes: { username: string } }[]
      }
      return data.map(({ attributes }) => attributes.username)
    }
    for (const user of ['ann', 'root', 'bob']) await ask(user)
    await ask('root', 'limit=1')
    const alone = reads()
    const users = ['ann', 'root', 'bob', 'ann', 'root', 'root']
    const answers = await Promise.all([...users.map((user) => ask(user)), ask('root', 'limit=1')])
    expect(answers).toEqual([
      ['ann'],
      ['ann', 'bob'],
      ['bob'],
      ['ann'],
      ['ann', 'bob'],
      ['ann', 'bob'],
      ['bob'],
    ])
    expect(reads() - alone).toBe(alone)
  },
)
