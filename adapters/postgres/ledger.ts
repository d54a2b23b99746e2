import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError } from '../../src/errors.js'
import { idOf } from '../../src/event/event-id.js'
import { formatTimestamp, type Microseconds } from '../../src/event/timestamp.js'
import { joinHashes } from '../../src/ledger/edge.js'
import { leafHasher } from '../../src/ledger/event-leaves.js'
import { placeOf } from '../../src/ledger/places.js'
import { noLedger } from '../../src/store/ledger-errors.js'
import {
  type Beginning,
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerState,
  type LedgerStore,
  type OpenPlace,
  type SealedEvent,
  type UnsealedEvents,
  type UnsealedRequest,
} from '../../src/store/ledger.js'
import type { WaitOptions } from '../../src/store/store.js'
import { damagedEventError } from '../../src/store-kit/damages.js'
import {
  ask,
  begin,
  BY_KEY,
  endTransaction,
  type PostgresPoolClient,
  type TextRow,
} from './connection/client.js'
import { readDurably } from './connection/commits.js'
import { codeOf, isDenied, UNDEFINED_TABLE } from './connection/failures.js'
import { readWithRetry, withoutTimeLimit, withRetry } from './log/calls.js'
import { asReadFailure } from './log/durability.js'
import type { PostgresLog } from './log/log.js'
import {
  appendLeaves,
  beginLedger,
  hasLedger,
  lateForReadersSql,
  lateLeavesSql,
  lateSql,
  nodesSql,
  removeLeaves,
  restartLedger,
  rowsOfSql,
  rowsSql,
  stateSql,
  statementsSql,
  waitingSql,
} from './schema/ledger.js'
import type { Names } from './schema/names.js'
import { faultOf, rowToLazyEvent, STORED_COLUMNS } from './schema/rows.js'
import { dropEmptyPartitions } from './write/event-ranges.js'

/** Events that are read at once first. They may be large. */
const STEP = 128
/** More of them take the event loop for milliseconds, fewer take more statements. */
const MAX_STEP = 256
/** Characters of JSON that are read at once, about. */
const MAX_READ = 1024 * 1024

const bytesOf = (hex: string | null | undefined): Uint8Array =>
  new Uint8Array(Buffer.from(hex!, 'hex'))

/** The number as SQL. */
const bigint = (value: number): string =>
  String(Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.trunc(value))))

const readState = ([size, sealedTo, lateTo, head, voucher, revision]: TextRow): LedgerState => ({
  size: Number(size),
  sealedTo: Number(sealedTo),
  lateTo: Number(lateTo),
  head: head ?? undefined,
  voucher: voucher ?? undefined,
  revision: revision!,
})

const readOpenPlaces = (rows: readonly TextRow[]): OpenPlace[] =>
  rows.map(([time, suffix]) => ({ id: idOf(Number(time), suffix!), time: Number(time) }))

function readBeginning([found, open]: readonly (readonly TextRow[])[]): Beginning {
  const [row] = found!
  if (!row) throw noLedger()
  return { state: readState(row), open: readOpenPlaces(open!) }
}

const eventsSql = (
  { events }: Names,
  from: Microseconds,
  to: Microseconds,
  limit: number,
): string =>
  `SELECT ${STORED_COLUMNS} FROM ${events} WHERE created_at BETWEEN ${bigint(from)} AND ${bigint(to)}
   ORDER BY created_at LIMIT ${bigint(limit)}`

/** The next closed events, and the open ones after the time: the rows of one snapshot. The first column is true for open ones. */
const unsealedSql = (names: Names, after: Microseconds, limit: number): string =>
  `(SELECT false, ${STORED_COLUMNS} FROM ${names.events} WHERE created_at > ${bigint(after)} ORDER BY created_at LIMIT ${limit})
   UNION ALL
   SELECT true, created_at, suffix, NULL, NULL, NULL, NULL, NULL, NULL FROM ${names.liveEvents}
   WHERE created_at > ${bigint(after)} ORDER BY 1, 2`

/** Characters of JSON that are hashed in one turn of the event loop, in less than a millisecond. */
const MAX_JSON = 32 * 1024

/** Parts of the rows, each of which is soon hashed. */
function* portions(rows: readonly TextRow[]): Generator<readonly TextRow[], void> {
  let from = 0
  let size = 0
  for (const [i, row] of rows.entries()) {
    size += row[6]!.length
    if (size < MAX_JSON) continue
    yield rows.slice(from, i + 1)
    from = i + 1
    size = 0
  }
  if (from < rows.length) yield rows.slice(from)
}

/** The event of a row. Throws `DAMAGED` if it cannot be read. */
function readEvent(row: TextRow): SealedEvent {
  const time = Number(row[0])
  if (faultOf(row) !== undefined) throw damagedEventError(`of ${formatTimestamp(time)}`)
  return { time, event: rowToLazyEvent(row) }
}

const toSealedEvent = (row: TextRow): SealedEvent => ({
  time: Number(row[0]),
  event: faultOf(row) === undefined ? rowToLazyEvent(row) : undefined,
})

/** The rows of closed events and those of open ones, without their first column. */
const split = (rows: readonly TextRow[]): readonly (readonly TextRow[])[] =>
  ['f', 't'].map((value) => rows.filter(([isOpen]) => isOpen === value).map((row) => row.slice(1)))

/** Reads and hashes the next events in one transaction, whose commit confirms all of them. */
function readUnsealed(
  client: PostgresPoolClient,
  names: Names,
  request: UnsealedRequest,
): Promise<UnsealedEvents> {
  const { after, limit } = request
  const hash = leafHasher(request)
  let step = Math.min(STEP, limit)
  const first = `${stateSql(names)}; ${unsealedSql(names, after, step)}`
  return readDurably(client, first, async (read) => {
    const times: Microseconds[] = []
    const hashes: Uint8Array[] = []
    const open: OpenPlace[] = []
    for (let rows = read; ;) {
      const [closed, live] = split(rows)
      for (const portion of portions(closed!)) {
        for (const row of portion) {
          const { time, event } = readEvent(row)
          times.push(time)
          hashes.push(hash(event!))
        }
        await nextTurn()
      }
      const last = times.at(-1) ?? after
      open.push(...readOpenPlaces(live!).filter(({ time }) => time < last))
      if (closed!.length < step || times.length === limit) break
      const size = closed!.reduce((sum, row) => sum + row[6]!.length, 0)
      const fitting = Math.max(1, Math.floor((MAX_READ * step) / (size + 1)))
      step = Math.min(fitting, MAX_STEP, limit - times.length)
      rows = await ask(client, unsealedSql(names, last, step))
    }
    return { times, hashes: joinHashes(hashes), open }
  })
}

const notOwner = (cause: unknown): AuditLogError =>
  new AuditLogError(
    'STORE_FAILED',
    'only the owner of the log can create the tables of its ledger: open the log with the ledger once as that role',
    { cause },
  )

export interface LedgerContext {
  readonly log: PostgresLog
  /** Throws if the store is closed or the signal has aborted. */
  readonly check: (signal: AbortSignal | undefined) => void
  readonly isReadOnly: boolean
  /** True if the schema must not be changed. */
  readonly isFixed: boolean
}

/** Means to run statements on the primary. */
function createAccess({ log, check }: LedgerContext) {
  /** The result of work that needs the tables. */
  const withTables = async <Result>(
    { signal }: WaitOptions,
    act: () => Promise<Result>,
  ): Promise<Result> => {
    check(signal)
    try {
      return await act()
    } catch (error) {
      const isMissing = error instanceof AuditLogError && codeOf(error.cause) === UNDEFINED_TABLE
      throw isMissing ? noLedger() : error
    }
  }

  /** The result of statements in one snapshot. `first` is sent with BEGIN. */
  const inSnapshot = <Result>(
    options: WaitOptions,
    first: string,
    act: (
      rows: readonly (readonly TextRow[])[],
      client: PostgresPoolClient,
    ) => Result | Promise<Result>,
  ): Promise<Result> =>
    withTables(options, () =>
      readWithRetry(log, options.signal, async (client) => {
        const begun = await begin(client, 'REPEATABLE READ READ ONLY', { settings: BY_KEY, first })
        const result = await act(begun.first, client)
        await endTransaction(client, 'COMMIT')
        return result
      }),
    )

  const read = async (text: string, options: WaitOptions): Promise<readonly TextRow[]> =>
    inSnapshot(options, text, (rows) => rows.at(-1)!)

  /** The result of `act`, once everything that it has read is durable. */
  const durably = <Result>(
    options: WaitOptions,
    act: (client: PostgresPoolClient) => Promise<Result>,
  ): Promise<Result> =>
    withTables(options, () =>
      readWithRetry(log, options.signal, act).catch((error: unknown) => {
        throw asReadFailure(error)
      }),
    )

  const write = <Result>(
    options: WaitOptions,
    act: (client: PostgresPoolClient) => Promise<Result>,
  ): Promise<Result> => withTables(options, () => withRetry(log, options.signal, act))

  return { withTables, inSnapshot, read, durably, write }
}

type Access = ReturnType<typeof createAccess>

type Writing = 'begin' | 'unsealed' | 'late' | 'append' | 'remove' | 'release' | 'restart'

/** The methods that the process which seals calls. */
function createSealing(
  { log, check, isReadOnly, isFixed }: LedgerContext,
  { read, durably, write }: Access,
): Pick<LedgerStore, Writing> {
  const { names } = log
  return {
    async begin(after, options = {}) {
      check(options.signal)
      const rows = await write(options, (client) =>
        beginLedger(client, names, after, !isFixed),
      ).catch((error: unknown) => {
        throw isDenied((error as AuditLogError).cause) ? notOwner(error) : error
      })
      return readBeginning(rows)
    },

    unsealed: (request, options = {}) =>
      durably(options, (client) => readUnsealed(client, names, request)),

    async late(after, limit, options = {}) {
      const rows = isReadOnly
        ? await read(lateForReadersSql(names, after, limit), options)
        : await durably(options, (client) =>
            readDurably(client, lateSql(names, after, limit), (found) => Promise.resolve(found)),
          )
      return rows.map(([id, time]) => ({ id: Number(id), time: Number(time) }))
    },

    // After an answer was lost, the state is another one: the repeated attempt resolves to false.
    append: (addition, options = {}) =>
      write(options, (client) => appendLeaves(client, names, addition)),

    remove: (removal, options = {}) =>
      write(options, (client) => removeLeaves(client, names, removal)),

    async release(before, { signal } = {}) {
      check(signal)
      await withoutTimeLimit(signal, (waiting) => dropEmptyPartitions(log, before, waiting))
    },

    async restart(before, after, options = {}) {
      const rows = await write(options, (client) => restartLedger(client, names, before, after))
      return rows && readBeginning(rows)
    },
  }
}

/** See `LedgerStore.leavesOf`. */
async function readLeaves(
  client: PostgresPoolClient,
  names: Names,
  times: readonly Microseconds[],
): Promise<readonly (number | undefined)[]> {
  const ofLate = await ask(client, lateLeavesSql(names), times)
  const late = new Map(ofLate.map(([time, leaf]) => [Number(time), Number(leaf)]))
  const found = await ask(client, rowsOfSql(names), times)
  const rows = found.map(([id, after, last, places]) => ({
    row: Number(id),
    after: Number(after),
    last: Number(last),
    places: bytesOf(places),
  }))
  return times.map((time) => {
    const row = rows.find(({ last }) => last >= time)
    const place = row && placeOf(row, time)
    const inOrder = place === undefined ? undefined : row!.row * LEAVES_PER_ROW + place
    return late.get(time) ?? inOrder
  })
}

function createReading(
  { log }: LedgerContext,
  { withTables, inSnapshot, read }: Access,
): Omit<LedgerStore, Writing> {
  const { names } = log
  return {
    state: async (options = {}) =>
      withTables(options, () =>
        readWithRetry(log, options.signal, async (client) => {
          if (!(await hasLedger(client, names))) return undefined
          const [row] = await ask(client, stateSql(names))
          if (!row) throw noLedger()
          return readState(row)
        }),
      ),

    async rows(from, limit, options = {}) {
      const rows = await read(rowsSql(names, from, limit), options)
      return rows.map(([id, after, last, places, hashes, seed]): LeafRow => ({
        row: Number(id),
        after: Number(after),
        last: Number(last),
        places: bytesOf(places),
        hashes: bytesOf(hashes),
        seed: bytesOf(seed),
      }))
    },

    nodes: (places, options = {}) =>
      inSnapshot(options, '', async (_, client) => {
        const [levels, indexes] = [
          places.map(({ level }) => level),
          places.map(({ index }) => index),
        ]
        const rows = await ask(client, nodesSql(names), levels, indexes)
        const found = new Map(rows.map(([level, index, hash]) => [`${level}/${index}`, hash]))
        return places.map(({ level, index }) => {
          const hash = found.get(`${level}/${index}`)
          return hash === undefined ? undefined : bytesOf(hash)
        })
      }),

    async statements(from, to, options = {}) {
      const rows = await read(statementsSql(names, from, to), options)
      return rows.map(([leaf, entry]) => ({ leaf: Number(leaf), entry: entry! }))
    },

    async leavesOf(times, options = {}) {
      if (times.length === 0) return []
      return inSnapshot(options, '', (_, client) => readLeaves(client, names, times))
    },

    async events({ from, to, limit }, options = {}) {
      const sql = `${stateSql(names)}; ${eventsSql(names, from, to, limit)}`
      return (await read(sql, options)).map(toSealedEvent)
    },

    async eventsAt(times, options = {}) {
      if (times.length === 0) return []
      const sql = `SELECT ${STORED_COLUMNS} FROM ${names.events} WHERE created_at = ANY ($1::bigint[])`
      return inSnapshot(options, stateSql(names), async (_, client) =>
        (await ask(client, sql, times)).map(toSealedEvent),
      )
    },

    async waiting(options = {}) {
      const [row] = await read(waitingSql(names), options)
      if (!row) throw noLedger()
      const [events, oldest] = row
      return { events: Number(events), oldest: oldest === null ? undefined : Number(oldest) }
    },
  }
}

/** The ledger of a log on Postgres. It is read from the primary, never from a replica. */
export function createLedger(context: LedgerContext): LedgerStore {
  const access = createAccess(context)
  return { ...createSealing(context, access), ...createReading(context, access) }
}
