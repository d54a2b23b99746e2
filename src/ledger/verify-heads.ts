import { LEAVES_PER_ROW, type LedgerState, type LedgerStore, ROW_LEVEL } from '../store/ledger.js'
import type { WaitOptions } from '../store/store.js'
import type { Claims } from './claims.js'
import { edgePlaces } from './edge.js'
import { ledgerFinding, rewritten } from './findings.js'
import type { Head } from './open-head.js'
import { nodeOver } from './read-nodes.js'
import type { LedgerFinding } from './verification.js'
import type { Compared } from './verify-log.js'
import type { LeafFinding } from './verify-rows.js'
import { type Tree, trustOf } from './verify-tree.js'
import { areEqual } from './web-crypto.js'

/* Compares the leaves and nodes of a ledger with its heads. */

/** Leaves of a row that may be replaced by what the log has, to find out if the row or the log was changed. */
const MAX_REPLACED = 8
/** Choices of some of the findings of a row whose leaves may be right in the log and wrong in the ledger; the first has none. */
export function* innocentChoices(
  findings: readonly LeafFinding[],
): Generator<readonly LeafFinding[]> {
  const replaced = findings.filter(({ computed }) => computed)
  const count = replaced.length > MAX_REPLACED ? 1 : 2 ** replaced.length
  for (let mask = 0; mask < count; mask++)
    yield replaced.filter((_, i) => Math.floor(mask / 2 ** i) % 2 === 1)
}

export const withComputed = (
  leaves: readonly Uint8Array[],
  innocent: readonly LeafFinding[],
): readonly Uint8Array[] => {
  const tried = [...leaves]
  for (const { leaf, computed } of innocent) tried[leaf] = computed!
  return tried
}

/** The findings of a row of which some leaves are wrong in the ledger only. */
const withInnocent = (
  row: number,
  findings: readonly LeafFinding[],
  innocent: readonly LeafFinding[],
): LedgerFinding[] =>
  findings.map((one) => {
    if (!innocent.includes(one)) return one.finding
    const leaf = row * LEAVES_PER_ROW + one.leaf
    return ledgerFinding(
      leaf,
      leaf,
      `the ledger has lost the hash of leaf ${leaf}; its event is proved`,
    )
  })

/** The findings of a row whose node is proved to be another one than its leaves have. */
function resolveRow(
  row: number,
  leaves: readonly Uint8Array[],
  findings: readonly LeafFinding[],
  proved: Uint8Array,
): readonly LedgerFinding[] {
  for (const innocent of innocentChoices(findings)) {
    const node = nodeOver(withComputed(leaves, innocent), ROW_LEVEL)
    if (node && areEqual(node, proved)) return withInnocent(row, findings, innocent)
  }
  const first = row * LEAVES_PER_ROW
  return [rewritten(first, first + LEAVES_PER_ROW - 1)]
}

interface HeadsToCompare {
  readonly ledger: LedgerStore
  readonly state: LedgerState
  readonly compared: Compared
  readonly claims: Claims
  readonly tree: Tree
  readonly heads: readonly Head[]
  readonly storedLeaves: (row: number) => Promise<readonly Uint8Array[]>
}

interface ComparedHeads {
  readonly findings: LedgerFinding[]
  /** True if a head proves the leaves of the row. */
  readonly isTrusted: (row: number) => boolean
  /** Heads that end among leaves whose row was removed, so that they cannot be compared. */
  readonly skipped: ReadonlySet<Head>
  /** True if the row is in the range of a finding `rewritten`. */
  readonly isRewritten: (row: number) => boolean
}

/** True if the head ends within a row of removed events, and the ledger has not kept its nodes. */
async function isOutOfReach(
  { ledger, claims }: HeadsToCompare,
  { size }: Head,
  options: WaitOptions,
): Promise<boolean> {
  if (size % LEAVES_PER_ROW === 0 || !claims.isRowRemoved(Math.floor(size / LEAVES_PER_ROW)))
    return false
  const low = edgePlaces(size).filter(({ level }) => level < ROW_LEVEL)
  return (await ledger.nodes(low, options)).includes(undefined)
}

/** The findings about leaves and nodes, as far as the heads prove them. */
export async function compareHeads(
  given: HeadsToCompare,
  options: WaitOptions,
): Promise<ComparedHeads> {
  const { ledger, state, compared, tree, heads, storedLeaves } = given
  const skipped = new Set<Head>()
  const findings: LedgerFinding[] = []
  const largest = heads.at(-1)
  if (largest && largest.size > state.size) {
    const reason = `the ledger has ${state.size} leaves, but ${largest.size} were signed`
    findings.push({ kind: 'cut', leaves: [state.size, largest.size - 1], reason })
  }
  const proved = new Map<number, Uint8Array>()
  const ranges: (readonly [first: number, last: number])[] = []
  /** Sizes of the heads that the tables lead to, and of the others. */
  const reached: number[] = []
  const failed: number[] = []
  let tail: { readonly row: number; readonly choice: number } | undefined
  for (const head of heads) {
    if (head.size > state.size || head.size === 0) continue
    if (await isOutOfReach(given, head, options)) {
      skipped.add(head)
      continue
    }
    const trust = await trustOf(ledger, tree, head, options)
    ;(trust ? reached : failed).push(head.size)
    if (!trust) continue
    for (const [row, hash] of trust.rows) proved.set(row, hash)
    ranges.push(...trust.ranges)
    tail = { row: Math.floor(head.size / LEAVES_PER_ROW), choice: trust.tail }
  }
  const isWrong = (row: number): boolean =>
    proved.has(row) && !areEqual(proved.get(row)!, compared.nodes[row]!)
  // A larger head explains why a smaller one was not reached, if it shows what was changed.
  const known = [...proved.keys()].filter(isWrong).map((row) => row * LEAVES_PER_ROW)
  known.push(...ranges.map(([first]) => first))
  const most = Math.max(0, ...reached)
  const unexplained = failed.filter((size) => size > most || !known.some((first) => first < size))
  if (unexplained.length > 0) {
    const size = Math.max(...unexplained)
    ranges.push([Math.max(0, ...reached.filter((one) => one < Math.min(...unexplained))), size - 1])
  }
  const seen = new Set<string>()
  for (const [first, last] of ranges) {
    if (!seen.has(`${first}-${last}`)) findings.push(rewritten(first, last))
    seen.add(`${first}-${last}`)
  }
  const isInRange = (row: number): boolean =>
    ranges.some(
      ([first, last]) =>
        first < (row + 1) * LEAVES_PER_ROW && row * LEAVES_PER_ROW <= last && !proved.has(row),
    )
  for (const row of new Set([...compared.findings.keys(), ...proved.keys()])) {
    if (compared.missing.has(row)) continue
    const leafFindings = compared.findings.get(row) ?? []
    if (isWrong(row))
      findings.push(...resolveRow(row, await storedLeaves(row), leafFindings, proved.get(row)!))
    else if (!isInRange(row)) {
      const choices = [...innocentChoices(leafFindings)]
      const innocent = tail?.row === row && !proved.has(row) ? choices[tail.choice] : undefined
      findings.push(...withInnocent(row, leafFindings, innocent ?? []))
    }
  }
  findings.push(...(await damagedNodes(ledger, tree.levels, proved, options)))
  const isTrusted = (row: number): boolean =>
    (proved.has(row) && !isWrong(row)) || tail?.row === row
  return { findings, isTrusted, skipped, isRewritten: isInRange }
}

/** Nodes in the tables that do not follow from rows that are proved. */
async function damagedNodes(
  ledger: LedgerStore,
  levels: readonly (readonly Uint8Array[])[],
  proved: ReadonlyMap<number, Uint8Array>,
  options: WaitOptions,
): Promise<LedgerFinding[]> {
  const findings: LedgerFinding[] = []
  for (let level = ROW_LEVEL; level < levels.length; level++) {
    const count = 2 ** (level - ROW_LEVEL)
    for (let start = 0; start < levels[level]!.length; start += 1024) {
      const own = levels[level]!.slice(start, start + 1024)
      const places = own.map((_, i) => ({ level, index: start + i }))
      const stored = await ledger.nodes(places, options)
      for (const [i, hash] of own.entries()) {
        const row = (start + i) * count
        const isProved = Array.from({ length: count }, (_, n) => row + n).every(
          (one) => proved.has(one) && areEqual(proved.get(one)!, levels[ROW_LEVEL]![one]!),
        )
        if (!isProved || (stored[i] && areEqual(stored[i], hash))) continue
        const [first, last] = [row * LEAVES_PER_ROW, (row + count) * LEAVES_PER_ROW - 1]
        findings.push(
          ledgerFinding(
            first,
            last,
            `the ledger has lost the hash over leaves ${first} to ${last}; their events are proved`,
          ),
        )
      }
    }
  }
  return findings
}
