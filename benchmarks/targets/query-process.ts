import { createHash } from 'node:crypto'
import { AuditLog } from 'daybook'
import { type Asked, type Page, pageOf, type Step } from '../harness/query-target.js'
import { type Ask, isOwn, toQuery, toWhere } from '../harness/query.js'
import { type Matcher, openMatcher, openMemory } from './matchers.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { openPlainTable } from './jsonb-table.js'
import { idealIndex, openRaw, SQLITE } from './raw-sqlite.js'

/*
 * Somebody who is asked questions about a log, in a process of its own: `query-trial.ts <JSON of a
 * Setup>`. To each Job it gives an Answer.
 */

export type Setup =
  | { readonly side: 'daybook'; readonly store: StoreSetup }
  /** SQL written by hand. */
  | { readonly side: 'raw'; readonly filename: string }
  | { readonly side: 'plain'; readonly url: string }
  /** So many events in memory, made by the process. */
  | { readonly side: 'memory'; readonly events: number }
  | { readonly side: 'matcher'; readonly name: Matcher; readonly events: number }

export interface Job {
  readonly asks: readonly Ask[]
  /** Asked before, unmeasured, as far as half the time allows. */
  readonly warmUp: readonly Ask[]
  /** The attribute by whose index SQL written by hand answers; without one it scans. */
  readonly ideal?: readonly string[] | undefined
  /** After so many seconds no further question is asked. */
  readonly mostSeconds: number
  /** Adds how the first question was answered. */
  readonly explained?: boolean
}

export interface Answer {
  /** Of each question that was asked: events with their attributes read, in memory. */
  readonly milliseconds: readonly number[]
  /** What each was answered with. */
  readonly found: readonly Found[]
  readonly steps?: readonly Step[] | undefined
}

export interface Found {
  readonly events: number
  /** The same for the same events in the same order. */
  readonly digest: string
}

type Explaining = { explain?(query: string): Promise<{ readonly steps: readonly Step[] }> }

const openAudit = (place: StoreSetup): AuditLog =>
  new AuditLog({ store: openStore(place), types: {} })

function askedOf(audit: AuditLog): Asked {
  const explain = (audit as Explaining).explain?.bind(audit)
  return {
    prepare(ask) {
      const query = toQuery(ask)
      return async () => {
        const { events, truncated } = await audit.list(query)
        return { ids: events.map(({ attributes }) => attributes['change_id']), truncated }
      }
    },
    ...(explain && { explain: async (ask) => (await explain(toQuery(ask))).steps }),
    close: () => audit.close(),
  }
}

type RawRow = { readonly type: string; readonly username: string; readonly j: string }

const parse = (json: string): Record<string, unknown> => JSON.parse(json) as Record<string, unknown>

function openRawFile(filename: string): Asked {
  const database = openRaw(filename)
  return {
    prepare(ask, ideal) {
      const { condition, order, values } = toWhere(ask, SQLITE)
      const isByTime = ideal && isOwn(ideal) && ideal[0] === 'created_at'
      const by = ideal && !isByTime ? `INDEXED BY ${idealIndex(ideal)}` : 'NOT INDEXED'
      const statement = database.prepare(
        `SELECT created_at, type, username, j FROM raw ${by}
         WHERE ${condition} ORDER BY ${order} LIMIT ${ask.limit + 1}`,
      )
      return () => pageOf(statement.all(...values) as RawRow[], ask, ({ j }) => parse(j))
    },
    close: () => void database.close(),
  }
}

function open(setup: Setup): Asked | Promise<Asked> {
  switch (setup.side) {
    case 'daybook':
      return askedOf(openAudit(setup.store))
    case 'raw':
      return openRawFile(setup.filename)
    case 'plain':
      return openPlainTable(setup.url)
    case 'memory':
      return openMemory(setup.events).then(askedOf)
    case 'matcher':
      return openMatcher(setup.name, setup.events)
  }
}

const asked = await open(JSON.parse(process.argv[2] ?? '') as Setup)

const foundOf = ({ ids, truncated }: Page): Found => ({
  events: ids.length,
  digest: createHash('sha1')
    .update(JSON.stringify([ids, truncated]))
    .digest('base64'),
})

async function answer({ asks, warmUp, ideal, mostSeconds, explained }: Job): Promise<Answer> {
  const warm = performance.now() + (mostSeconds * 1000) / 2
  for (const ask of warmUp) {
    await asked.prepare(ask, ideal)()
    if (performance.now() >= warm) break
  }
  const milliseconds: number[] = []
  const found: Found[] = []
  const end = performance.now() + mostSeconds * 1000
  for (const ask of asks) {
    const run = asked.prepare(ask, ideal)
    const start = performance.now()
    const page = await run()
    milliseconds.push(performance.now() - start)
    found.push(foundOf(page))
    if (performance.now() >= end) break
  }
  const steps = explained ? await asked.explain?.(asks[0]!) : undefined
  return { milliseconds, found, steps }
}

process.on('disconnect', () => void asked.close())
process.on('message', (job: Job) => void answer(job).then((found) => process.send!(found)))
process.send!('ready')
