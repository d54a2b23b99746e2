import { throwIfAborted } from '../errors.js'
import type { Microseconds } from '../event/timestamp.js'
import { createTimeSlices } from '../filter/time-slices.js'
import {
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerState,
  type LedgerStore,
  ROW_LEVEL,
} from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { beginningOf } from './beginning.js'
import type { Claims } from './claims.js'
import { splitHashes } from './edge.js'
import { nodeOver } from './read-nodes.js'
import type { LedgerVerifyOptions } from './verification.js'
import { checkRow, type Gathered, gatherBetween, type LeafFinding, skipRow } from './verify-rows.js'

/* Compares all rows of a ledger with the log, one after the other. */

/** Rows that are read at once. */
const PAGE = 8
const NOTHING = new Uint8Array(32)

/** The rows of a ledger, one after the other; `undefined` for one that is missing. */
async function* rowsOf(
  ledger: LedgerStore,
  size: number,
  options: WaitOptions,
): AsyncGenerator<
  readonly [row: number, read: LeafRow | undefined, next: LeafRow | undefined],
  void
> {
  const count = Math.ceil(size / LEAVES_PER_ROW)
  let page: LeafRow[] = []
  for (let row = 0; row < count; row++) {
    if (page.length < 2) page = [...(await ledger.rows(row, PAGE, options))]
    const found = page[0]?.row === row ? page.shift() : undefined
    yield [row, found, page[0]]
  }
}

export interface Compared extends Gathered {
  /** The nodes over complete rows, as they follow from the leaves. */
  readonly nodes: Uint8Array[]
  readonly findings: Map<number, readonly LeafFinding[]>
  readonly missing: Set<number>
  /** Rows whose leaves were not all compared. */
  readonly unread: Set<number>
  /** Time after which the ledger seals events; `-Infinity` if its first leaf was changed. */
  readonly began: Microseconds
  last: Microseconds
}

export type ReadOptions = Omit<LedgerVerifyOptions, 'since'> & { readonly since?: number }

const nothingCompared = (began: Microseconds): Compared => ({
  nodes: [],
  findings: new Map(),
  missing: new Set(),
  unread: new Set(),
  extra: [],
  claimed: [],
  late: [],
  lateTimes: new Set(),
  misplaced: new Set(),
  opened: new Set(),
  announced: new Set(),
  events: 0,
  removed: 0,
  pending: 0,
  began,
  last: began,
})

/** Compares all rows of the ledger with the log. */
export async function compareRows(
  ledger: LedgerStore,
  { size, sealedTo }: LedgerState,
  claims: Claims,
  { since = -Infinity, onProgress, signal }: ReadOptions,
): Promise<Compared> {
  const options = { signal }
  const slices = createTimeSlices()
  const compared = nothingCompared(await readBeginning(ledger, options))
  let isKnown = true
  for await (const [number, row, next] of rowsOf(ledger, size, options)) {
    throwIfAborted(signal)
    if (slices.isOver()) await slices.next()
    const first = number * LEAVES_PER_ROW
    const count = Math.min(LEAVES_PER_ROW, size - first)
    const before = next?.after ?? sealedTo
    if (!row && claims.isRowRemoved(number)) {
      await addGoneRow(ledger, compared, { row: number, end: before }, options)
      continue
    }
    if (!row) {
      compared.missing.add(number)
      compared.unread.add(number)
      if (count === LEAVES_PER_ROW) compared.nodes.push(NOTHING)
      isKnown = false
      continue
    }
    // After a row that is missing, the next one says where it begins.
    const after = isKnown && compared.last > -Infinity ? compared.last : row.after
    isKnown = true
    const given = { row, count, after, before, isRemoved: (leaf: number) => claims.isRemoved(leaf) }
    const check = row.last < since ? skipRow : checkRow
    const checked = await check(ledger, given, compared, options)
    compared.last = checked.last
    if (count === LEAVES_PER_ROW)
      compared.nodes.push(nodeOver(checked.hashes, ROW_LEVEL) ?? NOTHING)
    if (checked.findings.length > 0) compared.findings.set(number, checked.findings)
    if (!checked.isKnown) compared.unread.add(number)
    onProgress?.({ done: first + count, total: size })
  }
  return compared
}

/** Adds a row whose events were all removed. No event may be left between the rows around. */
async function addGoneRow(
  ledger: LedgerStore,
  compared: Compared,
  { row, end }: { readonly row: number; readonly end: Microseconds },
  options: WaitOptions,
): Promise<void> {
  const [hash] = await ledger.nodes([{ level: ROW_LEVEL, index: row }], options)
  compared.nodes.push(hash ?? NOTHING)
  compared.removed += LEAVES_PER_ROW
  const after = Math.max(compared.last, 0)
  await gatherBetween(ledger, compared, { after, to: end }, options)
  compared.last = Math.max(compared.last, end)
}

/** Time after which the ledger seals events, as its first leaf says; `-Infinity` if this leaf was changed. */
async function readBeginning(ledger: LedgerStore, options: WaitOptions): Promise<Microseconds> {
  const [row] = await ledger.rows(0, 1, options)
  const statements = await ledger.statements(0, 2, options)
  const began = row?.row === 0 ? beginningOf(splitHashes(row.hashes), statements) : undefined
  return began ?? -Infinity
}
