import { randomBytes } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import type { Microseconds } from '../event/timestamp.js'
import {
  type Beginning,
  type LeafRow,
  LEAVES_PER_ROW,
  type LedgerAddition,
  type LedgerState,
  type LedgerStatement,
  type LedgerStore,
  type OpenPlace,
  ROW_LEVEL,
} from '../store/ledger.js'
import { changedState, isSameState } from '../store/ledger-errors.js'
import type { WaitOptions } from '../store/store.js'
import { type Edge, edgeOf, EMPTY, grow, rootAt, splitHashes } from './edge.js'
import { type Head, openHead } from './open-head.js'
import { SEED_BYTES } from './leaf.js'
import { isVouched, vouchedSize } from './voucher.js'
import type { LedgerSigner } from './note.js'
import { withNodes } from './read-nodes.js'
import { firstLeaves, type NewLeaf, rowsAfter, rowsFor } from './rows.js'
import { areEqual } from './web-crypto.js'

/** The ledger as the process that seals it knows it. */
export interface Progress {
  readonly state: LedgerState
  readonly edge: Edge
  /** The last row, if it is incomplete. */
  readonly tail: LeafRow | undefined
  /** The largest head that was signed. */
  readonly signed: Head | undefined
  /** The live events that were open when the ledger began, if this process has begun it. */
  readonly open: readonly OpenPlace[]
}

const diverged = (fault: string): AuditLogError =>
  new AuditLogError('LEDGER_DIVERGED', `the ledger does not continue what was signed: ${fault}`)

/** The largest of the heads that are known. Rejects with `LEDGER_DIVERGED` if the stored one is not signed. */
async function largestHead(
  state: LedgerState | undefined,
  signer: LedgerSigner,
  known: Head | undefined,
): Promise<Head | undefined> {
  const heads: Head[] = known ? [known] : []
  const last = await signer.lastNote?.()
  if (last !== undefined) heads.push(await openHead(last, signer.vkey))
  if (state?.head !== undefined)
    try {
      heads.push(await openHead(state.head, signer.vkey))
    } catch (error) {
      throw diverged(`its head was changed: ${(error as Error).message}`)
    }
  return heads.toSorted((a, b) => b.size - a.size)[0]
}

/** Statements that say nothing about which events may be missing, late or changed. */
const HARMLESS: ReadonlySet<string> = new Set(['began', 'waited'])

export const isHarmless = ({ entry }: Pick<LedgerStatement, 'entry'>): boolean =>
  HARMLESS.has(entry.slice(0, entry.indexOf(' ')))

/** The edge after the leaves up to `to`, or all leaves of the last row, and that row. Throws `LEDGER_DIVERGED` if a row is missing. */
async function growTo(
  ledger: LedgerStore,
  from: Edge,
  { to, isExact }: { readonly to: number; readonly isExact: boolean },
  options: WaitOptions,
): Promise<{ readonly edge: Edge; readonly last: LeafRow | undefined }> {
  let edge = from
  let last: LeafRow | undefined
  for (let row = Math.floor(edge.size / LEAVES_PER_ROW); edge.size < to; row++) {
    const [next] = await ledger.rows(row, 1, options)
    if (next?.row !== row) throw diverged(`row ${row} is missing`)
    const first = row * LEAVES_PER_ROW
    const end = isExact ? to - first : undefined
    const leaves = splitHashes(next.hashes).slice(edge.size - first, end)
    if (leaves.length === 0) throw diverged(`row ${row} has too few leaves`)
    edge = grow(edge, leaves).edge
    last = next
  }
  return { edge, last }
}

/**
 * Removes the leaves after the largest signed head if there are statements among them for which no process vouches. Anybody who can write
 * to the database could have written these, and this process is about to sign them. Events among these leaves are sealed again.
 */
async function withoutForeign(
  ledger: LedgerStore,
  state: LedgerState,
  { signed, edge, signer }: Pick<Progress, 'signed' | 'edge'> & { readonly signer: LedgerSigner },
  options: WaitOptions,
): Promise<LedgerState> {
  const added = await ledger.statements(edge.size, state.size, options)
  const last = added.findLast((one) => !isHarmless(one))
  if (!last) return state
  const to = vouchedSize(state.voucher)
  const isOurs = to > edge.size && to <= state.size
  const vouched = isOurs ? (await growTo(ledger, edge, { to, isExact: true }, options)).edge : edge
  const isKept = isOurs && (await isVouched(state.voucher, signer, vouched))
  if (isKept && last.leaf < to) return state
  const size = isKept ? to : edge.size
  const count = size % LEAVES_PER_ROW
  const [row] = await ledger.rows(Math.floor(Math.max(0, size - 1) / LEAVES_PER_ROW), 1, options)
  const rows = row && count > 0 ? [firstLeaves(row, count)] : []
  const sealedTo = size === 0 ? row?.after : (rows[0] ?? row)?.last
  const after = changedState(state, {
    size,
    sealedTo: sealedTo ?? state.sealedTo,
    lateTo: 0,
    head: signed?.note,
  })
  const addition = { before: state, after, rows, nodes: [], statements: [], late: [] }
  if (await ledger.append(addition, options)) return after
  throw new AuditLogError('STORE_FAILED', 'another process has changed the ledger meanwhile')
}

const isSame = (left: LedgerState | undefined, right: LedgerState | undefined): boolean =>
  left && right ? isSameState(left, right) : left === right

/**
 * Reads the ledger of a store, and begins it after the time `start` if there is none. Everything in its tables up to the largest known head
 * is compared with this head. Rejects with `LEDGER_DIVERGED` if it differs.
 */
export async function loadProgress(
  ledger: LedgerStore,
  signer: LedgerSigner,
  known: Known,
  options: WaitOptions,
): Promise<Progress> {
  for (;;) {
    const found = await ledger.state(options)
    try {
      return await loadFrom(found, ledger, { ...known, signer }, options)
    } catch (error) {
      // Another process may have appended between two reads.
      const now = await ledger.state(options).catch(() => found)
      if (isSame(found, now)) throw error
    }
  }
}

interface Known {
  readonly known: Head | undefined
  readonly start: Microseconds
}

/**
 * The state of the ledger. If a process has ended before its first leaf, the ledger begins again at the same time, because only a beginning
 * has the live events that are open.
 */
async function begin(
  found: LedgerState | undefined,
  ledger: LedgerStore,
  { start, signed }: Pick<Known, 'start'> & { readonly signed: Head | undefined },
  options: WaitOptions,
): Promise<Beginning> {
  if (!found) return ledger.begin(start, options)
  if (found.size > 0 || (signed && signed.size > 0)) return { state: found, open: [] }
  const begun = await ledger.restart(found, found.sealedTo, options)
  if (begun) return begun
  throw new AuditLogError('STORE_FAILED', 'another process has changed the ledger meanwhile')
}

async function loadFrom(
  found: LedgerState | undefined,
  ledger: LedgerStore,
  { known, start, signer }: Known & { readonly signer: LedgerSigner },
  options: WaitOptions,
): Promise<Progress> {
  const signed = await largestHead(found, signer, known)
  if (!found && signed && signed.size > 0)
    throw diverged(`the log has no ledger, but ${signed.size} leaves were signed`)
  const begun = await begin(found, ledger, { start, signed }, options)
  const { open } = begun
  const { size = 0 } = signed ?? {}
  if (size > begun.state.size)
    throw diverged(`it has ${begun.state.size} leaves, but ${size} were signed`)
  const first = size === 0 ? EMPTY : await withNodes(ledger, (read) => edgeOf(size, read), options)
  if (signed && size > 0 && !areEqual(rootAt(first), signed.root))
    throw diverged(`the root of its first ${size} leaves is another one`)
  const state = await withoutForeign(ledger, begun.state, { signed, edge: first, signer }, options)
  const grown = await growTo(ledger, first, { to: state.size, isExact: false }, options)
  const { edge } = grown
  let { last } = grown
  if (edge.size !== state.size) throw diverged(`its last row has too many leaves`)
  if (!last && state.size > 0)
    [last] = await ledger.rows(Math.floor((state.size - 1) / LEAVES_PER_ROW), 1, options)
  if (last && last.last !== state.sealedTo) throw diverged('its last time is another one')
  const isPartial = state.size % LEAVES_PER_ROW > 0
  return { state, edge, tail: isPartial ? last : undefined, signed, open }
}

/** The seeds of the rows that `count` more leaves are in. */
export const seedsFor = ({ state, tail }: Progress, count: number): Uint8Array[] =>
  Array.from({ length: rowsFor(state.size, count) }, (_, i) =>
    i === 0 && tail ? tail.seed : new Uint8Array(randomBytes(SEED_BYTES)),
  )

export interface Appended {
  readonly leaves: readonly NewLeaf[]
  readonly seeds: readonly Uint8Array[]
  readonly statements?: readonly LedgerStatement[]
  /** The late events up to this id were processed. */
  readonly lateTo?: number
  readonly late?: readonly { readonly id: number; readonly leaf: number }[]
  readonly adopted?: LedgerAddition['adopted']
  /** Vouches for statements. */
  readonly vouch: (edge: Edge) => Promise<string>
}

/** Appends leaves durably. `undefined` if another process has changed the ledger. */
export async function appendLeaves(
  ledger: LedgerStore,
  progress: Progress,
  { leaves, seeds, statements = [], lateTo, late = [], adopted, vouch }: Appended,
  options: WaitOptions,
): Promise<Progress | undefined> {
  const { state, tail } = progress
  const rows = rowsAfter({ tail, size: state.size, after: state.sealedTo }, leaves, seeds)
  const grown = grow(
    progress.edge,
    leaves.map(({ hash }) => hash),
  )
  const after = changedState(state, {
    size: grown.edge.size,
    sealedTo: rows.at(-1)?.last ?? state.sealedTo,
    lateTo: lateTo ?? state.lateTo,
    voucher: statements.every(isHarmless) ? state.voucher : await vouch(grown.edge),
  })
  const nodes = grown.nodes.filter(({ level }) => level >= ROW_LEVEL)
  const isDone = await ledger.append(
    { before: state, after, rows, nodes, statements, late, adopted },
    options,
  )
  if (!isDone) return undefined
  const isPartial = after.size % LEAVES_PER_ROW > 0
  const kept = rows.length > 0 ? rows.at(-1) : tail
  return { ...progress, state: after, edge: grown.edge, tail: isPartial ? kept : undefined }
}
