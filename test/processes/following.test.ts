import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent } from 'daybook'
import { describe, expect, it } from 'vitest'
import { type Child, linesOf, runScript } from '../support/child.js'
import { SOAK_SECONDS, soakTimeout } from '../support/soak.js'
import { onPostgres, onSqlite, type StoredPlace } from './stored-place.js'

/*
 * Several processes write, are killed and roll back, while readers follow by the interface's recipe.
 */
const SECONDS = Math.max(2, SOAK_SECONDS)
const READERS = 3
const WRITERS = 4

const nameOf = (event: AuditEvent): string => JSON.stringify(event.attributes['event'])

const isOwn = { type_eq: 'test:following' }

/** Type of the last event. It follows all committed events of writers. */
const LAST = 'last'

interface Reader {
  readonly seen: string[]
  step(): Promise<unknown>
}

/** Polls for events after the last received event. */
function poller(audit: AuditLog): Reader {
  const seen: string[] = []
  let after = '1970-01-01'
  return {
    seen,
    async step() {
      const { events } = await audit.list({
        filter: { ...isOwn, created_at_gt: after, sorts: 'created_at' },
        limit: 1 + Math.floor(Math.random() * 200),
      })
      seen.push(...events.map(nameOf))
      after = events.at(-1)?.created_at ?? after
    },
  }
}

/** Reads the newest page, and pages back to the events that it has read before. */
function pager(audit: AuditLog): Reader {
  const seen: string[] = []
  let newest = '1970-01-01'
  return {
    seen,
    async step() {
      const met: AuditEvent[] = []
      for (let before = '9999-12-31'; ; before = met[0]!.created_at) {
        const page = await audit.list({
          filter: { ...isOwn, created_at_lt: before, created_at_gt: newest },
          limit: 1 + Math.floor(Math.random() * 200),
        })
        met.unshift(...page.events)
        if (!page.truncated) break
      }
      seen.push(...met.map(nameOf))
      newest = met.at(-1)?.created_at ?? newest
    },
  }
}

const printed = (children: readonly Child[], word: string): string[] =>
  children.flatMap((child) => linesOf(child, `${word} `))

async function follow({ location, openStore }: StoredPlace): Promise<void> {
  const children: Child[] = []
  const end = performance.now() + SECONDS * 1000
  const isOver = (): boolean =>
    performance.now() >= end &&
    printed(children, 'kept').length > 100 &&
    printed(children, 'undone').length > 0
  /** Keeps one writer running; some are killed while they write. */
  const keepWriting = async (number: number): Promise<void> => {
    for (let life = 0; !isOver(); life++) {
      const isKilled = life === 0 ? number % 2 === 0 : Math.random() < 1 / 2
      const left = Math.max(500, end - performance.now())
      const child = runScript('test/processes/following-child.ts', [
        location,
        `writer${number}.${life}`,
        String(left),
      ])
      children.push(child)
      await child.saw('ready')
      if (isKilled) {
        await delay(Math.min(left, 300 + Math.random() * 1500))
        await child.kill()
      } else expect(await child.ended, child.stderr()).toBe(0)
    }
  }

  const logs = Array.from(
    { length: READERS },
    (): AuditLog => new AuditLog({ store: openStore(), types: {} }),
  )
  const readers = logs.flatMap((audit) => [poller(audit), pager(audit)])
  const last = JSON.stringify(LAST)
  const tailed: string[] = []
  const stop = new AbortController()
  const tailing = (async () => {
    for await (const event of logs[0]!.tail(
      { filter: isOwn },
      { after: '1970-01-01', signal: stop.signal },
    ))
      if (tailed.push(nameOf(event)) && tailed.at(-1) === last) break
  })()
  tailing.catch(() => {})

  const reading = readers.map(async (reader) => {
    while (!reader.seen.includes(last) && !stop.signal.aborted) {
      await reader.step()
      await delay(Math.random() * 30)
    }
    // Transactions of killed processes may be committed later.
    return reader.seen.slice(0, reader.seen.indexOf(last))
  })
  try {
    await Promise.all(Array.from({ length: WRITERS }, (_, i) => keepWriting(i)))
    await logs[0]!.recordCustom('test:following', { event: LAST })
    const read = await Promise.all(reading)
    await tailing

    const kept = printed(children, 'kept')
    const undone = new Set(printed(children, 'undone'))
    expect(kept.length).toBeGreaterThan(100)
    expect(undone.size).toBeGreaterThan(0)
    const [first, ...others] = [tailed.slice(0, -1), ...read]
    for (const other of others) expect(other).toEqual(first)
    const seen = new Set(first)
    expect(first.length, 'seen more than once').toBe(seen.size)
    expect(kept.filter((name) => !seen.has(name))).toEqual([])
    expect(first.filter((name) => undone.has(name))).toEqual([])
    if (SOAK_SECONDS > 0)
      console.log(
        `${children.length} processes, ${kept.length} events acknowledged, ${seen.size} seen by ${others.length + 1} readers, ${undone.size} rolled back`,
      )
  } finally {
    stop.abort()
    for (const child of children) await child.kill()
    for (const audit of logs) await audit.close()
  }
}

describe(
  'every acknowledged event is seen once by every reader',
  { timeout: soakTimeout(180_000) },
  () => {
    it('on Postgres', () => onPostgres(follow))
    it('on one SQLite file', () => onSqlite(follow))
  },
)
