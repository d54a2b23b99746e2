import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog, parseTimestamp } from 'daybook'
import { describe, expect, it } from 'vitest'
import { type Child, linesOf, runScript } from '../support/child.js'
import { SOAK_SECONDS, soakTimeout } from '../support/soak.js'
import { onPostgres, onSqlite, type StoredPlace } from './stored-place.js'
import { CONDITION } from './throttled-types.js'
import { allEvents, reportedLosses } from '../support/reported-losses.js'

/*
 * Several processes record the same condition. Their events must be at least a period apart. The counts of suppressed
 * calls must add up to the calls.
 */
const PROCESSES = 4
// About 400 a second in each process.
const CALLS = Math.max(2500, SOAK_SECONDS * PROCESSES * 400)
const PERIOD_SECONDS = 0.5
const PERIOD_MS = PERIOD_SECONDS * 1000
/** Maximum difference between the clocks of the processes and the store. */
const CLOCKS_MS = 50

const run = ({ location }: StoredPlace, calls: number): Child =>
  runScript('test/processes/throttled-child.ts', [location, String(PERIOD_SECONDS), String(calls)])

/** The numbers in lines that start with this word. */
const said = (child: Child, word: string): number[][] =>
  linesOf(child, `${word} `).map((line) => line.split(' ').map(Number))

const sumOf = (children: readonly Child[], word: string): number =>
  children.flatMap((child) => said(child, word)).reduce((sum, [count]) => sum + count!, 0)

const timeOf = (event: AuditEvent): number => parseTimestamp(event.created_at)! / 1000

interface Found {
  readonly events: readonly AuditEvent[]
  readonly suppressed: number
}

async function find(audit: AuditLog): Promise<Found> {
  const all = await allEvents(audit)
  return {
    events: all.filter(({ type }) => type === CONDITION),
    suppressed: reportedLosses(all).suppressed.get(CONDITION) ?? 0,
  }
}

/** The log, once it reports at least `minCount` suppressed calls. */
async function findReported(
  place: StoredPlace,
  minCount: (events: number) => number,
): Promise<Found> {
  await using audit: AuditLog = new AuditLog({ store: place.openStore(), types: {} })
  for (;;) {
    await audit.cleaning.run()
    const found = await find(audit)
    if (found.suppressed >= minCount(found.events.length)) break
    await delay(100)
  }
  // No call is reported twice.
  await audit.cleaning.run()
  return await find(audit)
}

function expectPeriods(events: readonly AuditEvent[], minCount: number): void {
  const times = events.map(timeOf)
  const tooSoon = times.filter((time, i) => i > 0 && time - times[i - 1]! < PERIOD_MS)
  expect(tooSoon).toEqual([])
  expect(times.length).toBeGreaterThanOrEqual(minCount)
}

interface Call {
  /** Milliseconds since 1970. */
  readonly begin: number
  readonly end: number
}

const callsOf = (child: Child, word: string): Call[] =>
  said(child, word).map(([begin, end]) => ({ begin: begin!, end: end! }))

/** A call is suppressed only if there is an event of the period before it. */
function expectAllThatCanBe(child: Child, events: readonly AuditEvent[]): void {
  const times = events.map(timeOf)
  const held = callsOf(child, 'held')
  const calls = [...callsOf(child, 'kept'), ...held]
  const withoutReason = held.filter(({ begin, end }) => {
    // One of these calls has shown the event to the process, at most `late` ms after it was stored.
    const late = calls
      .filter((call) => call.end >= begin - PERIOD_MS - CLOCKS_MS && call.begin <= end)
      .reduce((max, call) => Math.max(max, call.end - call.begin + CLOCKS_MS), CLOCKS_MS)
    return !times.some((time) => time >= begin - PERIOD_MS - late && time <= end + late)
  })
  expect(withoutReason).toEqual([])
}

async function raiseTogether(place: StoredPlace): Promise<void> {
  const children = Array.from({ length: PROCESSES }, () => run(place, CALLS / PROCESSES))
  try {
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0)
  } finally {
    for (const child of children) await child.kill()
  }
  const { events, suppressed } = await findReported(place, (count) => CALLS - count)
  expect(sumOf(children, 'made')).toBe(CALLS)
  expect(children.flatMap((child) => said(child, 'kept')).length).toBe(events.length)
  expectPeriods(events, 3)
  for (const child of children) expectAllThatCanBe(child, events)
  expect(suppressed).toBe(CALLS - events.length)
}

async function raiseAndKill(place: StoredPlace): Promise<void> {
  const orderly = [run(place, 500)]
  const killed = [run(place, 1e6), run(place, 1e6)]
  const children = [...orderly, ...killed]
  try {
    await Promise.all(
      killed.map(async (child) => {
        await child.saw('reported')
        await delay(Math.random() * 1000)
        await child.kill()
      }),
    )
    for (const child of orderly) expect(await child.ended, child.stderr()).toBe(0)
  } finally {
    for (const child of children) await child.kill()
  }
  const reported = sumOf(children, 'reported')
  const { events, suppressed } = await findReported(place, () => reported)
  expectPeriods(events, 2)
  const held = orderly.flatMap((child) => said(child, 'held')).length
  expect(sumOf(orderly, 'reported')).toBe(held)
  // Only unreported counts of killed processes are missing.
  expect(sumOf(killed, 'reported')).toBeGreaterThan(0)
  expect(suppressed).toBeGreaterThanOrEqual(reported)
  expect(suppressed).toBeLessThanOrEqual(sumOf(children, 'made') - events.length)
}

const together = `${PROCESSES} processes raise a condition ${CALLS} times`
const killed = 'some of the processes are killed'

describe('counts add up', { timeout: soakTimeout(180_000) }, () => {
  it(`if ${together}, on Postgres`, () => onPostgres(raiseTogether))
  it(`if ${killed}, on SQLite`, () => onSqlite(raiseAndKill))
  if (SOAK_SECONDS > 0) {
    it(`if ${together}, on SQLite`, () => onSqlite(raiseTogether))
    it(`if ${killed}, on Postgres`, () => onPostgres(raiseAndKill))
  }
})
