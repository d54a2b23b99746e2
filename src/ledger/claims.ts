import { LEAVES_PER_ROW, type LedgerStore } from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import { keyOfFinding } from './changes.js'
import { splitHashes } from './edge.js'
import { type LeafRange, readStatement, type Statement } from './entry.js'
import { isEntryOf } from './verify-rows.js'
import type { LedgerFinding, LedgerFindingKind } from './verification.js'

/** The facts about leaves that the signed statements of a ledger state. */
export interface Claims {
  /** True if the removal of the event of this leaf was signed. */
  isRemoved(leaf: number): boolean
  /** True if the events of all leaves of the row were removed. */
  isRowRemoved(row: number): boolean
  isAdopted(leaf: number): boolean
  /** True if a statement would explain a finding of this kind about the leaf, but no head proves it. */
  isUnproved(kind: LedgerFindingKind, leaf: number): boolean
  /** The texts of removed announcements of imports: see src/ledger/imports.ts. */
  readonly imported: readonly string[]
  /** The reason for which a finding is acknowledged. */
  acknowledgement(finding: LedgerFinding): string | undefined
  /** The rows of the statements. Another reading is needed if a head does not prove one of them. */
  readonly rows: ReadonlySet<number>
}

/** A function that finds the range of a leaf, after overlapping and successive ranges were joined. */
function joinRanges(given: readonly LeafRange[]): (leaf: number) => LeafRange | undefined {
  const ranges: [number, number][] = []
  for (const [first, last] of given.toSorted((a, b) => a[0] - b[0])) {
    const before = ranges.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else ranges.push([first, last])
  }
  return (leaf) => {
    let low = 0
    let high = ranges.length
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (ranges[middle]![1] < leaf) low = middle + 1
      else high = middle
    }
    const range = ranges[low]
    return range && range[0] <= leaf ? range : undefined
  }
}

/** Leaves whose statements are read at once. */
const PAGE = 1_000_000

/** The kind of findings that a kind of statements explains. */
const EXPLAINED = { removed: 'removed', adopted: 'late' } as const

export interface Trusted {
  /** Number of leaves of the ledger. */
  readonly size: number
  /** Number of leaves that heads cover. */
  readonly covered: number
  /** Rows that no head proves. */
  readonly distrusted: ReadonlySet<number>
}

/** Reads all statements. A head must cover one that counts, and its row must have its hash and not be distrusted. */
export async function readClaims(
  ledger: LedgerStore,
  { size, covered, distrusted }: Trusted,
  options: WaitOptions,
): Promise<Claims> {
  const proved = { removed: [] as LeafRange[], late: [] as LeafRange[] }
  const unproved = { removed: [] as LeafRange[], late: [] as LeafRange[] }
  const imported: string[] = []
  const reasons = new Map<string, string>()
  const rows = new Set<number>()
  const add = (statement: Statement, at: number, isProved: boolean): void => {
    const row = Math.floor(at / LEAVES_PER_ROW)
    if (statement.kind === 'removed' || statement.kind === 'adopted') {
      // A statement is about leaves before it.
      const earlier = statement.ranges.filter(([, last]) => last < at)
      const to = isProved ? proved : unproved
      to[EXPLAINED[statement.kind]].push(...earlier)
      if (isProved) rows.add(row)
    } else if (statement.kind === 'imported' && isProved) {
      imported.push(statement.events)
      rows.add(row)
    } else if (statement.kind === 'acknowledged' && isProved) {
      for (const one of statement.findings)
        reasons.set(keyOfFinding(one as unknown as LedgerFinding), statement.reason)
      rows.add(row)
    }
  }
  let hashes: readonly Uint8Array[] = []
  let row = -1
  for (let from = 0; from < size; from += PAGE)
    for (const one of await ledger.statements(from, Math.min(size, from + PAGE), options)) {
      const number = Math.floor(one.leaf / LEAVES_PER_ROW)
      if (number !== row) {
        const [found] = await ledger.rows(number, 1, options)
        hashes = found?.row === number ? splitHashes(found.hashes) : []
        row = number
      }
      const isCovered = one.leaf < covered && !distrusted.has(number)
      const isProved = isCovered && isEntryOf(hashes[one.leaf % LEAVES_PER_ROW], one)
      const statement = readStatement(one.entry)
      if (statement) add(statement, one.leaf, isProved)
    }
  const [findRemoved, findAdopted] = [joinRanges(proved.removed), joinRanges(proved.late)]
  const find = { removed: joinRanges(unproved.removed), late: joinRanges(unproved.late) }
  return {
    isRemoved: (leaf) => findRemoved(leaf) !== undefined,
    isRowRemoved(number) {
      const first = number * LEAVES_PER_ROW
      const found = findRemoved(first)
      return found !== undefined && found[1] >= first + LEAVES_PER_ROW - 1
    },
    isAdopted: (leaf) => findAdopted(leaf) !== undefined,
    isUnproved: (kind, leaf) =>
      (kind === 'removed' || kind === 'late') && find[kind](leaf) !== undefined,
    imported,
    acknowledgement: (finding) => reasons.get(keyOfFinding(finding)),
    rows,
  }
}
