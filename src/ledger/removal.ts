import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import {
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerNode,
  type LedgerStore,
  ROW_LEVEL,
} from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { splitHashes } from './edge.js'
import type { LeafRange, Statement, Statements } from './entry.js'
import { eventLeaf, hasSalt, keepSalts, saltAt, saltsOf } from './leaf.js'
import { type Place, readPlaces } from './places.js'
import { provedRow } from './proved-row.js'
import { announcedBy } from './imports.js'
import { nodeOver } from './read-nodes.js'
import type { Round } from './sealer.js'
import { siblingsOf } from './siblings.js'
import { areEqual } from './web-crypto.js'

/*
 * Removes sealed events. Each one is compared with its leaf, and this with the tree that this process knows. Then the statement of the removal
 * is signed, and only then the events are deleted. If the process ends between, the events are still there, and the next removal finds them again.
 */

/** The leaf of an event that is as it was sealed. */
export interface SealedLeaf {
  readonly id: string
  readonly time: Microseconds
  readonly leaf: number
  readonly hash: Uint8Array
  readonly salt: Uint8Array
  /** The imported events that it announces. */
  readonly announced?: string | undefined
}

/** Events and their leaves. */
export interface FoundLeaves {
  readonly found: readonly { readonly event: AuditEvent; readonly sealed: SealedLeaf }[]
  /** Number of events that are not those that were sealed. */
  readonly changed: number
}

const rowOf = (leaf: number): number => Math.floor(leaf / LEAVES_PER_ROW)

const isLeafOf = (
  place: Place | undefined,
  time: Microseconds,
): place is Exclude<Place, { kind: 'statement' }> =>
  place !== undefined && place.kind !== 'statement' && place.time === time

/** The leaves of the events. Events that are not sealed yet are left out. */
export async function findLeaves(
  round: Round,
  events: readonly AuditEvent[],
  options: WaitOptions,
): Promise<FoundLeaves> {
  const { ledger, progress } = round
  const times = events.map(({ created_at }) => parseTimestamp(created_at)!)
  const leaves = await ledger.leavesOf(times, options)
  const rows = new Map<number, LeafRow | undefined>()
  for (const leaf of leaves)
    if (leaf !== undefined && !rows.has(rowOf(leaf)))
      rows.set(rowOf(leaf), await provedRow(ledger, progress, rowOf(leaf), options))
  const opened = new Map(
    [...rows].flatMap(([number, row]) =>
      row
        ? [
            [
              number,
              {
                row,
                places: readPlaces(row),
                hashes: splitHashes(row.hashes),
                salts: saltsOf(row.seed),
              },
            ] as const,
          ]
        : [],
    ),
  )
  const found: { readonly event: AuditEvent; readonly sealed: SealedLeaf }[] = []
  let changed = 0
  for (const [i, event] of events.entries()) {
    const leaf = leaves[i]
    if (leaf === undefined) continue
    const at = leaf % LEAVES_PER_ROW
    const of = opened.get(rowOf(leaf))
    const place = of?.places[at]
    const hash = of?.hashes[at]
    const salt = of && hasSalt(of.row.seed, leaf) ? saltAt(of.salts, leaf) : undefined
    const isSame =
      hash &&
      salt &&
      isLeafOf(place, times[i]!) &&
      areEqual(hash, eventLeaf(place.kind, event, salt))
    if (isSame) {
      const announced = announcedBy(event)
      found.push({ event, sealed: { id: event.id, time: times[i]!, leaf, hash, salt, announced } })
    } else changed += 1
  }
  return { found, changed }
}

/** Successive leaves as ranges. */
export function rangesOf(leaves: readonly number[]): LeafRange[] {
  const ranges: [number, number][] = []
  for (const leaf of [...new Set(leaves)].toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last && leaf === last[1] + 1) last[1] = leaf
    else ranges.push([leaf, leaf])
  }
  return ranges
}

/** A row without the salts of some leaves; `undefined` if nothing else than removed events is left in it. */
function withoutLeaves(row: LeafRow, removed: ReadonlySet<number>): LeafRow | undefined {
  const places = readPlaces(row)
  const isFull = places.length === LEAVES_PER_ROW
  // Salts of leaves that are still to come are kept.
  const seed = keepSalts(
    row.seed,
    (place) => places[place]?.kind !== 'statement' && !removed.has(place),
  )
  const hasStatement = places.some(({ kind }) => kind === 'statement')
  return isFull && seed.length === 0 && !hasStatement ? undefined : { ...row, seed }
}

/** Events of one transaction. */
const MAX_REMOVED = 256

const overtaken = (): AuditLogError =>
  new AuditLogError(
    'STORE_FAILED',
    'another process has changed the ledger meanwhile; the next run removes the rest',
  )

/**
 * The nodes of a row by which heads that end in it are compared with later ones. The nodes at the ends of these heads are kept since they were
 * given out.
 */
async function nodesOfHeads(
  ledger: LedgerStore,
  { row, hashes }: LeafRow,
  options: WaitOptions,
): Promise<LedgerNode[]> {
  const leaves = splitHashes(hashes)
  const places = Array.from({ length: ROW_LEVEL }, (_, level) =>
    leaves.slice(0, LEAVES_PER_ROW / 2 ** level).map((_, i) => ({
      level,
      index: (row * LEAVES_PER_ROW) / 2 ** level + i,
    })),
  ).flat()
  const kept = await ledger.nodes(places, options)
  const nodes = new Map<string, LedgerNode>()
  for (const [i, place] of places.entries())
    if (kept[i])
      for (const { level, index } of siblingsOf(place, (row + 1) * LEAVES_PER_ROW)) {
        const hash = nodeOver(leaves, level, index - (row * LEAVES_PER_ROW) / 2 ** level)
        if (level < ROW_LEVEL && hash) nodes.set(`${level}/${index}`, { level, index, hash })
      }
  return [...nodes.values()]
}

/** Deletes events whose removal is signed. Returns their number. */
async function deleteLeaves(
  round: Round,
  leaves: readonly SealedLeaf[],
  options: WaitOptions,
): Promise<number> {
  const { ledger } = round
  const byRow = new Map<number, SealedLeaf[]>()
  for (const one of leaves) byRow.set(rowOf(one.leaf), [...(byRow.get(rowOf(one.leaf)) ?? []), one])
  let removed = 0
  const nothing = () => ({
    times: [] as Microseconds[],
    rows: [] as LeafRow[],
    dropped: [] as number[],
    nodes: [] as LedgerNode[],
  })
  let batch = nothing()
  const flush = async (): Promise<void> => {
    if (batch.times.length === 0) return
    const { state } = round.progress
    const { nodes, ...removal } = batch
    const addition = { before: state, after: state, rows: [], nodes, statements: [], late: [] }
    if (nodes.length > 0 && !(await ledger.append(addition, options))) throw overtaken()
    const count = await round.remove(removal)
    if (count === undefined) throw overtaken()
    removed += count
    batch = nothing()
  }
  for (const [number, some] of byRow) {
    const row = await provedRow(ledger, round.progress, number, options)
    if (!row) throw overtaken()
    if (batch.times.length + some.length > MAX_REMOVED) await flush()
    const changed = withoutLeaves(row, new Set(some.map(({ leaf }) => leaf % LEAVES_PER_ROW)))
    for (const { time } of some) batch.times.push(time)
    if (changed) batch.rows.push(changed)
    else {
      batch.dropped.push(number)
      batch.nodes.push(...(await nodesOfHeads(ledger, row, options)))
    }
  }
  await flush()
  return removed
}

export type RemovalReason = Omit<Statements['removed'], 'ranges'>

/** Seals the statement of a removal, after others that belong to it, signs it, and deletes the events. Returns their number. */
export async function removeLeaves(
  round: Round,
  leaves: readonly SealedLeaf[],
  { reason, first = [] }: { readonly reason: RemovalReason; readonly first?: readonly Statement[] },
  options: WaitOptions,
): Promise<number> {
  if (leaves.length === 0) return 0
  const ranges = rangesOf(leaves.map(({ leaf }) => leaf))
  // The events of an import stay explained when its announcement is gone.
  const imported = leaves.flatMap(({ announced }): Statement[] =>
    announced === undefined ? [] : [{ kind: 'imported', events: announced }],
  )
  for (const statement of [...first, ...imported, { kind: 'removed', ...reason, ranges } as const])
    await round.state(statement)
  await round.sign()
  return deleteLeaves(round, leaves, options)
}
