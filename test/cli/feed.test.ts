import { auditPage, auditRoutes, basicAuth } from 'daybook/koa'
import { sqliteStore } from 'daybook/sqlite'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve, type TestServer } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { tempDir } from '../support/temp.js'
import { type CliResult, runCli } from './run-cli.js'

const temp = tempDir()
const file = temp.file('audit.db')
const ann = { DAYBOOK_USER: 'ann', DAYBOOK_PASSWORD: 'ann' }
let server: TestServer

beforeAll(async () => {
  server = await serve({ store: sqliteStore({ filename: file }), record: false })
  const { audit } = server
  await audit.record('api:projects:create', { name: 'shop' }, { username: 'ann' })
  await audit.recordCustom('note')
})
afterAll(async () => {
  await server.close()
  temp.remove()
})

const onFeed = (
  args: readonly string[],
  {
    env = ann,
    at = '/api/events',
  }: { readonly env?: NodeJS.ProcessEnv; readonly at?: string } = {},
): Promise<CliResult> => runCli([args[0]!, server.url + at, ...args.slice(1)], { env })

describe('a feed as the log of a command', () => {
  it('is found from the address of a host', async () => {
    const atRoot = await onFeed(['list'], { at: '/' })
    expect(atRoot.exit).toBe(0)
    expect(atRoot.stdout.split('\n')).toHaveLength(3)
  })

  it('is found from the address of a page, and the query of the address restricts every command', async () => {
    const { audit } = server
    const app = new Koa()
      .use(basicAuth({ users: { ann: 'ann' } }))
      .use(auditRoutes(audit, { path: '/shop/log' }))
      .use(auditPage(audit, { path: '/shop/audit', api: '/shop/log' }))
    const { url, close } = await listen(app.callback())
    const page = (query: string): string => `${url}/shop/audit?${query}`
    const onPage = async (command: string, ...args: readonly string[]): Promise<string> => {
      const { exit, stdout, stderr } = await runCli([command, ...args], { env: ann })
      expect([exit, stderr]).toEqual([0, ''])
      return stdout
    }
    const address = page('range=24h&filter[type_eq]=note&columns=n')
    expect(await onPage('list', address, '--fields', 'type')).toBe('note\n')
    expect(await onPage('count', address)).toBe('1\n')
    expect(await onPage('count', address, '-f', 'username_eq=ann')).toBe('0\n')
    expect(await onPage('count', `${url}/shop/log`, address)).toBe('1\n')
    const calendar = await runCli(['list', page('range=yesterday')], { env: ann })
    expect([calendar.exit, calendar.stderr]).toEqual([2, expect.stringContaining('created_at')])
    await close()
  })

  it('takes queries that are too long for a URL', async () => {
    const filter = ['-f', `name_in=${'x'.repeat(20_000)}`, '-f', 'name_in=shop']
    expect((await onFeed(['list', ...filter, '--fields', 'name'])).stdout).toBe('shop\n')
    expect((await onFeed(['count', ...filter])).stdout).toBe('1\n')
  })

  it('needs the right to list only', async () => {
    const app = new Koa()
      .use(basicAuth({ users: { ann: 'ann' } }))
      .use(auditRoutes(server.audit, { authorize: (_ctx, action) => action === 'list' }))
    const { url, close } = await listen(app.callback())
    const listed = await runCli(['list', `${url}/api/events`, '-f', 'nme_eq=shop'], { env: ann })
    expect(listed).toEqual({
      exit: 0,
      stdout: '',
      stderr: 'no event has the attribute "nme"\n',
    })
    expect((await runCli(['list', url], { env: ann })).stdout.split('\n')).toHaveLength(3)
    const { id } = (await server.audit.list('filter[type_eq]=note')).events[0]!
    const got = await runCli(['get', url, id], { env: ann })
    expect([got.exit, JSON.parse(got.stdout)]).toMatchObject([0, { id, type: 'note' }])
    const none = await runCli(['get', url, id.replaceAll(/\d/g, '0')], { env: ann })
    expect(none.exit).toBe(1)
    const tail = ['tail', url, '--since', '1h', '--fields', 'type']
    const tailed = await runCli(tail, { env: ann, interruptAfter: 2 })
    expect(tailed).toEqual({ exit: 130, stdout: 'api:projects:create\nnote\n', stderr: '' })
    const counted = await runCli(['count', url], { env: ann })
    expect([counted.exit, counted.stderr.includes('not allowed the action count')]).toEqual([
      4,
      true,
    ])
    await close()
  })

  it('needs a user, and explains how to set one', async () => {
    const none = await onFeed(['list'], { env: {} })
    expect(none.exit).toBe(4)
    expect(none.stderr).toContain('DAYBOOK_USER')
    const wrong = await onFeed(['list'], { env: { ...ann, DAYBOOK_PASSWORD: 'wrong' } })
    expect([wrong.exit, wrong.stdout]).toEqual([4, ''])
    const forbidding = await listen((_, response) => response.writeHead(403).end())
    const forbidden = await runCli(['list', forbidding.url], { env: ann })
    expect([forbidden.exit, forbidden.stdout]).toEqual([4, ''])
    expect(forbidden.stderr).toMatch(/^error: [^\n]+\n$/)
    await forbidding.close()
    const inUrl = server.url.replace('//', '//ann:ann@')
    expect((await runCli(['list', inUrl])).exit).toBe(0)
  })

  it('ends if stdin ends before the user is given', async () => {
    const terminal = { columns: 80 }
    const none = await runCli(['list', server.url], { terminal })
    expect([none.exit, none.stdout]).toEqual([4, ''])
    const half = await runCli(['list', server.url], { terminal, stdin: 'ann\n' })
    expect([half.exit, half.stdout]).toEqual([4, ''])
  })

  it('ends with 3 if nothing listens, and if the server has no feed', async () => {
    const html = await listen((_, response) => {
      response.setHeader('content-type', 'text/html').end('<html><title>Shop</title></html>')
    })
    const noFeed = await runCli(['list', `${html.url}/events`])
    expect([noFeed.exit, noFeed.stderr]).toEqual([
      3,
      `error: there is no audit feed at ${html.url}/events, and none at ${html.url}/api/events\n`,
    ])
    await html.close()
    const closed = await listen(() => {})
    await closed.close()
    const away = await runCli(['list', closed.url])
    expect([away.exit, away.stderr]).toEqual([
      3,
      `error: ${new URL(closed.url).host} is out of reach: the connection was refused\n`,
    ])
  })

  it('refuses the option that only a store can follow', async () => {
    const { exit, stderr } = await runCli(['export', server.url, '--service', 'shop'], { env: ann })
    expect([exit, stderr]).toEqual([
      2,
      'error: --service: the service of a feed gives its own name\n',
    ])
  })

  it('sends credentials to no other origin', async () => {
    const seen: unknown[] = []
    const other = await listen(({ headers }, response) => {
      seen.push(headers.authorization)
      response.end()
    })
    const first = await listen((_, response) => {
      response.writeHead(302, { location: `${other.url}/api/events` }).end()
    })
    const { exit, stderr } = await runCli(['list', `${first.url}/api/events`], { env: ann })
    expect([exit, seen]).toEqual([2, []])
    expect(stderr).toContain(other.url)
    await first.close()
    await other.close()
  })

  it('passes on the errors of the server', async () => {
    const busy = await listen((_, response) => {
      response.writeHead(503, { 'content-type': 'application/vnd.api+json' })
      response.end(
        JSON.stringify({
          errors: [{ status: '503', code: 'STORE_FAILED', title: 'the store failed' }],
        }),
      )
    })
    const { exit, stderr } = await runCli(['list', `${busy.url}/api/events`], { env: ann })
    expect([exit, stderr]).toEqual([3, `error: ${new URL(busy.url).host}: the store failed\n`])
    await busy.close()
  })
})
