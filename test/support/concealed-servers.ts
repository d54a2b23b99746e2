import http from 'node:http'
import { AuditLog, AuditLogs, type AuditEvent, type EventStore, type LogStores } from 'daybook'
import {
  comparable,
  CONCEALED,
  differenceOf,
  END,
  excessesOf,
  isEnd,
  isInexact,
  LINKS,
  type Probe,
  PROBES,
  VISIBLE,
} from './concealed.js'
import { countedBytes } from './counted-bytes.js'
import { countExactly } from './exact-counts.js'
import { frameworks, userOf } from './frameworks.js'
import { basic, type RawResponse, send } from './http.js'
import { listen } from './node-server.js'
import { openStream } from './server-sent.js'

/** The endpoints of a log, or of several. */
export interface Served {
  readonly url: string
  /** The path of the endpoints. */
  readonly path: string
  /** The connections of the requests. */
  readonly agent: http.Agent
  close(): Promise<void>
}

export const HOSTS = Object.keys(frameworks)

/** A user who sees all attributes of the same events. */
const AUDITOR = 'bob'

/** Each of two logs conceals half of the names; requests for both lack all. */
const concealIn = (context: object, log?: string): readonly string[] =>
  userOf(context) === AUDITOR
    ? []
    : CONCEALED.filter((_, i) => log === undefined || (i % 2 === 0) === (log === 'a'))

export const RULES = { visible: () => VISIBLE, conceal: concealIn }
/** Rules that hide nothing. Answers say that the user is restricted. */
const MODEL_RULES = { visible: () => ({ type_present: '1' }) }

const OPTIONS = { types: {}, links: LINKS }

const recordEnd = (log: Pick<AuditLog, 'recordCustom'>): Promise<unknown> =>
  log.recordCustom(END.type, END.attributes, { username: 'ann' })

const users = { ann: 'ann', [AUDITOR]: AUDITOR }

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
  const agent = new http.Agent({ keepAlive: true })
  return {
    url,
    path,
    agent,
    async close() {
      agent.destroy()
      await close()
      await log.close()
    },
  }
}

export interface OpenedStore {
  readonly store: EventStore
  /** Waits until the index has the events. */
  readonly settled?: () => Promise<void>
}

/** A log with these events. */
export async function serveLog(
  host: string,
  { store, settled }: OpenedStore,
  events: readonly AuditEvent[],
  rules: object = MODEL_RULES,
): Promise<Served> {
  const audit: AuditLog = new AuditLog({ store, ...OPTIONS, random: countedBytes() })
  countExactly(audit)
  await audit.importEvents(events)
  await recordEnd(audit)
  await settled?.()
  return serveApp(host, audit, { rules, path: '/api/events' })
}

/** Two logs, each with half of the events. */
export async function serveLogs(
  host: string,
  stores: LogStores,
  events: readonly AuditEvent[],
  rules: object = MODEL_RULES,
): Promise<Served> {
  const logs: AuditLogs = new AuditLogs({ stores, ...OPTIONS, random: countedBytes() })
  // By their ids, so that the same events are in the same log without the others.
  for (const [i, key] of ['a', 'b'].entries()) {
    const log = logs.log(key)
    await log.importEvents(events.filter(({ id }) => (Number(id.slice(-6)) >> 1) % 2 === i))
    await recordEnd(log)
  }
  return serveApp(host, logs, { rules, path: '/api/logs/a,b/events' })
}

/** A stream that has not sent the last events by then never does. */
const MAX_STREAM_MS = 20_000

async function readStream({ url, path }: Served, probe: Probe): Promise<RawResponse> {
  const stream = await openStream(url + path + probe.path, probe.request?.headers)
  const { status, headers, sent } = stream
  if (status === 200) {
    const ends = path.includes(',') ? 2 : 1
    const isOver = (): boolean => sent.events.filter(({ data }) => isEnd(data)).length === ends
    const late = AbortSignal.timeout(MAX_STREAM_MS)
    late.addEventListener('abort', stream.leave)
    await stream.until(isOver).catch((error: Error) => sent.add(`data: ${error.message}\n\n`))
    late.removeEventListener('abort', stream.leave)
  }
  stream.leave()
  const body = sent.events
    .map(({ event, data, lastEventId }) => `${event} ${data} ${lastEventId}\n`)
    .join('')
  return { status, headers, rawHeaders: [], body, bytes: Buffer.from(body) }
}

const ask = (served: Served, probe: Probe): Promise<RawResponse> =>
  probe.isStream
    ? readStream(served, probe)
    : send(served.url, served.path + probe.path, { ...probe.request, agent: served.agent })

interface Answer {
  readonly response: RawResponse
  /** Compared with that of another log. */
  readonly text: string
}

async function answer(served: Served, probe: Probe): Promise<Answer> {
  const response = await ask(served, probe)
  return { response, text: comparable(probe, response) }
}

/** On a busy machine a count may end before it has read all events. */
const MAX_TRIES = 100

/** The first answer without lower bounds. `check` gets the answers before. */
async function exactAnswer(
  served: Served,
  probe: Probe,
  check: (response: RawResponse) => void = () => {},
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const found = await answer(served, probe)
    if (tries === MAX_TRIES || !isInexact(found.response)) return found
    check(found.response)
  }
}

/** Returns the answers of a log to probes, and asks for each once. */
export type Answers = (probe: Probe) => Promise<Answer>

export function answersOf(model: Served): Answers {
  const known = new Map<Probe, Promise<Answer>>()
  return (probe) => {
    const found = known.get(probe) ?? exactAnswer(model, probe)
    known.set(probe, found)
    return found
  }
}

/** Asks the same at the same time as a user who sees all attributes. Lists and streams share what equal requests read. */
async function askAsAuditor(
  given: Served,
  { path, request, isStream = false }: Probe,
): Promise<void> {
  if (!isStream && !/^(?:\?|\/search)/.test(path)) return
  const headers = { ...request?.headers, authorization: basic(AUDITOR) }
  await ask(given, { path, request: { ...request, headers }, isStream })
}

async function leakOf(given: Served, answers: Answers, probe: Probe): Promise<string | undefined> {
  if (probe.isRefused) {
    const { status, body } = await ask(given, probe)
    const isNamed = probe.request?.method === 'HEAD' || body.includes('UNKNOWN_ATTRIBUTE')
    const isRight = status === 400 && isNamed
    return isRight ? undefined : `${status} ${body.slice(0, 300)}`
  }
  const expected = await answers(probe)
  const excesses: string[] = []
  const other = askAsAuditor(given, probe)
  const { text } = await exactAnswer(given, probe, (response) => {
    excesses.push(...excessesOf(response, expected.response))
  })
  await other
  return excesses[0] ?? differenceOf(text, expected.text)
}

const AT_A_TIME = 8

/** Sends the probes, and returns those whose answers are not the ones of the model. */
export async function leaksOf(
  given: Served,
  answers: Answers,
  probes: readonly Probe[] = PROBES,
): Promise<readonly string[]> {
  const leaks: string[] = []
  const one = async (probe: Probe): Promise<void> => {
    const leak = await leakOf(given, answers, probe)
    const { path, request } = probe
    if (leak !== undefined) leaks.push(`${path} ${request ? JSON.stringify(request) : ''}: ${leak}`)
  }
  for (let at = 0; at < probes.length; at += AT_A_TIME)
    await Promise.all(probes.slice(at, at + AT_A_TIME).map(one))
  return leaks
}
