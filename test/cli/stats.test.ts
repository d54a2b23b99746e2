import { AuditLog } from 'daybook'
import { auditRoutes, basicAuth, subscriptionRoutes } from 'daybook/koa'
import { manualClock } from 'daybook/testing'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eachStore, type EventPlace } from '../support/event-stores.js'
import { type Listening, listen } from '../support/node-server.js'
import { runCli } from './run-cli.js'
import type { LogFigures } from '../../adapters/cli/run/log-figures.js'

const types = { 'warn:disk:full': { data: [], throttle: { period: { minutes: 5 } } } }

/** A log with a suppressed call, a cleaning rule that has run, and a subscription. */
async function fill(place: EventPlace): Promise<AuditLog> {
  const clock = manualClock('2026-06-01T00:00:00Z')
  const audit = new AuditLog({
    store: place.open(clock),
    types,
    cleaning: { rules: [{ target: 'events', name: 'old', maxAge: { days: 30 } }] },
    subscriptions: { channels: { search: { deliver() {} } }, deliver: false },
  })
  await audit.record('warn:disk:full')
  await audit.record('warn:disk:full')
  await audit.record('warn:disk:full')
  clock.advance(6 * 60_000_000)
  await audit.record('warn:disk:full')
  await audit.recordCustom('note')
  await audit.subscriptions.create({ name: 'all', channel: 'search' })
  await audit.cleaning.run()
  return audit
}

describe.each(eachStore.filter(([name]) => name !== 'memory'))(
  'stats on %s',
  (_name, createPlace) => {
    let place: EventPlace
    let audit: AuditLog
    let server: Listening
    let log: string

    beforeAll(async () => {
      place = await createPlace()
      audit = await fill(place)
      const app = new Koa()
        .use(basicAuth({ users: { ann: 'ann', eve: 'eve' } }))
        .use(auditRoutes(audit))
        .use(
          subscriptionRoutes(audit, {
            authorize: ({ state }) => state['username'] === 'ann' && 'all',
          }),
        )
      server = await listen(app.callback())
      const { demo } = place
      log =
        demo.kind === 'sqlite'
          ? demo.filename
          : demo.kind === 'postgres'
            ? demo.connectionString
            : ''
    })
    afterAll(async () => {
      await server.close()
      await audit.close()
      await place.remove()
    })
    const feedOf = (user: string): string => server.url.replace('//', `//${user}:${user}@`)
    const figuresOf = async (target: string): Promise<LogFigures> => {
      const { stdout, stderr, exit } = await runCli(['stats', target, '--json'])
      expect([exit, stderr]).toEqual([0, ''])
      return JSON.parse(stdout) as LogFigures
    }

    it('prints the figures of the log', async () => {
      const figures = await figuresOf(log)
      const { events } = await audit.list('limit=1000')
      expect(figures.events).toEqual({
        total: events.length,
        levels: (await audit.count()).levels,
        exact: true,
        oldest: '2026-06-01T00:00:00.000000Z',
        newest: events.at(-1)!.created_at,
      })
      expect(figures.suppressed).toEqual({
        calls: 2,
        exact: true,
        types: [{ type: 'warn:disk:full', calls: 2 }],
      })
      expect(figures.disk?.size_bytes).toBeGreaterThan(0)
      expect(figures.cleaning).toMatchObject([
        { name: 'old', running: false, last_run: { removed_count: 0 }, next_run: null },
      ])
      expect(figures.subscriptions).toMatchObject([{ name: 'all', state: 'unowned', parked: 0 }])
    })

    it('prints the same over HTTP, except figures that a feed lacks', async () => {
      const inStore = await figuresOf(log)
      const unknown = { disk: null, index: null, cleaning: null }
      expect(await figuresOf(feedOf('ann'))).toEqual({ ...inStore, ...unknown, kind: 'http' })
      expect((await figuresOf(feedOf('eve'))).subscriptions).toBeNull()
    })

    it('prints a row for each figure', async () => {
      const { stdout } = await runCli(['stats', log])
      const rows = new Map(stdout.split('\n').map((row) => row.split('\t') as [string, string]))
      expect(rows.get('suppressed warn:disk:full')).toBe('2')
      expect(rows.get('cleaning old')).toMatch(/^last 2026-06-01T00:06:00\.\d+Z, 0 removed$/)
      expect(rows.get('subscription all')).toMatch(/^unowned, lag .+, 0 delivered, 0 parked$/)
      const overHttp = await runCli(['stats', feedOf('eve')], { terminal: { columns: 80 } })
      expect(overHttp.stdout).toContain('not known over HTTP')
    })
  },
)
