import { isDeepStrictEqual } from 'node:util'
import { AuditLog, AuditLogError, type Damage, type EventStore, parseTimestamp } from 'daybook'
import type { Sealer } from '../../src/store-kit/index-builder/sealer.js'
import { eventAt } from './imported-event.js'

/* Flips single bits of a stored log, and finds out which check notices them. */

export const FLIP_TUNING = { segmentSize: 64, fanOut: 4 }
const SIZE = 700

/** The outcome of a flip. */
export type Outcome =
  /** Lists were right, and nothing was reported. */
  | 'right'
  /** A list reported the damage. If only segments are damaged, lists were right all the same. */
  | 'reported'
  /** A list, or opening the log, failed. */
  | 'failed'
  /** A list was wrong, and nothing that explains it was reported. */
  | 'wrong'

/** A page, and its bytes in use. */
export interface Page {
  readonly number: number
  readonly used: readonly number[]
}

export interface Place {
  readonly table: string
  readonly page: number
  readonly offset: number
  readonly bit: number
}

export interface Flip extends Place {
  readonly outcome: Outcome
  /** True if `verify` found it; `undefined` if lists had reported it. */
  readonly isVerified: boolean | undefined
  /** The first wrong query, or the error. */
  readonly detail?: string | undefined
}

/** A log with copies that are damaged. */
export interface FlipTarget {
  /** The pages of each table and index, without free space, in which a flip changes nothing. */
  readonly pages: ReadonlyMap<string, readonly Page[]>
  /** True if lists must notice damage of the table, because it has events or parts of the index. */
  isChecked(table: string): boolean
  /** Opens a copy in which the bit is flipped. The copy before must be closed. */
  open(place: Place | undefined): Promise<EventStore>
  close(): Promise<void>
}

const QUERIES: readonly string[] = [
  'filter[type_not_eq]=warn:audit_log:damage',
  'limit=1000',
  'filter[text_eq]=text 77',
  'filter[text_cont]=text 5&limit=100',
  'filter[kind_eq]=odd&limit=50',
  'filter[number_lt]=20&limit=100',
  'filter[number_gteq]=100&filter[kind_not_eq]=odd&filter[sorts]=number asc&limit=30',
  'filter[sorts]=text desc&limit=20',
  'filter[only_present]=true&limit=100',
  'filter[type_eq]=imported&limit=20',
  'filter[username_eq]=bob&limit=100',
  'filter[tags_eq]=t3&filter[sorts]=created_at asc&limit=40',
]

/** Text that compression does not make shorter, so that Postgres stores it outside of the row. */
function noise(seed: number): string {
  const next = seededNumbers(seed)
  return Array.from({ length: 3000 }, () => next(36).toString(36)).join('')
}

const eventOf = (i: number): object => ({
  number: i,
  kind: i % 2 ? 'odd' : 'even',
  text: `text ${i}`,
  tags: [`t${i % 10}`, `u${i}`],
  ...(i % 90 === 3 && { only: { nested: i } }),
  ...(i % 70 === 5 && { long: noise(i) }),
})

/** Records the events of the log to damage, and closes it. */
export async function recordFlipBase(store: EventStore, sealer: Sealer): Promise<void> {
  const audit = new AuditLog({ types: {}, store })
  const record = (from: number, to: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: to - from }, (_, i) =>
        audit.recordCustom('order', eventOf(from + i), { username: i % 3 ? 'ann' : 'bob' }),
      ),
    )
  await record(0, SIZE)
  await audit.importEvents(
    Array.from({ length: 80 }, (_, i) => {
      const attributes = { number: -i, kind: 'imported' }
      return eventAt(parseTimestamp('2020-01-01')! + i * 1_000_001, {
        type: 'imported',
        attributes,
      })
    }),
  )
  await sealer.settled()
  await record(SIZE, SIZE + 40)
  await audit.close()
}

async function answersOf(audit: AuditLog): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  for (const query of QUERIES) {
    const { events } = await audit.list(query)
    answers.push(
      events
        .filter(({ type }) => type !== 'warn:audit_log:damage')
        .map(({ id, type, username, attributes }) => ({ id, type, username, attributes })),
    )
  }
  return answers
}

/** The answers of the undamaged log. */
export async function rightAnswers(target: FlipTarget): Promise<readonly unknown[]> {
  const audit = new AuditLog({ types: {}, store: await target.open(undefined) })
  try {
    return await answersOf(audit)
  } finally {
    await audit.close()
  }
}

/** Returns the next number of a seeded sequence, below `end`. */
export function seededNumbers(seed: number): (end: number) => number {
  let state = seed >>> 0
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}

/** Chooses a bit by table, page and byte. */
export function choosePlace(pages: FlipTarget['pages'], next: (end: number) => number): Place {
  const table = [...pages.keys()][next(pages.size)]!
  const { number: page, used } = pages.get(table)![next(pages.get(table)!.length)]!
  return { table, page, offset: used[next(used.length)]!, bit: next(8) }
}

/**
 * True if `verify` runs after all flips that lists have not reported; false if it runs only after flips that made a
 * list wrong.
 */
export type Asks = 'all' | 'wrong'

/** Flips one bit of a copy, and runs the queries. */
export async function flipOnce(
  target: FlipTarget,
  place: Place,
  right: readonly unknown[],
  asks: Asks,
): Promise<Flip> {
  let audit: AuditLog | undefined
  try {
    audit = new AuditLog({ types: {}, store: await target.open(place) })
    return { ...place, ...(await askDamaged(audit, right, asks)) }
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
    return { ...place, outcome: 'failed', isVerified: undefined, detail: error.message }
  } finally {
    await audit?.close().catch(() => {})
  }
}

async function askDamaged(
  audit: AuditLog,
  right: readonly unknown[],
  asks: Asks,
): Promise<Pick<Flip, 'outcome' | 'isVerified' | 'detail'>> {
  const damages: Damage[] = []
  audit.on('damaged', (damage) => damages.push(damage))
  const answers = await answersOf(audit)
  const wrong = QUERIES.find((_, i) => !isDeepStrictEqual(answers[i], right[i]))
  if (damages.some(({ kind }) => kind !== 'segment') || (damages.length > 0 && !wrong))
    return { outcome: 'reported', isVerified: undefined }
  const isVerified = asks === 'all' || wrong !== undefined ? await isFound(audit) : undefined
  return { outcome: wrong === undefined ? 'right' : 'wrong', isVerified, detail: wrong }
}

async function isFound(audit: AuditLog): Promise<boolean> {
  try {
    return (await audit.verify()).damage.length > 0
  } catch (error) {
    if (error instanceof AuditLogError) return true
    throw error
  }
}

/** The numbers from `from` to `to`, exclusive. */
export const offsets = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, i) => from + i)
