import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import fc from 'fast-check'
import { ask, untilRow } from '../support/own-server.js'
import { type OwnServer, startOwnPostgres } from '../support/postgres.js'
import type { Campaign } from './run.js'
import { runRounds } from './shared/rounds.js'

/*
 * A synchronous standby stops confirming while calls record, and the deadline of some calls passes. Then the primary
 * is killed, and the standby is promoted. Each round compares the calls, two followers and the log of the promoted
 * server. No acknowledged event may be lost, doubled or missed by a follower. An event whose call was rejected, other
 * than with OUTCOME_UNKNOWN, may only be there if the log was closed before it reached the promoted server, and has
 * warned of this. The promoted server is the primary of the next round.
 */

const LANES = 6
const DEADLINE_MS = 700
const MAX_PAUSE_MS = 20

export interface StandbyRound {
  /** The way in which the standby stops confirming. */
  readonly stop: 'suspended' | 'crashed' | 'slow'
  /** Milliseconds of load before that, and from then until the primary is killed. */
  readonly before: number
  readonly without: number
  /** True if processes know both servers, false if they know only the primary. */
  readonly knowsBoth: boolean
}

export const standbyRounds: fc.Arbitrary<StandbyRound> = fc.record({
  stop: fc.constantFrom('suspended', 'crashed', 'slow'),
  before: fc.integer({ min: 50, max: 300 }),
  // Less and more than the deadline.
  without: fc.integer({ min: 100, max: 1600 }),
  knowsBoth: fc.boolean(),
})

export interface StandbyFigures {
  acknowledged: number
  unknown: number
  /** Number of stored events with an unknown outcome. */
  unknownAndKept: number
  rejected: number
  /**
   * Number of stored events whose log was closed before it reached the promoted server, and has warned that they may
   * be stored.
   */
  rejectedAndKept: number
  /** Number of unacknowledged events that a follower got, but the promoted server lacks. */
  followedAndLost: number
}

export const noStandbyFigures = (): StandbyFigures => ({
  acknowledged: 0,
  unknown: 0,
  unknownAndKept: 0,
  rejected: 0,
  rejectedAndKept: 0,
  followedAndLost: 0,
})

/** Records in several lanes until it is ended. */
function load(audit: AuditLog) {
  const outcomes = new Map<string, string>()
  let isOver = false
  const lane = async (number: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const key = `${number}:${n}`
      const outcome = await audit.recordCustom('own', { key }).then(
        () => 'acknowledged',
        (error: { code: string }) => error.code,
      )
      outcomes.set(key, outcome)
      await delay(Math.random() * MAX_PAUSE_MS)
    }
  }
  const lanes = Array.from({ length: LANES }, (_, number) => lane(number))
  return {
    outcomes,
    async end() {
      isOver = true
      await Promise.all(lanes)
    },
  }
}

function follow(audit: AuditLog, query: string) {
  const keys: unknown[] = []
  const leaving = new AbortController()
  const { signal } = leaving
  const reading = (async () => {
    for await (const { type, attributes } of audit.tail(query, { after: '2000-01-01', signal }))
      if (type === 'own') keys.push(attributes['key'])
  })()
  return {
    keys,
    async end() {
      leaving.abort()
      await reading.catch(() => {})
    },
  }
}

/** Closes the log. Resolves to the number of events in its warning about rejected calls. */
async function closeWarned(audit: AuditLog): Promise<number> {
  let warned = 0
  const onWarning = ({ message }: Error): void => {
    warned += Number(
      /may have up to (\d+) events? whose calls were rejected/.exec(message)?.[1] ?? 0,
    )
  }
  process.on('warning', onWarning)
  await audit.close()
  // Warnings are emitted after the turn.
  await delay(0)
  process.off('warning', onWarning)
  return warned
}

/** Stops the confirmations of the standby. Returns a function that resumes them before the promotion. */
async function stopConfirming(
  standby: OwnServer,
  how: StandbyRound['stop'],
): Promise<() => Promise<void>> {
  if (how === 'crashed') {
    await standby.crash()
    return () => standby.start()
  }
  if (how === 'suspended') {
    const resume = standby.freeze()
    return async () => resume()
  }
  let isOver = false
  // Suspended for most of the time.
  const slow = (async () => {
    while (!isOver) {
      const resume = standby.freeze()
      await delay(200)
      resume()
      await delay(20)
    }
  })()
  return async () => {
    isOver = true
    await slow
  }
}

/** Resolves to the standby, which is now the primary. */
export async function runStandbyRound(
  primary: OwnServer,
  schema: string,
  { stop, before, without, knowsBoth }: StandbyRound,
  figures: StandbyFigures,
): Promise<OwnServer> {
  const standby = await primary.replicate()
  await ask(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await ask(primary, 'SELECT pg_reload_conf()')
  await untilRow(primary, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)
  const [first, second] = [primary, standby].map(({ url }) => new URL(url).host)
  const connectionString = `postgres://postgres@${knowsBoth ? `${first},${second}` : first}/postgres`
  const openLog = (): AuditLog => {
    const audit = new AuditLog({
      store: postgresStore({ connectionString, schema }),
      types: {},
      waiting: { deadlineMs: DEADLINE_MS },
    })
    audit.on('rejected', () => {})
    return audit
  }
  const [writing, following] = [openLog(), openLog()]
  const followers = ['', 'filter[type_eq]=own'].map((query) => follow(following, query))
  while (!(await writing.recordCustom('begin').catch(() => undefined)));
  const calls = load(writing)
  await delay(before)
  const goOn = await stopConfirming(standby, stop)
  await delay(without)
  await primary.crash()
  await goOn()
  await standby.promote()
  await delay(knowsBoth ? before : 0)
  await calls.end()
  // The transaction of this call removes events of rejected calls.
  if (knowsBoth) while (!(await writing.recordCustom('end').catch(() => undefined)));
  const warned = await closeWarned(writing)

  const log = await ask(
    standby,
    `SELECT attributes->>'key' AS key FROM "${schema}".events WHERE type = 'own' ORDER BY created_at`,
  )
  const keys = log.map(({ key }) => key)
  const there = new Set(keys)
  if (there.size < keys.length) throw new Error(`${keys.length - there.size} events are doubled`)
  const last = keys.at(-1)
  if (knowsBoth && last !== undefined)
    while (followers.some((one) => !one.keys.includes(last))) await delay(10)
  for (const follower of followers) await follower.end()
  await following.close()
  let rejectedAndKept = 0
  for (const [key, outcome] of calls.outcomes) {
    const isKept = there.has(key)
    if (outcome === 'acknowledged') {
      figures.acknowledged += 1
      if (!isKept) throw new Error(`lost: ${key} was acknowledged`)
    } else if (outcome === 'OUTCOME_UNKNOWN') {
      figures.unknown += 1
      if (isKept) figures.unknownAndKept += 1
    } else {
      figures.rejected += 1
      if (isKept) rejectedAndKept += 1
    }
  }
  figures.rejectedAndKept += rejectedAndKept
  if (rejectedAndKept > warned)
    throw new Error(`${rejectedAndKept} rejected events are kept, and ${warned} were warned of`)
  for (const follower of followers) {
    // A commit whose wait was cancelled is visible until the primary is lost.
    const extra = follower.keys.filter((key) => !there.has(key))
    if (extra.some((key) => calls.outcomes.get(String(key)) === 'acknowledged'))
      throw new Error('a follower got an acknowledged event that is lost')
    figures.followedAndLost += extra.length
    const got = follower.keys.filter((key) => there.has(key))
    // Followers that know only the primary have the first events.
    const expected = knowsBoth ? keys : keys.slice(0, got.length)
    if (got.join() !== expected.join())
      throw new Error(`a follower got ${got.length} of ${keys.length} events, or in another order`)
  }
  await primary.stop()
  return standby
}

export const campaign: Campaign = {
  rounds: 100,
  async run(run) {
    const figures = noStandbyFigures()
    let primary = await startOwnPostgres()
    const done = await runRounds(run, standbyRounds, figures, async (round, number) => {
      try {
        primary = await runStandbyRound(primary, `round_${number}`, round, figures)
      } catch (error) {
        await primary.stop()
        primary = await startOwnPostgres()
        throw error
      }
    })
    await primary.stop()
    return { done, ...figures }
  },
}
