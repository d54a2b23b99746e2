import { randomUUID } from 'node:crypto'
import type { EventDraft } from '../../../src/event/event.js'
import type { IdSuffix } from '../../../src/event/event-id.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import { draftRows } from './draft-rows.js'
import { codeOf, DATATYPE_MISMATCH, isStatementError } from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { type Names, quoteText } from '../schema/names.js'
import { recover, type Recovered, type StoredEvent, storedEvent } from './recover.js'
import type { SchemaState } from '../schema/schema.js'
import { findClosedThrottles } from './throttles.js'

/** A call of the SQL function `append` whose result is unknown. */
interface LostAttempt {
  readonly id: string
  readonly suffixes: readonly IdSuffix[]
  /** What it may have stored is later than this. */
  readonly since: Microseconds
  /** True if other processes may append the same drafts. */
  readonly isShared: boolean
  readonly retriedLater: AppendOptions['retriedLater']
}

export interface AppendRequest extends Pick<AppendOptions, 'since' | 'retriedLater'> {
  readonly drafts: readonly EventDraft[]
  /** As `performance.now()` counts. */
  readonly deadline: number
}

export interface SuppressedDraft {
  readonly draft: EventDraft
  /** How long the throttle stays closed. */
  readonly opensIn: Microseconds
}

export interface Appended {
  /** In the order of their drafts. */
  readonly stored: readonly StoredEvent[]
  /** In the order of the drafts. */
  readonly suppressed: readonly SuppressedDraft[]
  /** How many drafts were moved from the outbox. */
  readonly moved: number
}

const NOTHING: Appended = { stored: [], suppressed: [], moved: 0 }

/** Appends in single attempts, and recovers from earlier attempts whose result is unknown. */
export interface Appender {
  /** Takes the server's high-water mark and clock. */
  readonly synchronize: (state: Pick<SchemaState, 'highWater' | 'serverTime'>) => void
  /** True if the next attempt has to recover from a lost one. */
  hasLost(): boolean
  /**
   * One attempt. If it fails without a result, the next attempt recovers, whatever its drafts: drafts
   * that are given again are stored once; others are removed, unless they are in `retriedLater`.
   */
  attempt(client: PostgresPoolClient, request: AppendRequest): Promise<Appended>
}

/** The parameters after the drafts, each an array with an element per draft. */
function columnsOf(drafts: readonly EventDraft[]): unknown[] {
  const throttles = drafts.map((draft) => draft.throttle)
  const isThrottled = throttles.some((throttle) => throttle !== undefined)
  return [
    isThrottled ? throttles.map((throttle) => throttle?.key ?? null) : null,
    isThrottled ? throttles.map((throttle) => throttle && JSON.stringify(throttle.scope)) : null,
    isThrottled ? throttles.map((throttle) => throttle?.period ?? null) : null,
    drafts.some((draft) => draft.live) ? drafts.map((draft) => draft.live ?? false) : null,
  ]
}

type ResultArray<Element> = readonly (Element | null)[] | null

/** The events as the server stored them. */
function readStored(
  drafts: readonly EventDraft[],
  times: ResultArray<Microseconds>,
  attributes: ResultArray<string>,
): StoredEvent[] {
  return drafts.flatMap((draft, i) => {
    const time = times?.[i] ?? undefined
    return time === undefined ? [] : storedEvent(draft, time, attributes?.[i] ?? undefined)
  })
}

async function readRowType(client: PostgresPoolClient, { events }: Names): Promise<number> {
  const [row] = await ask(client, `SELECT ${quoteText(events)}::regtype::oid`)
  return Number(row![0])
}

/**
 * The suffixes of drafts that lost attempts may have stored although their calls were rejected; and
 * those of them that other processes may append too.
 */
function rejectedOf(
  earlier: readonly LostAttempt[],
  attempt: LostAttempt,
): [rejected: IdSuffix[], shared: IdSuffix[]] {
  const wanted = new Set(attempt.suffixes)
  const rejected = earlier.flatMap(({ suffixes, retriedLater }) =>
    suffixes.filter((suffix) => !wanted.has(suffix) && !retriedLater?.has(suffix)),
  )
  const unshared = new Set(earlier.flatMap(({ suffixes, isShared }) => (isShared ? [] : suffixes)))
  return [rejected, rejected.filter((suffix) => !unshared.has(suffix))]
}

/** Calls the SQL function; see schema/append-function.ts for its parameters and result. */
async function callFunction(
  client: PostgresPoolClient,
  names: Names,
  drafts: readonly EventDraft[],
  parameters: readonly unknown[],
): Promise<Appended & { readonly serverTime: Microseconds }> {
  const [row] = await ask(
    client,
    `SELECT to_json(times), to_json(opens_in), to_json(stored), server_time, moved
     FROM ${names.append}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    ...parameters,
  )
  const [times, opensIn, attributes, serverTime, moved] = row!
  const read = (json: string | null | undefined): unknown => JSON.parse(json ?? 'null')
  const periods = read(opensIn) as ResultArray<Microseconds>
  return {
    stored: readStored(
      drafts,
      read(times) as ResultArray<Microseconds>,
      read(attributes) as ResultArray<string>,
    ),
    suppressed: drafts.flatMap((draft, i) => (periods?.[i] ? { draft, opensIn: periods[i] } : [])),
    moved: Number(moved),
    serverTime: Number(serverTime),
  }
}

export function createAppender(log: PostgresLog): Appender {
  const { names, now } = log
  /** The server's clock minus `performance.now()`, or less. */
  let serverAhead: Microseconds = 0
  /** All events that are stored from now on are later than this. */
  let floor: Microseconds = 0
  let lost: LostAttempt[] = []
  /** The OID of the row type of `events`; it changes if the schema is created again. */
  let rowType: number | undefined

  const synchronize: Appender['synchronize'] = ({ highWater, serverTime }) => {
    floor = Math.max(floor, highWater)
    serverAhead = serverTime - performance.now() * 1000
  }

  /** Drafts whose throttles are certainly closed; none if a lost attempt may have closed them. */
  const findSuppressed = async (
    client: PostgresPoolClient,
    { drafts, since }: AppendRequest,
  ): Promise<Map<IdSuffix, Microseconds>> => {
    const throttled = drafts.filter((draft) => draft.throttle)
    if (throttled.length === 0 || lost.length > 0 || since !== undefined) return new Map()
    return findClosedThrottles(client, log, throttled)
  }

  /** What other processes have stored of the drafts. `append` itself looks for what own attempts have. */
  const findStored = async (
    client: PostgresPoolClient,
    { drafts, since }: AppendRequest,
  ): Promise<Partial<Recovered>> => {
    if (since === undefined) return {}
    return lost.length > 0 ? { since } : recover(client, log, drafts, since)
  }

  const callAppend = async (
    client: PostgresPoolClient,
    drafts: readonly EventDraft[],
    { deadline, retriedLater, since: sharedSince }: AppendRequest,
    { foundAt, since = Infinity }: Partial<Recovered>,
  ): Promise<Appended> => {
    rowType ??= await readRowType(client, names)
    const attempt: LostAttempt = {
      id: randomUUID(),
      suffixes: drafts.map((draft) => draft.suffix),
      // An event that was found may be older than `floor`.
      since: Math.min(floor, since, ...[...(foundAt?.values() ?? [])].map((time) => time - 1)),
      isShared: sharedSince !== undefined,
      retriedLater,
    }
    const earlier = lost
    // The attempt counts as lost until its result is known.
    lost = [...earlier, attempt]
    try {
      const appended = await callFunction(client, names, drafts, [
        draftRows(drafts, rowType, foundAt),
        ...columnsOf(drafts),
        now() ?? null,
        attempt.id,
        Math.floor(deadline * 1000 + serverAhead),
        earlier.map(({ id }) => id),
        earlier.length > 0 || since !== Infinity,
        Math.min(floor, since, ...earlier.map((one) => one.since)),
        ...rejectedOf(earlier, attempt),
      ])
      lost = lost.filter((one) => one !== attempt && !earlier.includes(one))
      const newest = appended.stored.at(-1)?.time ?? 0
      synchronize({ highWater: newest, serverTime: appended.serverTime })
      return appended
    } catch (error) {
      if (isStatementError(error)) lost = lost.filter((one) => one !== attempt)
      if (codeOf(error) === DATATYPE_MISMATCH) rowType = undefined
      throw error
    }
  }

  return {
    synchronize,
    hasLost: () => lost.length > 0,
    async attempt(client, request) {
      const { drafts } = request
      const closed = await findSuppressed(client, request)
      const found = await findStored(client, request)
      const passing = drafts.filter(({ suffix }) => !closed.has(suffix))
      const { stored, suppressed, moved } =
        drafts.length === 0 || passing.length > 0
          ? await callAppend(client, passing, request, found)
          : NOTHING
      for (const { draft, opensIn } of suppressed) closed.set(draft.suffix, opensIn)
      return {
        stored,
        suppressed: drafts.flatMap((draft) => {
          const opensIn = closed.get(draft.suffix)
          return opensIn === undefined ? [] : { draft, opensIn }
        }),
        moved,
      }
    },
  }
}
