import { AuditLog } from 'daybook'
import { auditRoutes, basicAuth, subscriptionRoutes } from 'daybook/koa'
import { sqliteStore } from 'daybook/sqlite'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parkEvents } from '../http/managing.js'
import { type Listening, listen } from '../support/node-server.js'
import { tempDir } from '../support/temp.js'
import { type CliResult, runCli } from './run-cli.js'
import service, { accepted, config } from './workflow-config.js'

/** A service with two subscriptions, one of them with two parked events. Nothing is delivered in the background. */
interface Service {
  readonly audit: AuditLog
  readonly log: string
  readonly feed: string
  readonly good: string
  readonly poison: string
}

async function serveSubscriptions(log: string): Promise<Service & Listening> {
  const audit = new AuditLog({
    ...service,
    store: sqliteStore({ filename: log }),
    subscriptions: { ...service.subscriptions, deliver: false },
  })
  const good = (await audit.recordCustom('note', { poison: false }))!.id
  const poison = (await audit.recordCustom('note', { poison: true }))!.id
  const { id } = await audit.subscriptions.create({ name: 'search-errors', channel: 'search' })
  await audit.subscriptions.create({ name: 'mail', channel: 'search', paused: true, owner: 'bob' })
  await parkEvents(audit.store, id, { event_id: good }, { event_id: poison, error: 'not\tnow' })
  const app = new Koa()
    .use(basicAuth({ users: { ann: 'ann' } }))
    .use(auditRoutes(audit))
    .use(subscriptionRoutes(audit, { authorize: () => 'all' }))
  const listening = await listen(app.callback())
  const feed = listening.url.replace('//', '//ann:ann@')
  return { audit, log, feed, good, poison, ...listening }
}

describe('daybook subscriptions', () => {
  const temp = tempDir()
  let server: Service & Listening

  beforeAll(async () => {
    server = await serveSubscriptions(temp.file('audit.db'))
  })
  afterAll(async () => {
    await server.close()
    await server.audit.close()
    temp.remove()
  })
  const run = (action: string, ...args: readonly string[]): Promise<CliResult> =>
    runCli(['subscriptions', action, server.log, ...args])
  const both = async (action: string, ...args: readonly string[]): Promise<CliResult> => {
    const inStore = await run(action, ...args)
    expect(await runCli(['subscriptions', action, server.feed, ...args])).toEqual(inStore)
    return inStore
  }

  it('list and parked print the same from the store and from its feed', async () => {
    const { stdout } = await both('list')
    const rows = stdout.split('\n').map((row) => row.split('\t'))
    expect(rows.map((row) => [row[0], row[2], row[4], row[5]])).toEqual([
      ['mail', 'paused', '0', '0'],
      ['search-errors', 'unowned', '0', '2'],
      ['', undefined, undefined, undefined],
    ])
    const json = await both('list', '--json')
    expect(JSON.parse(json.stdout.split('\n')[0]!)).toMatchObject({ owner: 'bob', parked: 0 })
    const { stdout: parked } = await both('parked', 'search-errors')
    expect(parked.split('\n').map((row) => row.split('\t').at(-1))).toEqual(['no', 'not now', ''])
    await both('parked', 'search-errors', '--limit', '1', '--json')
  })

  it('pause, resume and replay change the subscription and print it, in the store and over the feed', async () => {
    const state = ({ stdout }: CliResult): unknown => stdout.split('\t')[2]
    expect(state(await run('pause', 'search-errors', '--by', 'ann'))).toBe('paused')
    const resumed = await runCli(['subscriptions', 'resume', server.feed, 'search-errors'])
    expect(state(resumed)).toBe('unowned')
    const replayed = await run('replay', 'search-errors', '--from', 'beginning')
    expect([replayed.exit, replayed.stderr]).toEqual([0, ''])
    const changes = await server.audit.list('filter[type_start]=api:subscriptions:&limit=2')
    expect(changes.events.map(({ type, username }) => [type, username])).toEqual([
      ['api:subscriptions:resume', 'ann'],
      ['api:subscriptions:replay', null],
    ])
  })

  it('test and redrive deliver with the channels of --config, or by the service', async () => {
    expect((await run('redrive', 'search-errors', '--all')).exit).toBe(2)
    const without = await run('test', 'search-errors')
    expect([without.exit, without.stderr.includes('--config')]).toEqual([2, true])
    accepted.length = 0
    const tested = await run('test', 'search-errors', '--config', config)
    expect([tested.exit, tested.stdout]).toEqual([
      0,
      expect.stringMatching(/^accepted in \d+ ms\n$/),
    ])
    expect(accepted.map(({ type }) => type)).toEqual(['daybook:test'])
    const overHttp = await runCli(['subscriptions', 'test', server.feed, 'search-errors', '--json'])
    expect(JSON.parse(overHttp.stdout)).toMatchObject({ accepted: true })

    const redriven = await run('redrive', 'search-errors', '--all', '--config', config)
    expect([redriven.exit, redriven.stdout]).toEqual([
      1,
      '1 delivered, 1 refused again, 0 missed\n',
    ])
    expect(accepted.at(-1)?.id).toBe(server.good)
    const again = ['subscriptions', 'redrive', server.feed, 'search-errors', server.poison]
    expect((await runCli(again)).stdout).toBe('0 delivered, 1 refused again, 0 missed\n')
  })

  it('discard removes nothing without --yes', async () => {
    const preview = await run('discard', 'search-errors', '--all')
    expect(preview.stdout).toBe('1 would be discarded; --yes discards them\n')
    expect((await run('parked', 'search-errors')).stdout).toContain(server.poison)
    const done = await run('discard', 'search-errors', server.poison, '--yes')
    expect(done.stdout).toBe('1 discarded\n')
    expect((await run('parked', 'search-errors')).stdout).toBe('')
  })

  it('names the nearest subscription for a wrong name', async () => {
    const { exit, stderr } = await both('pause', 'serch-errors')
    expect([exit, stderr]).toEqual([
      2,
      'error: there is no subscription serch-errors; did you mean search-errors?\n',
    ])
  })

  it('aligns the columns on a terminal', async () => {
    const { stdout } = await runCli(['subscriptions', 'list', server.log], {
      terminal: { columns: 100 },
      env: { NO_COLOR: '1' },
    })
    const [heading = '', ...rows] = stdout.trimEnd().split('\n')
    expect(heading.startsWith('NAME           CHANNEL  STATE ')).toBe(true)
    for (const row of rows) expect(row.indexOf('search ')).toBe(heading.indexOf('CHANNEL'))
  })
})

it('names the missing command, and the nearest one', async () => {
  const { exit, stderr } = await runCli(['subscriptions'])
  expect([exit, stderr]).toEqual([2, 'error: a command is missing; --help lists the commands\n'])
  expect((await runCli(['subscriptions', 'lst', 'audit.db'])).stderr).toContain('mean list?')
})
