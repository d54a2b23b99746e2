import { bodyJson } from '../event/body.js'
import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { LazyEvent } from '../event/lazy-event.js'
import { FORMATTED } from '../event/timestamp.js'
import { fromBase64 } from './base64.js'

/*
 * The entries of the tree. An entry is one line of text without a line break: a kind, a space and a JSON object. Their bytes are
 * frozen, as leaves are hashes of them: docs/reference/ledger-format.md.
 */

/** The stored JSON text of the attributes, also if a reader has parsed them since. */
const storedJson = (event: AuditEvent): string =>
  event instanceof LazyEvent
    ? event.withUnparsedAttributes().json
    : JSON.stringify(event.attributes)

/**
 * The part of an event that its salt hides: its export line without `id` and `created_at`. `json` is the stored JSON text of the
 * attributes, if the event does not have it.
 */
export const bodyOf = (event: AuditEvent, json = storedJson(event)): string => bodyJson(event, json)

/** `late` events became visible behind events that were already sealed. */
export type EventKind = 'event' | 'late'

/** The entry of an event. `body` is the base64 text of SHA-256 over the salt and the body. None of the three needs escapes in JSON. */
export const eventEntry = (
  kind: EventKind,
  { id, created_at }: Pick<AuditEvent, 'id' | 'created_at'>,
  body: string,
): string => `${kind} {"id":"${id}","created_at":"${created_at}","body":"${body}"}`

/** The first and the last of successive leaves. */
export type LeafRange = readonly [first: number, last: number]

/** The members of statements by their kind, in the order of their entries. Times are those of events; hashes are base64 text. */
export interface Statements {
  /** Events that were removed after this entry. */
  readonly removed: {
    /** The name of the cleaning rule, or null if the events were removed by their ids. */
    readonly rule: string | null
    /** The leaf of the `policy` that has the rule. */
    readonly policy: number | null
    /** The end of the time that the rule removes. */
    readonly cutoff: string | null
    readonly ranges: readonly LeafRange[]
    /** SHA-256 of the archive file that has the events. */
    readonly archive: string | null
  }
  /** Events that are in an archive file. */
  readonly archived: {
    /** SHA-256 of the file. */
    readonly file: string
    readonly ranges: readonly LeafRange[]
  }
  /** The cleaning rules and holds that apply from here on, as configured. */
  readonly policy: { readonly rules: readonly JsonValue[]; readonly holds: readonly JsonValue[] }
  /** Findings of a verification that somebody has explained. */
  readonly acknowledged: { readonly findings: readonly JsonObject[]; readonly reason: string }
  /** Time in which nothing was sealed although events waited. */
  readonly waited: { readonly from: string; readonly to: string }
  /** Events that were in the log before it had a ledger. */
  readonly adopted: { readonly ranges: readonly LeafRange[] }
  /** Imported events whose announcement was removed after this entry: its text `events`, which identifies them. */
  readonly imported: { readonly events: string }
  /** The first entry of a ledger. Events up to this time were in the log before. */
  readonly began: { readonly after: string }
  /** Live events that were open when the ledger passed their times. They become `late` when they close. */
  readonly opened: { readonly ids: readonly string[] }
  /** The first entry of a ledger that replaces another one, which the log no longer continues. */
  readonly continues: {
    /** The largest signed note of the other ledger. */
    readonly note: string
    /** The number of its leaves that were still found. */
    readonly size: number
    readonly reason: string
  }
}

export type StatementKind = keyof Statements

/** An entry that is no event: its kind, and the members of that kind. */
export type Statement = {
  [Kind in StatementKind]: { readonly kind: Kind } & Statements[Kind]
}[StatementKind]

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string' && value.isWellFormed()
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isTime: Check = (value) => typeof value === 'string' && FORMATTED.test(value)
const isHash: Check = (value) => typeof value === 'string' && fromBase64(value)?.length === 32
const isList: Check = (value) => Array.isArray(value)
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

/** Ascending, and apart from each other. */
const areRanges: Check = (value) => {
  if (!Array.isArray(value) || value.length === 0) return false
  let end = -2
  return value.every((range: unknown) => {
    if (!Array.isArray(range) || range.length !== 2 || !range.every(isCount)) return false
    const [first, last] = range as [number, number]
    const isNext = first > end + 1 && last >= first
    end = last
    return isNext
  })
}

const areIds: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'string')

const areObjects: Check = (value) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => one !== null && typeof one === 'object' && !Array.isArray(one))

const MEMBERS: {
  readonly [Kind in StatementKind]: { readonly [Name in keyof Statements[Kind]]: Check }
} = {
  removed: {
    rule: orNull(isText),
    policy: orNull(isCount),
    cutoff: orNull(isTime),
    ranges: areRanges,
    archive: orNull(isHash),
  },
  archived: { file: isHash, ranges: areRanges },
  policy: { rules: isList, holds: isList },
  acknowledged: { findings: areObjects, reason: isText },
  waited: { from: isTime, to: isTime },
  adopted: { ranges: areRanges },
  imported: { events: (value) => typeof value === 'string' && fromBase64(value) !== undefined },
  began: { after: isTime },
  opened: { ids: areIds },
  continues: { note: isText, size: isCount, reason: isText },
}

/** The entry of a statement. Throws `TypeError` for a statement that cannot be read back. */
export function statementEntry(statement: Statement): string {
  const checks = Object.entries<Check>(MEMBERS[statement.kind])
  const members = new Map<string, unknown>(Object.entries(statement))
  for (const [name, check] of checks)
    if (!check(members.get(name)))
      throw new TypeError(`${name} of the statement ${statement.kind} is not valid`)
  const json = JSON.stringify(Object.fromEntries(checks.map(([name]) => [name, members.get(name)])))
  return `${statement.kind} ${json}`
}

/** Reads an entry. `undefined` if it is not exactly what {@link statementEntry} writes. */
export function readStatement(entry: string): Statement | undefined {
  const [, kind = '', json = ''] = /^([a-z]+) (\{.*\})$/s.exec(entry) ?? []
  if (!Object.hasOwn(MEMBERS, kind)) return undefined
  try {
    const statement = { ...(JSON.parse(json) as object), kind } as Statement
    return statementEntry(statement) === entry ? statement : undefined
  } catch {
    return undefined
  }
}
