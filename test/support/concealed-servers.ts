import { AuditLog, AuditLogs, type AuditEvent, type EventStore, type LogStores } from 'daybook'
import { CONCEALED, LINKS, type Probe, leakOf, PROBES, VISIBLE } from './concealed.js'
import { frameworks } from './frameworks.js'
import { send } from './http.js'
import { listen } from './node-server.js'

/** The endpoints of a log, or of several. */
export interface Served {
  readonly url: string
  /** The path of the endpoints. */
  readonly path: string
  close(): Promise<void>
}

export const HOSTS = Object.keys(frameworks)

/** Each of two logs conceals half of the names; requests for both lack all. */
const concealIn = (_context: object, log?: string): readonly string[] =>
  CONCEALED.filter((_, i) => log === undefined || (i % 2 === 0) === (log === 'a'))

export const RULES = { visible: () => VISIBLE, conceal: concealIn }

const users = { ann: 'ann' }

async function serveApp(
  host: string,
  log: AuditLog | AuditLogs,
  { rules, path }: { readonly rules: object; readonly path: string },
): Promise<Served> {
  const routes = log instanceof AuditLogs ? 'logRoutes' : 'auditRoutes'
  const app = frameworks[host]!({
    mounts: [
      ['basicAuth', { users }],
      [routes, log, rules],
    ],
  })
  const { url, close } = await listen(app)
  return {
    url,
    path,
    async close() {
      await close()
      await log.close()
    },
  }
}

/** A log with these events. */
export async function serveLog(
  host: string,
  store: EventStore,
  events: readonly AuditEvent[],
  rules: object = {},
): Promise<Served> {
  const audit: AuditLog = new AuditLog({ store, types: {}, links: LINKS })
  await audit.importEvents(events)
  return serveApp(host, audit, { rules, path: '/api/events' })
}

/** Two logs, each with half of the events. */
export async function serveLogs(
  host: string,
  stores: LogStores,
  events: readonly AuditEvent[],
  rules: object = {},
): Promise<Served> {
  const logs: AuditLogs = new AuditLogs({ stores, types: {}, links: LINKS })
  // By their ids, so that the same events are in the same log without the others.
  for (const [i, key] of ['a', 'b'].entries())
    await logs
      .log(key)
      .importEvents(events.filter(({ id }) => Math.floor(Number(id.slice(-6)) / 2) % 2 === i))
  return serveApp(host, logs, { rules, path: '/api/logs/a,b/events' })
}

const AT_A_TIME = 8

/** Sends the probes to both, and returns what they tell. */
export async function leaksOf(
  given: Served,
  model: Served,
  probes: readonly Probe[] = PROBES,
): Promise<readonly string[]> {
  const leaks: string[] = []
  const one = async (probe: Probe): Promise<void> => {
    const [answer, expected] = await Promise.all(
      [given, model].map(({ url, path }) => send(url, path + probe.path, probe.request)),
    )
    const leak = leakOf(probe, answer!, expected!)
    if (leak !== undefined) leaks.push(leak)
  }
  for (let at = 0; at < probes.length; at += AT_A_TIME)
    await Promise.all(probes.slice(at, at + AT_A_TIME).map(one))
  return leaks
}
