import fs from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'
import { type AuditEvent, AuditLog, AuditLogError, type Damage } from 'daybook'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'

/*
 * Flips single bits of an SQLite file, and finds out what notices them.
 */

const TUNING = { segmentSize: 64, fanOut: 4 }
const SIZE = 700

/** What became of a flip. */
export type Outcome =
  /** Lists were right, and nothing was reported. */
  | 'right'
  /** A list, or opening the file, reported the damage. */
  | 'reported'
  /** A list was wrong, and nothing was reported. */
  | 'wrong'

export interface Flip {
  readonly table: string
  readonly page: number
  readonly offset: number
  readonly bit: number
  readonly outcome: Outcome
  /** Whether `verify` found it; not asked if lists had reported it. */
  readonly isVerified: boolean | undefined
  /** The first wrong query. */
  readonly wrong?: string | undefined
}

const QUERIES: readonly string[] = [
  '',
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

const eventOf = (i: number): object => ({
  number: i,
  kind: i % 2 ? 'odd' : 'even',
  text: `text ${i}`,
  tags: [`t${i % 10}`, `u${i}`],
  ...(i % 90 === 3 && { only: { nested: i } }),
})

/** Makes the file that is damaged. */
export async function makeFile(filename: string): Promise<void> {
  const { store, sealer } = createSqliteStore({ filename }, { tuning: TUNING })
  const audit = new AuditLog({ types: {}, store })
  const record = (from: number, to: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: to - from }, (_, i) =>
        audit.recordCustom('order', eventOf(from + i), { username: i % 3 ? 'ann' : 'bob' }),
      ),
    )
  await record(0, SIZE)
  await audit.importEvents(
    Array.from({ length: 80 }, (_, i): AuditEvent => ({
      id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      created_at: `2020-01-01T00:00:${String(i % 60).padStart(2, '0')}.${String(i).padStart(6, '0')}Z`,
      username: null,
      system: false,
      type: 'imported',
      source: null,
      attributes: { number: -i, kind: 'imported' },
    })),
  )
  await sealer.settled()
  await record(SIZE, SIZE + 40)
  await audit.close()
}

/** The answers of the log, or the error of the first list that fails. */
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

/** The answers of the undamaged file. */
export async function rightAnswers(filename: string): Promise<readonly unknown[]> {
  const audit = new AuditLog({
    types: {},
    store: createSqliteStore({ filename, readOnly: true }).store,
  })
  try {
    return await answersOf(audit)
  } finally {
    await audit.close()
  }
}

const PAGE = 4096

/** A page and its bytes that are in use. */
interface Page {
  readonly number: number
  readonly used: readonly number[]
}

/** The pages of each table and index of the file, without free space, in which a flip changes nothing. */
export function pagesOf(filename: string): ReadonlyMap<string, readonly Page[]> {
  const bytes = fs.readFileSync(filename)
  const database = new Database(filename, { readonly: true })
  const rows = database.prepare('SELECT name, pageno AS number, pagetype AS type FROM dbstat').all()
  database.close()
  const pages = new Map<string, Page[]>()
  for (const { name, number, type } of rows as readonly {
    readonly name: string
    readonly number: number
    readonly type: string
  }[]) {
    const page = bytes.subarray((number - 1) * PAGE, number * PAGE)
    const used = type === 'overflow' ? range(0, PAGE) : usedBytes(page, number === 1 ? 100 : 0)
    pages.set(name, [...(pages.get(name) ?? []), { number, used }])
  }
  return pages
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i)

/** The header, the pointers and the cells of a page: https://www.sqlite.org/fileformat2.html#b_tree_pages */
function usedBytes(page: Buffer, start: number): readonly number[] {
  const isLeaf = page[start]! >= 10
  const pointers = start + (isLeaf ? 8 : 12)
  const cells = page.readUInt16BE(start + 3)
  const content = page.readUInt16BE(start + 5)
  return [...range(0, pointers + 2 * cells), ...range(content, PAGE)]
}

/** Returns the next number of a seeded sequence, below `end`. */
export function seededNumbers(seed: number): (end: number) => number {
  let state = seed >>> 0
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}

export interface FlipOptions {
  readonly next: (end: number) => number
  /** Whether to verify after all flips that lists have not reported, or only after those that made a list wrong. */
  readonly asks: 'all' | 'wrong'
}

/** Flips one bit of a copy of the file, chosen by table, page and byte, and asks the log. */
export async function flipOnce(
  files: { readonly base: string; readonly copy: string },
  pages: ReadonlyMap<string, readonly Page[]>,
  right: readonly unknown[],
  { next, asks }: FlipOptions,
): Promise<Flip> {
  const table = [...pages.keys()][next(pages.size)]!
  const { number: page, used } = pages.get(table)![next(pages.get(table)!.length)]!
  const offset = used[next(used.length)]!
  const bit = next(8)
  for (const suffix of ['-wal', '-shm']) fs.rmSync(files.copy + suffix, { force: true })
  const bytes = fs.readFileSync(files.base)
  bytes[(page - 1) * PAGE + offset]! ^= 1 << bit
  fs.writeFileSync(files.copy, bytes)
  return { table, page, offset, bit, ...(await askDamaged(files.copy, right, asks)) }
}

async function askDamaged(
  filename: string,
  right: readonly unknown[],
  asks: 'all' | 'wrong',
): Promise<Pick<Flip, 'outcome' | 'isVerified' | 'wrong'>> {
  let audit: AuditLog
  try {
    const { store } = createSqliteStore({ filename }, { tuning: TUNING, checkMs: 600_000 })
    audit = new AuditLog({ types: {}, store })
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
    return { outcome: 'reported', isVerified: undefined }
  }
  const damages: Damage[] = []
  audit.on('damaged', (damage) => damages.push(damage))
  try {
    const answers = await answersOf(audit)
    if (damages.length > 0) return { outcome: 'reported', isVerified: undefined }
    const wrong = QUERIES.find((_, i) => !isDeepStrictEqual(answers[i], right[i]))
    const isVerified = asks === 'all' || wrong !== undefined ? await isFound(audit) : undefined
    return { outcome: wrong === undefined ? 'right' : 'wrong', isVerified, wrong }
  } catch (error) {
    if (error instanceof AuditLogError) return { outcome: 'reported', isVerified: undefined }
    throw error
  } finally {
    await audit.close().catch(() => {})
  }
}

async function isFound(audit: AuditLog): Promise<boolean> {
  try {
    return (await audit.verify()).damage.length > 0
  } catch (error) {
    if (error instanceof AuditLogError) return true
    throw error
  }
}
