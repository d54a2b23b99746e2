import {
  type AuditEvent,
  AuditLog,
  type Channel,
  type JsonObject,
  type SubscriptionStatus,
} from 'daybook'
import {
  CONCEALED,
  differenceOf,
  EVENTS,
  HIDDEN,
  LINKS,
  NEAR,
  SECRET,
  VISIBLE,
} from '../../support/concealed.js'
import type { OpenedStore } from '../../support/concealed-servers.js'
import { frameworks } from '../../support/frameworks.js'
import { send } from '../../support/http.js'
import { listen } from '../../support/node-server.js'
import { type EventStream, openStream } from '../../support/server-sent.js'
import { until } from '../shared/process.js'

/*
 * Ways of reading that go on: streams of live events with their changes, lists that wait, and subscriptions. Their answers, by
 * the question, have to be the same for a log with `conceal` and for one whose events never had the attributes.
 */

const TYPES = {
  'own:live': { live: true },
  'own:change': {},
  'own:last': {},
} as const

const MAX_WAIT_MS = 60_000

/** Filters of subscriptions by name. */
const FILTERS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    '',
    ...[...NEAR, ...CONCEALED].flatMap((name) =>
      [`${name}_null]=1`, `${name}_cont]=${SECRET}`].map((end) => `filter[g][0][${end}`),
    ),
    `filter[g][0][*_cont]=${SECRET}`,
    `filter[g][0][*_not_cont]=${SECRET}`,
  ].map((filter, i) => [
    `s${i}`,
    filter && `${filter}&filter[g][1][type_eq]=own:last&filter[m]=or`,
  ]),
)

/** Attributes, and what is left of them. */
type State = readonly [attributes: JsonObject, shown: JsonObject]

const acme = { tenant_id: 'acme' }
const withAcme = (states: readonly State[]): readonly State[] =>
  states.map(([attributes, shown]) => [
    { ...acme, ...attributes },
    { ...acme, ...shown },
  ])

/** States of live events, one after the other. */
const LIVES: readonly (readonly State[])[] = [
  withAcme([
    [{ price: 1, n: 1 }, { n: 1 }],
    [{ price: 2, n: 1 }, { n: 1 }],
    [{ price: SECRET, n: 2 }, { n: 2 }],
  ]),
  withAcme([
    [{ remote: { address: SECRET, port: 1 } }, { remote: { port: 1 } }],
    [{ remote: { address: `${SECRET} 2`, port: 2 } }, { remote: { port: 2 } }],
    [{ remote: [{ address: SECRET }], remote_address: SECRET }, { remote: [{}] }],
  ]),
  withAcme([
    [{ backtrace: [SECRET] }, {}],
    [{ backtrace: [SECRET, SECRET], a: { b: { c: SECRET } } }, { a: { b: {} } }],
    [{ a: { b: { c: 1, d: SECRET.length } } }, { a: { b: { d: SECRET.length } } }],
  ]),
]
/** States of a resource. */
const CHANGES: readonly (readonly [before: State, after: State])[] = [
  [
    [{ salary: 1, name: 'm' }, { name: 'm' }],
    [{ salary: SECRET, name: 'n' }, { name: 'n' }],
  ],
  [
    [
      { name: 'm', remote: { address: 1 } },
      { name: 'm', remote: {} },
    ],
    [
      { name: 'n', remote: { address: SECRET } },
      { name: 'n', remote: {} },
    ],
  ],
]

/** Text in which ids and times are numbers in the order of their first places. */
function numbered(text: string): string {
  const known = new Map<string, number>()
  return text.replaceAll(/[\da-f]{8}(?:-[\da-f]{4,12}){4}|\d{4}-[\d-]+T[\d:.]+Z/g, (found) => {
    if (!known.has(found)) known.set(found, known.size)
    return `<${known.get(found)}>`
  })
}

export interface Reader {
  /** The log as the events are, or as the user sees them. */
  readonly shape: 'stored' | 'shown'
  readonly conceal: (() => readonly string[]) | undefined
}

export const READERS: Readonly<Record<'given' | 'model', Reader>> = {
  given: { shape: 'stored', conceal: () => CONCEALED },
  model: { shape: 'shown', conceal: undefined },
}

const of = ({ shape }: Reader, [attributes, shown]: State): JsonObject =>
  shape === 'stored' ? attributes : shown

/** Answers by the question. */
type Answers = Record<string, string>

type Audit = AuditLog<typeof TYPES>

const PATH = '/api/events'
const QUERIES = [
  '',
  'changes=true',
  'changes=true&filter[*_not_cont]=s3cr3t',
  'changes=true&q=acme',
]

/** Streams of live events, whose changes are recorded one by one, and a list that waits. */
async function followed(audit: Audit, url: string, reader: Reader): Promise<Answers> {
  const streams = await Promise.all(
    QUERIES.map((query) => openStream(`${url}${PATH}/stream?${query}`)),
  )
  const waiting = send(url, `${PATH}?filter[remote_null]=1&filter[type_eq]=own:live`, {
    headers: { prefer: 'wait=30' },
  })
  const [plain, ...changes] = streams
  const sent = async (text: string, some: readonly EventStream[], times = 1): Promise<void> => {
    for (const one of some)
      await one.until(
        ({ events }) => events.filter(({ data }) => data.includes(text)).length >= times,
      )
  }
  for (const [life, states] of LIVES.entries()) {
    const [first, ...others] = states
    const event = await audit.recordLive('own:live', {
      ...of(reader, first!),
      step: `step ${life} 0`,
    })
    await sent(`step ${life} 0`, [plain!, ...changes])
    await waiting
    // A step is part of each state, so that each state is one change for every user.
    for (const [n, state] of others.entries()) {
      await event.update({ ...of(reader, state), step: `step ${life} ${n + 1}` })
      await sent(`step ${life} ${n + 1}`, changes)
    }
    await event.close()
    await sent('"closed":true', changes, life + 1)
    if (reader.shape === 'stored') await hiddenLife(audit)
  }
  await audit.record('own:last', { ...acme, last: 'live' })
  await sent('"last":"live"', streams)
  const answers: Answers = { waiting: (await waiting).body }
  for (const [i, { sent: all, leave }] of streams.entries()) {
    answers[`stream?${QUERIES[i]}`] = JSON.stringify(
      all.events.map(({ event, data }) => [event, data]),
    )
    leave()
  }
  return answers
}

async function hiddenLife(audit: Audit): Promise<void> {
  const event = await audit.recordLive('own:live', { tenant_id: 'umbrella', note: HIDDEN })
  await event.update({ tenant_id: ['umbrella', 'acme'], note: HIDDEN })
  await event.close()
}

/** What the subscriptions of a user deliver. */
async function delivered(
  audit: Audit,
  events: ReadonlyMap<string, readonly AuditEvent[]>,
  reader: Reader,
): Promise<Answers> {
  for (const [name, filter] of Object.entries(FILTERS))
    await audit.subscriptions.create({
      name,
      filter,
      channel: 'out',
      owner: 'ann',
      from: 'beginning',
    })
  for (const [before, after] of CHANGES)
    await audit.recordChange('own:change', of(reader, before), of(reader, after), { data: acme })
  await audit.record('own:last', { ...acme, last: true })
  const isOver = ({ name, state }: SubscriptionStatus): boolean =>
    state === 'broken' || events.get(name)?.at(-1)?.type === 'own:last'
  await until('all subscriptions have the last event', MAX_WAIT_MS, async () =>
    (await audit.subscriptions.status()).every(isOver),
  )
  const states = await audit.subscriptions.status()
  return Object.fromEntries(
    states.map(({ name, state }) => [
      `subscription ${FILTERS[name]}`,
      state === 'broken' ? state : JSON.stringify(events.get(name)),
    ]),
  )
}

/** What a user gets, by the way of reading. */
export async function transcriptOf(
  host: string,
  { store, settled }: OpenedStore,
  reader: Reader,
): Promise<Answers> {
  const { shape, conceal } = reader
  const rules = { visible: () => VISIBLE, ...(conceal && { conceal }) }
  const events = new Map<string, AuditEvent[]>()
  const out: Channel = {
    deliver(some, { subscription: { name } }) {
      events.set(name, [...(events.get(name) ?? []), ...some])
    },
  }
  const subscriptions = { ...rules, channels: { out } }
  const audit: Audit = new AuditLog({ store, types: TYPES, links: LINKS, subscriptions })
  await audit.importEvents(EVENTS[shape])
  await settled?.()
  const { url, close } = await listen(
    frameworks[host]!({
      mounts: [
        ['basicAuth', { users: { ann: 'ann' } }],
        ['auditRoutes', audit, rules],
      ],
    }),
  )
  const answers = {
    ...(await delivered(audit, events, reader)),
    ...(await followed(audit, url, reader)),
  }
  await close()
  await audit.close()
  return Object.fromEntries(Object.entries(answers).map(([key, text]) => [key, numbered(text)]))
}

/** The questions whose answers are not those of the model. A subscription that names a concealed attribute has to be broken. */
export function differences(given: Answers, model: Answers): readonly string[] {
  return Object.entries(model).flatMap(([question, expected]) => {
    const name = /\[g]\[0]\[(\w+)_(?:null|cont)]/.exec(question)?.[1]
    const right = CONCEALED.includes(name ?? '') ? 'broken' : expected
    const difference = differenceOf(given[question] ?? '', right)
    return difference === undefined ? [] : [`${question}: ${difference}`]
  })
}
