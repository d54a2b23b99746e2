import type { EventDraft } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import { askAndCommit, TRANSACTION } from '../connection/commits.js'
import { hasLedgerSql } from '../schema/ledger.js'
import { type Names, quoteText } from '../schema/names.js'
import { type StoredEvent, storedEvent } from './recover.js'

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
  /** True if processes may listen for notifications. */
  readonly hasListeners: boolean
}

/** The parameters from `_throttles` to `_live`, each an array with an element per draft. */
export function columnsOf(drafts: readonly EventDraft[]): unknown[] {
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

/** The OID of the row type of `events`. */
export async function readRowType(client: PostgresPoolClient, { events }: Names): Promise<number> {
  const [row] = await ask(client, `SELECT ${quoteText(events)}::regtype::oid`)
  return Number(row![0])
}

/** The result of a call of the function, and a promise that resolves once it is durable. */
export interface Called extends Appended {
  readonly serverTime: Microseconds
  readonly hasLedger: boolean
  readonly durable: Promise<void>
}

/** Calls the SQL function; see schema/append-function.ts for its parameters and result. */
export async function callFunction(
  client: PostgresPoolClient,
  names: Names,
  drafts: readonly EventDraft[],
  parameters: readonly unknown[],
): Promise<Called> {
  const { rows, durable } = await askAndCommit(
    client,
    'append',
    (durability) =>
      `SELECT ${TRANSACTION}, first_time, pg_catalog.to_json(times), pg_catalog.to_json(opens_in),
         pg_catalog.to_json(stored), server_time, moved, has_listeners, ${hasLedgerSql(names)}, ${durability}
       FROM ${names.append}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    ...parameters,
  )
  const [, first, times, opensIn, attributes, serverTime, moved, hasListeners, hasLedger] = rows[0]!
  const common = {
    durable,
    moved: Number(moved),
    serverTime: Number(serverTime),
    hasListeners: hasListeners === 't',
    hasLedger: hasLedger === 't',
  }
  if (first !== null) {
    const stored = drafts.map((draft, i) => storedEvent(draft, Number(first) + i))
    return { ...common, stored, suppressed: [] }
  }
  const read = (json: string | null | undefined): unknown => JSON.parse(json ?? 'null')
  const periods = read(opensIn) as ResultArray<Microseconds>
  return {
    ...common,
    stored: readStored(
      drafts,
      read(times) as ResultArray<Microseconds>,
      read(attributes) as ResultArray<string>,
    ),
    suppressed: drafts.flatMap((draft, i) => (periods?.[i] ? { draft, opensIn: periods[i] } : [])),
  }
}
