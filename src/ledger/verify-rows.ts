import type { AuditEvent } from '../event/event.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import {
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerStatement,
  type LedgerStore,
  type SealedEvent,
} from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { toBase64 } from './base64.js'
import { splitHashes } from './edge.js'
import { type EventKind, readStatement } from './entry.js'
import { addAnnounced } from './imports.js'
import { eventLeaf, hasSalt, saltAt, saltsOf } from './leaf.js'
import { type Place, readPlaces } from './places.js'
import { lastTime } from './rows.js'
import { leafHash } from './tree.js'
import type { LedgerFinding } from './verification.js'
import { areEqual } from './web-crypto.js'

/* Compares the leaves of a row with the events and statements that the log has. */

/** A finding about one leaf, and the hash of what the log has now, if it has something. */
export interface LeafFinding {
  readonly finding: LedgerFinding
  readonly leaf: number
  readonly computed: Uint8Array | undefined
  /** True if the leaf is a statement. */
  readonly isStatement?: boolean
}

/** A sealed event that became visible behind others. */
export interface SealedLate {
  readonly id: string
  readonly time: Microseconds
  readonly leaf: number
}

export interface ClaimedEvent extends SealedEvent {
  readonly leaf: number
}

/** The results of all rows that were compared. */
export interface Gathered {
  /** Events between the sealed ones that have no leaf. */
  readonly extra: SealedEvent[]
  /** Events between the sealed ones that have a leaf elsewhere, as the tables say. */
  readonly claimed: ClaimedEvent[]
  readonly late: SealedLate[]
  /** Times of events that are there and have late leaves, also if they were changed. */
  readonly lateTimes: Set<Microseconds>
  /** Times of late events whose leaves the ledger has lost, although they match. */
  readonly misplaced: Set<Microseconds>
  /** Ids of live events that were open when the ledger passed their times. */
  readonly opened: Set<string>
  /** The imports that sealed events announce: see imports.ts. */
  readonly announced: Set<string>
  /** Number of events that match their leaves. */
  events: number
  /** Number of events that are missing as signed statements say. */
  removed: number
  /** Number of events that match their leaves although their removal is signed. */
  pending: number
}

export interface CheckedRow {
  /** The hashes of the leaves as the row has them. */
  readonly hashes: readonly Uint8Array[]
  readonly findings: readonly LeafFinding[]
  /** False if the row has lost the places of its leaves, or they were not compared. */
  readonly isKnown: boolean
  /** Time up to which events are sealed in order. */
  readonly last: Microseconds
}

export interface RowToCheck {
  readonly row: LeafRow
  /** Number of leaves to compare. */
  readonly count: number
  /** Time up to which the rows before seal events in order. */
  readonly after: Microseconds
  /** Time before the events of the next row, in case that this row does not know. */
  readonly before: Microseconds
  /** True for a leaf whose event was removed by a signed statement. */
  readonly isRemoved: (leaf: number) => boolean
}

/** Events that are read at once. */
const PAGE = 512
/** If more events of a row than this are there and none matches, the salts of the row are other ones. */
const MAX_CHANGED = 8
/** The most hashes that are tried to find out which leaf belongs to which event. */
const MAX_TRIALS = 100_000

/** True if the row has the shape that the sealer gives it. */
function isWellFormed({ row, count, after }: RowToCheck, places: readonly Place[]): boolean {
  const last = lastTime(places, after)
  const total = row.hashes.length / 32
  return row.after === after && row.last === last && places.length === total && total >= count
}

/** The events after `after` and up to `to`, in pages. */
export async function* eventsBetween(
  ledger: LedgerStore,
  after: Microseconds,
  to: Microseconds,
  options: WaitOptions,
): AsyncGenerator<readonly SealedEvent[], void> {
  for (let from = after + 1; from <= to;) {
    const events = await ledger.events({ from, to, limit: PAGE }, options)
    yield events
    if (events.length < PAGE) return
    from = events.at(-1)!.time + 1
  }
}

/** The leaves and events of one row while they are compared. */
interface Matching {
  readonly hashes: readonly Uint8Array[]
  readonly salts: Uint8Array
  /** The leaves that match something. */
  readonly matched: Set<number>
}

function isLeafOf(
  { hashes, salts }: Matching,
  leaf: number,
  kind: EventKind,
  event: AuditEvent,
): boolean {
  const hash = hashes[leaf]
  return hash !== undefined && areEqual(hash, eventLeaf(kind, event, saltAt(salts, leaf)))
}

/** The leaf and kind of an event that is not at its place. */
function findLeaf(
  matching: Matching,
  leaves: readonly number[],
  { event }: SealedEvent,
): { readonly leaf: number; readonly kind: EventKind } | undefined {
  if (!event) return undefined
  for (const leaf of leaves)
    for (const kind of ['event', 'late'] as const)
      if (!matching.matched.has(leaf) && isLeafOf(matching, leaf, kind, event))
        return { leaf, kind }
  return undefined
}

/** True if the hash is that of the statement. */
export const isEntryOf = (hash: Uint8Array | undefined, { entry }: LedgerStatement): boolean =>
  hash !== undefined && areEqual(hash, leafHash(entry))

/** Gathers the live events that were open, from statements that match the hashes of their leaves. `first` is the leaf of the first hash. */
function gatherOpened(
  { opened }: Gathered,
  hashes: readonly Uint8Array[],
  first: number,
  texts: readonly LedgerStatement[],
): void {
  for (const one of texts) {
    const statement = isEntryOf(hashes[one.leaf - first], one)
      ? readStatement(one.entry)
      : undefined
    if (statement?.kind === 'opened') for (const id of statement.ids) opened.add(id)
  }
}

/** Splits events by whether the tables have leaves for them. */
async function splitByLeaf(
  ledger: LedgerStore,
  events: readonly SealedEvent[],
  options: WaitOptions,
): Promise<{ readonly extra: readonly SealedEvent[]; readonly claimed: readonly ClaimedEvent[] }> {
  const times = events.map(({ time }) => time)
  const leaves = await ledger.leavesOf(times, options)
  return {
    extra: events.filter((_, i) => leaves[i] === undefined),
    claimed: events.flatMap((one, i) => {
      const leaf = leaves[i]
      return leaf === undefined ? [] : [{ ...one, leaf }]
    }),
  }
}

/** Gathers the events of a range of time in which no event should be left. */
export async function gatherBetween(
  ledger: LedgerStore,
  gathered: Gathered,
  { after, to }: { readonly after: Microseconds; readonly to: Microseconds },
  options: WaitOptions,
): Promise<void> {
  for await (const page of eventsBetween(ledger, after, to, options)) {
    const { extra, claimed } = await splitByLeaf(ledger, page, options)
    gathered.extra.push(...extra)
    gathered.claimed.push(...claimed)
  }
}

/** A row while its leaves are compared. Leaves are numbered from the first of the row. */
interface RowCheck extends Matching {
  readonly first: number
  readonly count: number
  readonly isKnown: boolean
  readonly last: Microseconds
  /** Empty if the row has lost them. */
  readonly places: readonly Place[]
  readonly texts: readonly LedgerStatement[]
  /** The events at the times of leaves that do not match them. */
  readonly different: Map<number, SealedEvent>
  readonly late: SealedLate[]
  readonly findings: LeafFinding[]
  /** True for a leaf whose event was removed by a signed statement. */
  readonly isGone: (leaf: number) => boolean
  /** The seed or the salts of the row. */
  readonly kept: Uint8Array
  events: number
  removed: number
}

function beginCheck(given: RowToCheck, texts: readonly LedgerStatement[]): RowCheck {
  const { row, count, after } = given
  const all = readPlaces(row)
  const isKnown = isWellFormed(given, all)
  const places = isKnown ? all.slice(0, count) : []
  const check: RowCheck = {
    first: row.row * LEAVES_PER_ROW,
    count,
    isKnown,
    places,
    last: isKnown ? lastTime(places, after) : given.before,
    hashes: splitHashes(row.hashes).slice(0, count),
    salts: saltsOf(row.seed),
    matched: new Set(),
    texts,
    different: new Map(),
    late: [],
    findings: [],
    isGone: (leaf) => given.isRemoved(row.row * LEAVES_PER_ROW + leaf),
    kept: row.seed,
    events: 0,
    removed: 0,
  }
  for (const one of texts) {
    const leaf = one.leaf - check.first
    if (isEntryOf(check.hashes[leaf], one)) check.matched.add(leaf)
  }
  return check
}

function noteMatch(
  check: RowCheck,
  leaf: number,
  kind: EventKind,
  { event, time }: SealedEvent,
): void {
  check.matched.add(leaf)
  check.events += 1
  if (kind === 'late') check.late.push({ id: event!.id, time, leaf: check.first + leaf })
}

function compare(check: RowCheck, leaf: number, kind: EventKind, one: SealedEvent): void {
  if (one.event && isLeafOf(check, leaf, kind, one.event)) noteMatch(check, leaf, kind, one)
  else check.different.set(leaf, one)
}

/** Compares the events at the times of the leaves. Returns the events between them. */
async function compareEvents(
  ledger: LedgerStore,
  check: RowCheck,
  { after, gathered }: { readonly after: Microseconds; readonly gathered: Gathered },
  options: WaitOptions,
): Promise<SealedEvent[]> {
  const others: SealedEvent[] = []
  const leafAt = new Map<Microseconds, number>()
  for (const [leaf, place] of check.places.entries())
    if (place.kind !== 'statement') leafAt.set(place.time, leaf)
  for await (const page of eventsBetween(ledger, after, check.last, options))
    for (const one of page) {
      if (one.event) addAnnounced(gathered.announced, one.event)
      const leaf = leafAt.get(one.time)
      if (leaf === undefined) others.push(one)
      else if (check.places[leaf]!.kind === 'event') compare(check, leaf, 'event', one)
    }
  for (const [leaf, place] of check.places.entries()) {
    if (place.kind !== 'late') continue
    const { time } = place
    const [one] = await ledger.events({ from: time, to: time, limit: 1 }, options)
    if (!one) continue
    gathered.lateTimes.add(time)
    compare(check, leaf, 'late', one)
  }
  return others
}

/**
 * Takes the events whose salts were forgotten when they were removed: they were put back. What they have is not compared with their
 * leaves, which nothing can be compared with any more.
 */
function takePutBack({ different, isGone, kept }: RowCheck): SealedEvent[] {
  const taken = Array.from(different).filter(([leaf]) => isGone(leaf) && !hasSalt(kept, leaf))
  for (const [leaf] of taken) different.delete(leaf)
  return taken.map(([, one]) => one)
}

/** The leaves that match nothing so far. */
const openLeaves = ({ count, matched }: RowCheck): number[] =>
  Array.from({ length: count }, (_, leaf) => leaf).filter((leaf) => !matched.has(leaf))

/** Finds events whose leaves have other places in the row. Returns these events. */
function matchElsewhere(
  check: RowCheck,
  unknown: readonly SealedEvent[],
): ReadonlySet<SealedEvent> {
  const found = new Set<SealedEvent>()
  const candidates = [...unknown, ...check.different.values()]
  if (candidates.length === 0) return found
  const open = openLeaves(check)
  if (open.length * candidates.length > MAX_TRIALS) return found
  for (const one of candidates) {
    const match = findLeaf(check, open, one)
    if (!match) continue
    noteMatch(check, match.leaf, match.kind, one)
    found.add(one)
    const reason = `the ledger has lost the place of event ${one.event!.id}`
    if (check.isKnown) noteLoss(check, match.leaf, reason)
  }
  return found
}

function noteLoss({ first, findings }: RowCheck, leaf: number, reason: string): void {
  const leaves = [first + leaf, first + leaf] as const
  findings.push({ leaf, computed: undefined, finding: { kind: 'ledger', leaves, reason } })
}

/** Adds the findings about the leaves that match nothing. */
function noteOpen(check: RowCheck, found: ReadonlySet<SealedEvent>): void {
  const { first, count, findings, different, places, texts, salts, events } = check
  if (!check.isKnown) {
    const last = first + count - 1
    const reason = `the ledger has lost the places of leaves ${first} to ${last}; ${openLeaves(check).length} of them match nothing`
    findings.push({
      leaf: 0,
      computed: undefined,
      finding: { kind: 'ledger', leaves: [first, last], reason },
    })
    return
  }
  const unsalted: number[] = []
  const isUnsalted = events === 0 && different.size > MAX_CHANGED
  for (const leaf of openLeaves(check)) {
    const there = different.get(leaf)
    const one = there && !found.has(there) ? there : undefined
    if (!one && check.isGone(leaf)) {
      check.removed += 1
      continue
    }
    if (one && (isUnsalted || !hasSalt(check.kept, leaf))) {
      unsalted.push(first + leaf)
      continue
    }
    const place = places[leaf]!
    const text = texts.find((one) => one.leaf === first + leaf)?.entry
    const salt = saltAt(salts, leaf)
    const hash = text === undefined ? undefined : leafHash(text)
    const computed =
      place.kind === 'statement' ? hash : one?.event && eventLeaf(place.kind, one.event, salt)
    const finding = withFound(findingOf(first + leaf, place, one, text), computed)
    findings.push({ leaf, computed, finding, isStatement: place.kind === 'statement' })
  }
  if (unsalted.length > 0) findings.push(lostSalts(unsalted))
}

function lostSalts(leaves: readonly number[]): LeafFinding {
  const [from, to] = [leaves[0]!, leaves.at(-1)!]
  const reason = `the ledger has lost the salts of ${leaves.length} of the leaves ${from} to ${to}; their events cannot be checked`
  const finding = { kind: 'ledger', leaves: [from, to], reason } as const
  return { leaf: from % LEAVES_PER_ROW, computed: undefined, finding }
}

/** Compares one row, and gathers what it finds. Reads only the events that it seals, and those between them. */
export async function checkRow(
  ledger: LedgerStore,
  given: RowToCheck,
  gathered: Gathered,
  options: WaitOptions,
): Promise<CheckedRow> {
  const { row, after, count } = given
  const first = row.row * LEAVES_PER_ROW
  const texts = await ledger.statements(first, first + count, options)
  const check = beginCheck(given, texts)
  const others = await compareEvents(ledger, check, { after, gathered }, options)
  // Late events of other rows may stand between the events of this one.
  const { extra, claimed } = await splitByLeaf(ledger, others, options)
  const putBack = takePutBack(check)
  gathered.pending += Array.from(check.matched).filter(check.isGone).length
  const found = matchElsewhere(check, extra)
  const { hashes, findings, isKnown, late, last } = check
  const times = late.map(({ time }) => time)
  const leaves = await ledger.leavesOf(times, options)
  for (const [i, { id, time, leaf }] of late.entries()) {
    // The place of an event that is about to be removed may be gone by now.
    if (leaves[i] === leaf || given.isRemoved(leaf)) continue
    noteLoss(check, leaf - first, `the ledger has lost the leaf of the late event ${id}`)
    gathered.misplaced.add(time)
  }
  noteOpen(check, found)
  gatherOpened(gathered, hashes, first, texts)
  gathered.extra.push(...extra.filter((one) => !found.has(one)), ...putBack)
  gathered.claimed.push(...claimed)
  gathered.late.push(...late)
  gathered.events += check.events
  gathered.removed += check.removed
  return { hashes, findings, isKnown, last }
}

/** Gathers from a row only what later rows need. */
export async function skipRow(
  ledger: LedgerStore,
  { row, count }: Pick<RowToCheck, 'row' | 'count'>,
  gathered: Gathered,
  options: WaitOptions,
): Promise<CheckedRow> {
  const hashes = splitHashes(row.hashes)
  const first = row.row * LEAVES_PER_ROW
  gatherOpened(gathered, hashes, first, await ledger.statements(first, first + count, options))
  return { hashes, findings: [], isKnown: false, last: row.last }
}

/** The finding about a leaf that matches nothing. */
function findingOf(
  leaf: number,
  place: Place,
  one: SealedEvent | undefined,
  text: string | undefined,
): LedgerFinding {
  const leaves = [leaf, leaf] as const
  if (place.kind === 'statement')
    return {
      kind: 'ledger',
      leaves,
      reason: `the statement of leaf ${leaf} ${text === undefined ? 'is missing' : 'was changed'}`,
    }
  const created_at = formatTimestamp(place.time)
  if (!one)
    return { kind: 'removed', created_at, leaves, reason: `the event of ${created_at} is missing` }
  if (!one.event)
    return {
      kind: 'changed',
      created_at,
      leaves,
      reason: `the event of ${created_at} cannot be read`,
    }
  const { id } = one.event
  return { kind: 'changed', id, created_at, leaves, reason: `event ${id} was changed` }
}

/** The finding with the hash of what the log has there now. */
export const withFound = (
  finding: LedgerFinding,
  computed: Uint8Array | undefined,
): LedgerFinding => (computed ? { ...finding, found: toBase64(computed) } : finding)
