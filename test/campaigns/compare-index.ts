import { type AuditEvent, AuditLog } from 'daybook'
import fc from 'fast-check'
import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { type Grouping, oneCondition } from '../../src/filter/ast.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { randomEvents } from '../page/numbers/random-log.js'
import { countExactly } from '../support/exact-counts.js'
import { placesIn } from './lists.js'
import type { Campaign } from './run.js'
import { runLogs } from './shared/rounds.js'

/*
 * Each round takes a random value of a random event, and counts the events with this value: by the index of the log,
 * and by a test of each event. Both numbers must be equal. Each log has 100,000 events. The logs alternate between
 * SQLite and Postgres.
 */

const EVENTS = 100_000
const ROUNDS_PER_LOG = 50
const IMPORTED_AT_ONCE = 5000
// Smaller than usual, so that segments are merged.
const TUNING = { segmentSize: 4096, fanOut: 4 }

/** A random event of a log, and one of its values. */
interface Round {
  readonly event: number
  readonly value: number
}

const round: fc.Arbitrary<Round> = fc.record({ event: fc.nat(EVENTS - 1), value: fc.nat() })

function filterFor({ type, username, attributes }: AuditEvent, value: number): Grouping {
  const places = [['type', type], ['username', username], ...placesIn(attributes)] as const
  const [name, wanted] = places[value % places.length]!
  return wanted === null
    ? oneCondition(name, 'null', ['1'])
    : oneCondition(name, 'eq', [String(wanted)])
}

/** Writes a log, and compares one number in each round. */
async function compareCounts(
  location: string,
  rounds: readonly Round[],
  report: (difference: string) => void,
): Promise<void> {
  const { store, sealer } = location.startsWith('postgres')
    ? createPostgresStore({ connectionString: location }, { tuning: TUNING })
    : createSqliteStore({ filename: location }, { tuning: TUNING })
  await using audit: AuditLog = new AuditLog({ store, types: {} })
  countExactly(audit)
  // The events follow from the first round, so that the seed repeats them.
  const events = randomEvents(EVENTS, rounds[0]!.event)
  for (let at = 0; at < EVENTS; at += IMPORTED_AT_ONCE)
    await audit.importEvents(events.slice(at, at + IMPORTED_AT_ONCE))
  await sealer.settled()
  for (const { event, value } of rounds) {
    const where = filterFor(events[event]!, value)
    const expected = events.filter(compileFilter(where)).length
    const { total, exact } = await audit.count({ where, sorts: [], limit: 1 })
    if (total !== expected || !exact.total)
      report(JSON.stringify({ where, total, exact: exact.total, expected }))
  }
}

export const campaign: Campaign = {
  rounds: 1000,
  async run(run) {
    const { store, failed } = run
    const figures = { counts: 0 }
    const isPostgres = (log: number): boolean => (store ? store === 'postgres' : log % 2 === 1)
    const logs = { round, perLog: ROUNDS_PER_LOG, isPostgres, figures }
    await runLogs(run, logs, async (location, some) => {
      await compareCounts(location, some, (difference) => failed(`${location}: ${difference}`))
      figures.counts += some.length
    })
    return figures
  },
}
