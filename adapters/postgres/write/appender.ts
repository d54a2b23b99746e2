import { randomUUID } from 'node:crypto'
import type { EventDraft } from '../../../src/event/event.js'
import type { IdTail } from '../../../src/event/event-id.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import { draftRows } from './draft-rows.js'
import { codeOf, DATATYPE_MISMATCH, isAnswer } from '../connection/failures.js'
import { type Names, quoteText } from '../schema/names.js'
import { type KeptEvent, keptEvent, recover, type Recovered } from './recover.js'
import type { SchemaState } from '../schema/schema.js'
import { findClosed } from './throttles.js'

/** A call of the server's `append` whose answer did not come. */
interface LostAttempt {
  readonly id: string
  readonly tails: readonly IdTail[]
  /** What it may have kept is later than this. */
  readonly since: Microseconds
  /** Other processes may append the same drafts. */
  readonly isShared: boolean
  readonly comingAgain: AppendOptions['retriedLater']
}

/** What to append, and how. */
export interface AppendRequest {
  readonly drafts: readonly EventDraft[]
  /** On the scale of `performance.now()`. */
  readonly deadline: number
  /** See `AppendOptions`. */
  readonly since?: AppendOptions['since']
  readonly comingAgain?: AppendOptions['retriedLater']
}

export interface HeldBackDraft {
  readonly draft: EventDraft
  readonly opensIn: Microseconds
}

export interface Appended {
  /** In the order of their drafts, as are those that were held back. */
  readonly kept: readonly KeptEvent[]
  readonly heldBack: readonly HeldBackDraft[]
  /** How many drafts came from the outbox. */
  readonly moved: number
}

const NOTHING: Appended = { kept: [], heldBack: [], moved: 0 }

/** Appends, one attempt after the other, and knows what earlier ones may have left behind. */
export interface Appender {
  /** What the server told when it was asked for the first time, or lately. */
  readonly synchronize: (state: Pick<SchemaState, 'highWater' | 'serverTime'>) => void
  /** True where there is something that the next attempt has to clear up. */
  hasLost(): boolean
  /**
   * One attempt. Once it has failed without an answer, the next one, with whatever drafts, makes
   * good: drafts that are given again are kept once, others not at all, unless they come again later.
   */
  attempt(client: PostgresPoolClient, request: AppendRequest): Promise<Appended>
}

/** One array for each parameter behind the rows. */
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

type Listed<Element> = readonly (Element | null)[] | null

/** The events as the server has kept them. */
function readKept(
  drafts: readonly EventDraft[],
  times: Listed<Microseconds>,
  stored: Listed<string>,
): KeptEvent[] {
  return drafts.flatMap((draft, i) => {
    const time = times?.[i] ?? undefined
    return time === undefined ? [] : keptEvent(draft, time, stored?.[i] ?? undefined)
  })
}

export function createAppender(names: Names, now: () => Microseconds | undefined): Appender {
  /** The server's clock is at least so far ahead of `performance.now()`. */
  let serverAhead: Microseconds = 0
  /** Every later event comes after it. */
  let floor: Microseconds = 0
  let lost: LostAttempt[] = []
  /** The server's number for the type of the rows; another one once the schema is made anew. */
  let rowType: number | undefined

  const rowTypeOf = async (client: PostgresPoolClient): Promise<number> => {
    const [row] = await ask(client, `SELECT ${quoteText(names.events)}::regtype::oid`)
    return Number(row![0])
  }

  const synchronize: Appender['synchronize'] = ({ highWater, serverTime }) => {
    floor = Math.max(floor, highWater)
    serverAhead = serverTime - performance.now() * 1000
  }

  /** Those that are surely held back; none where one of them may have closed its own throttle. */
  const findHeldBack = async (
    client: PostgresPoolClient,
    { drafts, since }: AppendRequest,
  ): Promise<Map<IdTail, Microseconds>> => {
    const throttled = drafts.filter((draft) => draft.throttle)
    if (throttled.length === 0 || lost.length > 0 || since !== undefined) return new Map()
    return findClosed(client, names, throttled, now())
  }

  /** What others have had kept of the drafts; an attempt of our own that got lost is looked for by the next. */
  const findKept = async (
    client: PostgresPoolClient,
    { drafts, since }: AppendRequest,
  ): Promise<Partial<Recovered>> => {
    if (since === undefined) return {}
    return lost.length > 0 ? { since } : recover(client, names, drafts, since)
  }

  const callAppend = async (
    client: PostgresPoolClient,
    drafts: readonly EventDraft[],
    { deadline, comingAgain, since: sharedSince }: AppendRequest,
    { foundAt, since = Infinity }: Partial<Recovered>,
  ): Promise<Appended> => {
    const rows = draftRows(drafts, (rowType ??= await rowTypeOf(client)), foundAt)
    const attempt: LostAttempt = {
      id: randomUUID(),
      tails: drafts.map((draft) => draft.tail),
      // What was found may be older than what this process has stored since.
      since: Math.min(floor, since, ...[...(foundAt?.values() ?? [])].map((time) => time - 1)),
      isShared: sharedSince !== undefined,
      comingAgain,
    }
    const earlier = lost
    const wanted = new Set(attempt.tails)
    const forgotten = earlier.flatMap(({ tails, comingAgain: later }) =>
      tails.filter((tail) => !wanted.has(tail) && !later?.has(tail)),
    )
    const unshared = new Set(earlier.flatMap(({ tails, isShared }) => (isShared ? [] : tails)))
    // Until the answer is there it counts as lost.
    lost = [...earlier, attempt]
    try {
      const [row] = await ask(
        client,
        `SELECT to_json(times), to_json(opens_in), to_json(stored), server_time, moved
         FROM ${names.append}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        rows,
        ...columnsOf(drafts),
        now() ?? null,
        attempt.id,
        Math.floor(deadline * 1000 + serverAhead),
        earlier.map(({ id }) => id),
        earlier.length > 0 || since !== Infinity,
        Math.min(floor, since, ...earlier.map((one) => one.since)),
        forgotten,
        forgotten.filter((tail) => !unshared.has(tail)),
      )
      const [times, opensIn, stored, serverTime, moved] = row!
      const read = (json: string | null | undefined): unknown => JSON.parse(json ?? 'null')
      const kept = readKept(drafts, read(times) as Listed<number>, read(stored) as Listed<string>)
      const periods = read(opensIn) as Listed<number>
      lost = lost.filter((one) => one !== attempt && !earlier.includes(one))
      synchronize({ highWater: kept.at(-1)?.time ?? 0, serverTime: Number(serverTime) })
      return {
        kept,
        heldBack: drafts.flatMap((draft, i) =>
          periods?.[i] ? { draft, opensIn: periods[i] } : [],
        ),
        moved: Number(moved),
      }
    } catch (error) {
      if (isAnswer(error)) lost = lost.filter((one) => one !== attempt)
      if (codeOf(error) === DATATYPE_MISMATCH) rowType = undefined
      throw error
    }
  }

  return {
    synchronize,
    hasLost: () => lost.length > 0,
    async attempt(client, request) {
      const { drafts } = request
      const closed = await findHeldBack(client, request)
      const found = await findKept(client, request)
      const passing = drafts.filter(({ tail }) => !closed.has(tail))
      const { kept, heldBack, moved } =
        drafts.length === 0 || passing.length > 0
          ? await callAppend(client, passing, request, found)
          : NOTHING
      for (const { draft, opensIn } of heldBack) closed.set(draft.tail, opensIn)
      return {
        kept,
        heldBack: drafts.flatMap((draft) => {
          const opensIn = closed.get(draft.tail)
          return opensIn === undefined ? [] : { draft, opensIn }
        }),
        moved,
      }
    },
  }
}
