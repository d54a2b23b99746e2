import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Crew, Outcome } from '../targets/worker-pool.js'
import {
  median,
  milliseconds,
  percent,
  type Print,
  row,
  times,
  whole,
  withSpread,
} from '../harness/format.js'

/*
 * The price of order: the store's function, called with batches that were prepared before, as it is
 * and without the lock that makes `created_at` rise in the order of visibility.
 */

const PROCESSES = [1, 4, 8]
const BATCH = 100
const SUBJECTS = ['ordered', 'unordered'] as const

type Subject = (typeof SUBJECTS)[number]
type Round = Readonly<Record<Subject, Outcome>>

/**
 * Two edits: the lock is not taken, and the high-water mark is read but not heeded. The processes
 * name times that no other one names, which stay as they are then, so that no row is refused.
 */
const EDITS = [
  [/^ *PERFORM pg_advisory_xact_lock\(.*\);\n/m, ''],
  ['SELECT last_value INTO _high', 'SELECT 0 * last_value INTO _high'],
] as const

async function removeLock(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `SELECT pg_get_functiondef(oid) AS text FROM pg_proc
     WHERE proname = 'append' AND pronamespace = 'unordered'::regnamespace`,
  )
  const text = EDITS.reduce((before, [what, by]) => {
    const after = before.replace(what, by)
    if (after === before) throw new Error(`the function append has no ${String(what)}`)
    return after
  }, rows[0]!.text)
  await client.query(text)
}

async function measure(crew: Crew, rounds: number, seconds: number): Promise<Map<number, Round[]>> {
  const found = new Map(PROCESSES.map((processes) => [processes, [] as Round[]]))
  for (let round = 1; round <= rounds; round++)
    for (const processes of PROCESSES) {
      const outcomes: Partial<Record<Subject, Outcome>> = {}
      for (const subject of round % 2 === 0 ? SUBJECTS : SUBJECTS.toReversed())
        outcomes[subject] = await crew.run(processes, {
          subject,
          batch: BATCH,
          inFlight: 1,
          seconds,
        })
      found.get(processes)!.push(outcomes as Round)
      const rates = SUBJECTS.map((name) => `${name} ${whole(outcomes[name]!.eventsPerSecond)}`)
      console.error(
        `order, round ${round} of ${rounds}, ${processes} processes: ${rates.join(', ')}`,
      )
    }
  return found
}

/** The share of the events that a client misses who asks for those after the last he has seen. */
async function missed(crew: Crew, subject: Subject, seconds: number): Promise<number> {
  await crew.client.query(`TRUNCATE ${subject}.events`)
  let last = 0
  let seen = 0
  let isOver = false
  const poll = async (): Promise<boolean> => {
    const { rows } = await crew.client.query<{ created_at: number }>(
      `SELECT created_at::float8 FROM ${subject}.events
       WHERE created_at > $1 ORDER BY created_at LIMIT 1000`,
      [last],
    )
    last = rows.at(-1)?.created_at ?? last
    seen += rows.length
    return rows.length > 0
  }
  const follow = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      const wasOver = isOver
      const isNews = await poll()
      isLast = wasOver && !isNews
      if (!isNews) await delay(1)
    }
  }
  const work = crew
    .run(4, { subject, batch: BATCH, inFlight: 1, seconds })
    .finally(() => (isOver = true))
  const [{ stored }] = await Promise.all([work, follow()])
  return (stored - seen) / stored
}

export async function orderTable(crew: Crew, rounds: number, seconds: number): Promise<string[]> {
  await removeLock(crew.client)
  const found = await measure(crew, rounds, seconds)
  const missedInOrder = await missed(crew, 'ordered', seconds)
  if (missedInOrder > 0) throw new Error(`with the lock ${percent(missedInOrder)} were missed`)
  const missedWithout = await missed(crew, 'unordered', seconds)
  await crew.dismiss()
  const lines = [...found].map(([processes, rounds]) => {
    const all = (of: (round: Round) => number, print: Print): string =>
      withSpread(rounds.map(of), print)
    const middle = (of: (round: Round) => number): string => milliseconds(median(rounds.map(of)))
    return row(
      whole(processes),
      all(({ ordered }) => ordered.eventsPerSecond, whole),
      all(({ unordered }) => unordered.eventsPerSecond, whole),
      all(({ ordered, unordered }) => ordered.eventsPerSecond / unordered.eventsPerSecond, times),
      `${middle(({ ordered }) => ordered.p50)} / ${middle(({ ordered }) => ordered.p99)}`,
      `${middle(({ unordered }) => unordered.p50)} / ${middle(({ unordered }) => unordered.p99)}`,
    )
  })
  return [
    'The price of order: the function by which the store appends, called with batches of ' +
      `${BATCH} prepared`,
    'events, as it is and without the lock that has `created_at` rise in the order of visibility. A client',
    'who asks for events after the last he has seen (`created_at_gt`) while 4 processes write misses none',
    `with the lock, and ${percent(missedWithout)} of the events without.`,
    '',
    row(
      'processes',
      'events/s',
      'without the lock',
      'with to without',
      'a batch, p50 / p99',
      'without, p50 / p99',
    ),
    row('--:', '--:', '--:', '--:', '--:', '--:'),
    ...lines,
  ]
}
