import { AuditLogError } from '../../src/errors.js'
import { joinHashes } from '../../src/ledger/edge.js'
import { leafHasher } from '../../src/ledger/event-leaves.js'
import { placeOf } from '../../src/ledger/places.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import {
  type Beginning,
  type LateEvent,
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerState,
  type LedgerStatement,
  type LedgerStore,
  type NodePlace,
  type OpenPlace,
} from '../../src/store/ledger.js'
import { noLedger, MAX_WAITING, isSameState } from '../../src/store/ledger-errors.js'
import type { WaitOptions } from '../../src/store/store.js'
import type { MemoryLog } from './memory-log.js'
import type { TimedEvent } from './timed-events.js'

/** The tables of a ledger. */
interface Ledger {
  state: LedgerState
  /** By increasing numbers. */
  rows: readonly LeafRow[]
  readonly nodes: Map<string, Uint8Array>
  readonly statements: Map<number, LedgerStatement>
  readonly lateLeaves: Map<Microseconds, number>
}

const keyOf = ({ level, index }: NodePlace): string => `${level}/${index}`

/** The leaf of an event in order. */
const orderedLeaf = ({ rows }: Ledger, time: Microseconds): number | undefined => {
  const row = rows.find(({ after, last }) => after < time && time <= last)
  const place = row && placeOf(row, time)
  return place === undefined ? undefined : row!.row * LEAVES_PER_ROW + place
}

/** The rows in order, with these instead of those with the same numbers. */
function replaceRows(rows: readonly LeafRow[], changed: readonly LeafRow[]): readonly LeafRow[] {
  const byNumber = new Map(rows.map((one) => [one.row, one]))
  for (const one of changed) byNumber.set(one.row, one)
  return [...byNumber.values()].toSorted((a, b) => a.row - b.row)
}

/** Removes everything from this leaf on. */
function cut(ledger: Ledger, size: number): void {
  ledger.rows = ledger.rows.filter(({ row }) => row * LEAVES_PER_ROW < size)
  for (const leaf of ledger.statements.keys()) if (leaf >= size) ledger.statements.delete(leaf)
  for (const [time, leaf] of ledger.lateLeaves) if (leaf >= size) ledger.lateLeaves.delete(time)
}

function createEventReads({ timeline, live }: MemoryLog) {
  /** The events within the times that are closed, or those that are open. */
  const eventsBetween = (
    from: Microseconds,
    to: Microseconds,
    limit = Infinity,
    isOpen = false,
  ) => {
    const range = timeline.between(from, to)
    const found: TimedEvent[] = []
    for (let i = range.from; i < range.to && found.length < limit; i++) {
      const event = range.events[i]!
      if (live.isOpen(event) === isOpen) found.push({ event, time: range.times[i]! })
    }
    return found
  }

  const openPlaces = (from: Microseconds, to: Microseconds): OpenPlace[] =>
    eventsBetween(from, to, Infinity, true).map(({ event, time }) => ({ id: event.id, time }))
  return { eventsBetween, openPlaces }
}

/** The methods that read the tables. */
function createTableReads(
  open: (options: WaitOptions | undefined) => Ledger,
): Pick<LedgerStore, 'rows' | 'nodes' | 'statements' | 'leavesOf'> {
  return {
    async rows(from, limit, options) {
      return open(options)
        .rows.filter(({ row }) => row >= from)
        .slice(0, limit)
    },

    async nodes(places, options) {
      const { nodes } = open(options)
      return places.map((place) => nodes.get(keyOf(place)))
    },

    async statements(from, to, options) {
      const { statements } = open(options)
      return [...statements.values()]
        .filter(({ leaf }) => leaf >= from && leaf < to)
        .toSorted((a, b) => a.leaf - b.leaf)
    },

    async leavesOf(times, options) {
      const ledger = open(options)
      return times.map((time) => ledger.lateLeaves.get(time) ?? orderedLeaf(ledger, time))
    },
  }
}

/** The methods that read sealed events. */
function createSealedReads(
  open: (options: WaitOptions | undefined) => Ledger,
  eventsBetween: ReturnType<typeof createEventReads>['eventsBetween'],
): Pick<LedgerStore, 'events' | 'eventsAt'> {
  return {
    async events({ from, to, limit }, options) {
      open(options)
      return eventsBetween(from, to, limit)
    },

    async eventsAt(times, options) {
      open(options)
      return times.flatMap((time) => eventsBetween(time, time))
    },
  }
}

/** Writes an addition, unless the ledger is in another state. */
function createAppend(
  { late }: MemoryLog,
  open: (options: WaitOptions | undefined) => Ledger,
): LedgerStore['append'] {
  return async (addition, options) => {
    const { before, after, rows, nodes, statements, late: lateLeaves, adopted = [] } = addition
    const ledger = open(options)
    if (!isSameState(ledger.state, before)) return false
    if (after.size < before.size) cut(ledger, after.size)
    ledger.rows = replaceRows(ledger.rows, rows)
    for (const node of nodes) ledger.nodes.set(keyOf(node), node.hash)
    for (const statement of statements) ledger.statements.set(statement.leaf, statement)
    for (const { id, leaf } of lateLeaves) ledger.lateLeaves.set(late.list[id - 1]!.time, leaf)
    for (const { time, leaf } of adopted) ledger.lateLeaves.set(time, leaf)
    ledger.state = after
    return true
  }
}

const newLedger = (sealedTo: Microseconds, lateTo: number): Ledger => ({
  state: {
    size: 0,
    sealedTo,
    lateTo,
    head: undefined,
    voucher: undefined,
    revision: crypto.randomUUID(),
  },
  rows: [],
  nodes: new Map(),
  statements: new Map(),
  lateLeaves: new Map(),
})

/** Removes events, and what the tables have about them. */
function createRemove(
  { timeline, live, index }: MemoryLog,
  open: (options: WaitOptions | undefined) => Ledger,
): LedgerStore['remove'] {
  return async ({ before, after, times, rows, dropped }, options) => {
    const ledger = open(options)
    if (!isSameState(ledger.state, before)) return undefined
    const removed = times.flatMap((time) => {
      const event = timeline.at(time)
      return event && !live.isOpen(event) ? [event.id] : []
    })
    timeline.remove(new Set(removed))
    if (removed.length > 0) index.reset()
    for (const time of times) ledger.lateLeaves.delete(time)
    ledger.rows = replaceRows(ledger.rows, rows).filter(({ row }) => !dropped.includes(row))
    ledger.state = after
    return removed.length
  }
}

const dropsItsEvents = (): AuditLogError =>
  new AuditLogError(
    'INVALID_OPTION',
    'a memory store with maxEvents drops events, so it keeps no ledger',
  )

/** The ledger of a memory store. */
export function createLedger(log: MemoryLog, dropsEvents: boolean): LedgerStore {
  const { late } = log
  const { eventsBetween, openPlaces } = createEventReads(log)
  let kept: Ledger | undefined

  const open = ({ signal }: WaitOptions = {}): Ledger => {
    log.check(signal)
    if (!kept) throw noLedger()
    return kept
  }

  const begin = (after: Microseconds): Beginning => {
    kept ??= newLedger(Math.min(after, log.highWater), late.list.length)
    return { state: kept.state, open: openPlaces(-Infinity, kept.state.sealedTo) }
  }

  return {
    async begin(after, { signal } = {}) {
      log.check(signal)
      if (dropsEvents) throw dropsItsEvents()
      late.keep()
      return begin(after)
    },

    async state({ signal } = {}) {
      log.check(signal)
      return kept?.state
    },

    async unsealed(request, options) {
      open(options)
      const { after, limit } = request
      const hash = leafHasher(request)
      const events = eventsBetween(after + 1, Infinity, limit)
      const last = events.at(-1)?.time ?? after
      return {
        times: events.map(({ time }) => time),
        hashes: joinHashes(events.map(({ event }) => hash(event))),
        open: openPlaces(after + 1, last),
      }
    },

    async late(after, limit, options) {
      open(options)
      return late.list.slice(after, after + limit)
    },

    append: createAppend(log, open),

    remove: createRemove(log, open),

    async release(_, options) {
      open(options)
    },

    async restart(before, after, options) {
      if (!isSameState(open(options).state, before)) return undefined
      kept = undefined
      return begin(after)
    },

    ...createTableReads(open),
    ...createSealedReads(open, eventsBetween),

    async waiting(options) {
      const { state, lateLeaves } = open(options)
      const ordered = eventsBetween(state.sealedTo + 1, Infinity, MAX_WAITING)
      const isWaiting = ({ id, time }: LateEvent): boolean =>
        id > state.lateTo && time <= state.sealedTo && !lateLeaves.has(time)
      return {
        events: Math.min(MAX_WAITING, ordered.length + late.list.filter(isWaiting).length),
        oldest: ordered[0]?.time,
      }
    },
  }
}
