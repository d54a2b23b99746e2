import { SERVER_TIME } from '../schema/server.js'
import { randomUUID } from 'node:crypto'
import type { EventDraft } from '../../../src/event/event.js'
import type { IdSuffix } from '../../../src/event/event-id.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, isUnconfirmed, type PostgresPoolClient } from '../connection/client.js'
import { confirmCommits } from '../connection/commits.js'
import { unconfirmedError } from '../connection/connection.js'
import {
  type Appended,
  type Called,
  callFunction,
  columnsOf,
  readRowType,
  type SuppressedDraft,
} from './append-call.js'
import { draftRows } from './draft-rows.js'
import { codeOf, DATATYPE_MISMATCH, isStatementError } from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { hasLedgerSql } from '../schema/ledger.js'
import { createLostAttempts, type LostAttempt, recoveryParameters } from './lost-attempts.js'
import { recover, type Recovered } from './recover.js'
import type { Names } from '../schema/names.js'
import type { SchemaState } from '../schema/schema.js'
import { findClosedThrottles } from './throttles.js'

export interface AppendRequest extends Pick<AppendOptions, 'since' | 'retriedLater'> {
  readonly drafts: readonly EventDraft[]
  /** As `performance.now()` counts. */
  readonly deadline: number
}

const NOTHING: Appended = { stored: [], suppressed: [], moved: 0, hasListeners: false }

/** Called with the number of events that became visible, and whether processes may listen for notifications. */
export type OnVisible = (events: number, hasListeners: boolean) => void

type ServerState = Pick<SchemaState, 'highWater' | 'serverTime' | 'hasLedger'>

/** Makes single attempts to store drafts, and recovers from earlier ones whose result is unknown. */
export interface Attempts {
  /** Takes the high-water mark and clock of a server, which may be another one than before. */
  readonly adopt: (state: ServerState) => void
  /** Takes the latest high-water mark and clock of the server; true if the outbox is not empty. */
  synchronize(signal: AbortSignal): Promise<boolean>
  /** True if the next attempt has to recover from a lost one. */
  hasLost(): boolean
  /** How many drafts lost attempts may have stored although their calls were rejected, once all calls are settled. */
  lostDrafts(): number
  /** True if a lost attempt may have stored some of the drafts in a log with a ledger, where they stay although their calls are rejected. */
  mayStay(drafts: readonly EventDraft[]): boolean
  /**
   * Makes one attempt. If its outcome is unknown, the next attempt recovers: a draft of the lost attempt
   * that is passed again is stored only once; any other is removed, unless it is in `retriedLater`.
   */
  run(request: AppendRequest, signal: AbortSignal): Promise<Appended>
  /** Milliseconds since an attempt last moved the outbox. */
  idleMs(): number
}

/** How long the throttles of drafts stay closed, by suffix. */
type ClosedThrottles = Map<IdSuffix, Microseconds>

/** The throttles that are certainly closed; none if a lost attempt may have closed them. */
async function findClosed(
  client: PostgresPoolClient,
  log: PostgresLog,
  { drafts, since }: AppendRequest,
  hasLost: boolean,
): Promise<ClosedThrottles> {
  const throttled = drafts.filter((draft) => draft.throttle)
  if (throttled.length === 0 || hasLost || since !== undefined) return new Map()
  return findClosedThrottles(client, log, throttled)
}

/** The drafts that other processes have stored. The SQL function `append` looks for drafts that attempts of this process have stored. */
async function findStored(
  client: PostgresPoolClient,
  log: PostgresLog,
  { drafts, since }: AppendRequest,
  hasLost: boolean,
): Promise<Partial<Recovered>> {
  if (since === undefined) return {}
  return hasLost ? { since } : recover(client, log, drafts, since)
}

/** The drafts whose throttles are closed. */
const suppressedOf = (drafts: readonly EventDraft[], closed: ClosedThrottles): SuppressedDraft[] =>
  drafts.flatMap((draft) => {
    const opensIn = closed.get(draft.suffix)
    return opensIn === undefined ? [] : { draft, opensIn }
  })

/** `since` is a time before any event that the attempt may store or has found. */
const newAttempt = (
  drafts: readonly EventDraft[],
  request: AppendRequest,
  since: Microseconds,
): LostAttempt => ({
  id: randomUUID(),
  suffixes: drafts.map((draft) => draft.suffix),
  since,
  isShared: request.since !== undefined,
  retriedLater: request.retriedLater,
  isKept: false,
})

/** A time before any event that an attempt may store or has found; one that was found may be older than `floor`. */
const timeBefore = (
  floor: Microseconds,
  { foundAt, since = Infinity }: Partial<Recovered>,
): Microseconds =>
  Math.min(floor, since, ...Array.from(foundAt?.values() ?? [], (time) => time - 1))

/** Resolves once the events of the attempt are durable; rejects with `OUTCOME_UNKNOWN` if that is not known. */
async function confirmAttempt(
  client: PostgresPoolClient,
  attempt: LostAttempt,
  durable: Promise<void>,
): Promise<void> {
  let cause: unknown
  // From now on the outcome of a call that ends is unknown. The next attempt finds the events, and its commit confirms both.
  attempt.isKept = true
  try {
    await durable
    if (!isUnconfirmed(client)) return
  } catch (error) {
    cause = error
  }
  throw unconfirmedError(cause)
}

type CallAppend = (
  client: PostgresPoolClient,
  drafts: readonly EventDraft[],
  request: AppendRequest,
  found: Partial<Recovered>,
) => Promise<Appended>

/** Appends the drafts whose throttles may be open. A draft counts as suppressed once the event that closes its throttle is durable. */
async function appendPassing(
  client: PostgresPoolClient,
  log: PostgresLog,
  request: AppendRequest,
  { hasLost, callAppend }: { readonly hasLost: boolean; readonly callAppend: CallAppend },
): Promise<Appended> {
  const { drafts } = request
  const closed = await findClosed(client, log, request, hasLost)
  const found = await findStored(client, log, request, hasLost)
  const passing = drafts.filter(({ suffix }) => !closed.has(suffix))
  const isNeeded = drafts.length === 0 || passing.length > 0
  const { suppressed, ...appended } = isNeeded
    ? await callAppend(client, passing, request, found)
    : NOTHING
  if (!isNeeded) await confirmCommits(client)
  for (const { draft, opensIn } of suppressed) closed.set(draft.suffix, opensIn)
  return { ...appended, suppressed: suppressedOf(drafts, closed) }
}

async function readServerState(
  client: PostgresPoolClient,
  names: Names,
): Promise<ServerState & { readonly hasOutboxDrafts: boolean }> {
  const { highWater, outbox } = names
  const [row] = await ask(
    client,
    `SELECT last_value, ${SERVER_TIME},
       EXISTS (SELECT FROM ${outbox}), ${hasLedgerSql(names)} FROM ${highWater}`,
  )
  return {
    highWater: Number(row![0]),
    serverTime: Number(row![1]),
    hasOutboxDrafts: row![2] === 't',
    hasLedger: row![3] === 't',
  }
}

/** `onVisible` is called when an attempt has made events visible. */
export function createAttempts(log: PostgresLog, onVisible: OnVisible): Attempts {
  const { names, now } = log
  const lost = createLostAttempts()
  /** The server's clock minus `performance.now()`, or less. */
  let serverAhead: Microseconds = 0
  /** All events that are stored from now on are later than this. */
  let floor: Microseconds = 0
  /** The OID of the row type of `events`; it changes if the schema is created again. */
  let rowType: number | undefined

  let hasLedger = false
  let lastMove = -Infinity

  const note = ({ highWater, serverTime, ...state }: ServerState): void => {
    hasLedger = state.hasLedger
    floor = Math.max(floor, highWater)
    serverAhead = serverTime - performance.now() * 1000
    log.noteServerTime(serverTime)
  }

  const callAppend: CallAppend = async (client, drafts, request, found) => {
    rowType ??= await readRowType(client, names)
    const attempt = newAttempt(drafts, request, timeBefore(floor, found))
    // The attempt counts as lost until its result is known.
    const earlier = lost.add(attempt)
    let called: Called
    try {
      called = await callFunction(client, names, drafts, [
        draftRows(drafts, rowType, found.foundAt),
        ...columnsOf(drafts),
        now() ?? null,
        attempt.id,
        Math.floor(request.deadline * 1000 + serverAhead),
        ...recoveryParameters(earlier, attempt, floor, found.since),
      ])
    } catch (error) {
      if (isStatementError(error)) lost.remove([attempt])
      if (codeOf(error) === DATATYPE_MISMATCH) rowType = undefined
      throw error
    }
    const { durable, ...appended } = called
    await confirmAttempt(client, attempt, durable)
    lost.remove([...earlier, attempt])
    // Only now: a crash of the server may remove events that are not durable, and lower the high-water mark.
    const newest = appended.stored.at(-1)?.time ?? 0
    log.durability.note(newest)
    note({ ...appended, highWater: newest })
    return appended
  }

  return {
    adopt(state) {
      floor = state.highWater
      rowType = undefined
      note(state)
    },
    async synchronize(signal) {
      const { hasOutboxDrafts, ...state } = await log.use(signal, (client) =>
        readServerState(client, names),
      )
      note(state)
      return hasOutboxDrafts
    },
    hasLost: () => !lost.isEmpty(),
    lostDrafts: () => lost.rejected(),
    mayStay: (drafts) => hasLedger && lost.mayHave(drafts.map(({ suffix }) => suffix)),
    async run(request, signal) {
      const attempt = (client: PostgresPoolClient): Promise<Appended> =>
        appendPassing(client, log, request, { hasLost: !lost.isEmpty(), callAppend })
      // An attempt that the server has begun is awaited until its deadline, after which it stores nothing.
      const appended = await log.use(signal, attempt, request.deadline)
      const visible = appended.stored.length + appended.moved
      // A call whose drafts are all suppressed does not move the outbox.
      if (visible > 0 || request.drafts.length === 0) lastMove = performance.now()
      if (visible > 0) onVisible(visible, appended.hasListeners)
      return appended
    },
    idleMs: () => performance.now() - lastMove,
  }
}
