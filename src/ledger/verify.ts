import { AuditLogError } from '../errors.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import {
  LEAVES_PER_ROW,
  type LedgerState,
  type LedgerStore,
  type SealedEvent,
} from '../store/ledger.js'
import { isSameState, noLedger } from '../store/ledger-errors.js'
import type { WaitOptions } from '../store/store.js'
import { type Claims, readClaims } from './claims.js'
import { confirmed, resultOf } from './confirm.js'
import { splitHashes } from './edge.js'
import { joinUnexplained, ledgerFinding, lostRow, unsealed } from './findings.js'
import { addAnnounced, addImported, isAnnounced } from './imports.js'
import { type Head, openHead } from './open-head.js'
import type { LedgerFinding, LedgerVerification, LedgerVerifyOptions } from './verification.js'
import { compareHeads, innocentChoices, withComputed } from './verify-heads.js'
import { type Compared, compareRows, type ReadOptions } from './verify-log.js'
import { type ClaimedEvent, eventsBetween, type SealedLate } from './verify-rows.js'
import { levelsOf, type Tree } from './verify-tree.js'

export interface VerifyContext {
  readonly ledger: LedgerStore
  /** The verifier key of the ledger. */
  readonly vkey: string
  /** A head that this process knows to be signed, and that need not be in the log. */
  readonly known: Head | undefined
  /** The last note that the signer keeps outside of the log. */
  readonly kept: readonly (readonly [what: string, note: string])[]
}

/** The heads that prove the ledger, by increasing size. */
async function headsOf(
  { vkey, known, kept }: VerifyContext,
  state: LedgerState,
  given: readonly string[] | undefined,
): Promise<{
  readonly heads: readonly Head[]
  readonly outside: readonly Head[]
  readonly findings: LedgerFinding[]
}> {
  const notes = [...(given ?? []).map((note, i) => [`heads[${i}]`, note] as const), ...kept]
  const outside: Head[] = []
  for (const [what, note] of notes)
    try {
      outside.push(await openHead(note, vkey))
    } catch (cause) {
      const { message } = cause as Error
      throw new AuditLogError('INVALID_VALUE', `${what} cannot be used: ${message}`, { cause })
    }
  const heads = known ? [...outside, known] : [...outside]
  const findings: LedgerFinding[] = []
  if (state.head !== undefined)
    try {
      heads.push(await openHead(state.head, vkey))
    } catch (error) {
      const reason = `the head in the log was changed: ${(error as Error).message}`
      findings.push({ kind: 'head', reason })
    }
  heads.sort((a, b) => a.size - b.size)
  return { heads, outside, findings }
}

/** The events without a leaf that are not waiting to be sealed as late ones. */
async function withoutPending(
  ledger: LedgerStore,
  { lateTo, isCut }: Pick<LedgerState, 'lateTo'> & { readonly isCut: boolean },
  compared: Compared,
  options: WaitOptions,
): Promise<readonly SealedEvent[]> {
  // A row that was not compared may have the leaf; what is wrong with it is another finding.
  const isRead = ({ leaf }: ClaimedEvent): boolean =>
    !compared.unread.has(Math.floor(leaf / LEAVES_PER_ROW))
  const claimed = compared.claimed.filter((one) => isRead(one) && !compared.lateTimes.has(one.time))
  const extra = [...compared.extra, ...claimed]
  if (extra.length === 0) return extra
  const pending = new Set(compared.misplaced)
  // If leaves were cut off, those of late events may be among them.
  for (let after = isCut ? 0 : lateTo; ;) {
    const page = await ledger.late(after, 1000, options)
    for (const { time } of page) pending.add(time)
    if (page.length < 1000) break
    after = page.at(-1)!.id
  }
  return extra.filter(({ time }) => !pending.has(time))
}

function readSince(since: string | undefined): Microseconds | undefined {
  if (since === undefined) return undefined
  const time = parseTimestamp(since)
  if (time !== undefined) return time
  throw new AuditLogError(
    'INVALID_VALUE',
    `since must be a time such as a created_at, not ${since}`,
  )
}

/** See `Ledger.verify`. Reads the log again if there are findings and the ledger has grown meanwhile. */
export async function verifyLedger(
  context: VerifyContext,
  options: LedgerVerifyOptions,
): Promise<LedgerVerification> {
  const { ledger } = context
  const { signal } = options
  const before = await ledger.state({ signal })
  const found = await verifyOnce(context, options)
  if (found.result !== 'tampered') return found
  const after = await ledger.state({ signal })
  if (!before || !after || isSameState(before, after)) return found
  return confirmed(found, await verifyOnce(context, options))
}

async function verifyOnce(
  context: VerifyContext,
  { heads: given, since, signal, onProgress }: LedgerVerifyOptions,
): Promise<LedgerVerification> {
  const { ledger } = context
  const options = { signal }
  const state = await ledger.state(options)
  const from = readSince(since)
  if (!state) {
    const none = {
      size: 0,
      sealedTo: 0,
      lateTo: 0,
      head: undefined,
      voucher: undefined,
      revision: '',
    }
    const { heads } = await headsOf(context, none, given)
    const largest = heads.at(-1)
    if (!largest || largest.size === 0) throw noLedger()
    return lostLedger(largest)
  }
  const { heads, outside, findings } = await headsOf(context, state, given)
  const read = { signal, onProgress, ...(from !== undefined && { since: from }) }
  const { compared, claims, ...compareds } = await compareAll(context, state, heads, read)
  findings.push(...compareds.findings)
  if (compared.last !== state.sealedTo && compared.unread.size === 0) {
    const leaf = Math.max(0, state.size - 1)
    findings.push(
      ledgerFinding(leaf, leaf, 'the ledger has lost the time up to which it has sealed'),
    )
  }
  for (const row of compared.missing) {
    const lost = lostRow(row, state, claims)
    if (lost.kind === 'ledger' || !compareds.isRewritten(row)) findings.push(lost)
  }
  const isCut = findings.some(({ kind }) => kind === 'cut')
  for (const one of await withoutPending(ledger, { ...state, isCut }, compared, options))
    findings.push(unsealed(one))
  findings.push(...(await unexplained(context, compared, claims, options)))
  const proved = Math.max(
    0,
    ...outside.filter((head) => !compareds.skipped.has(head)).map(({ size }) => size),
  )
  const waiting = await ledger.waiting(options)
  const hasLostStatement = [...compared.findings.values()]
    .flat()
    .some(({ isStatement }) => isStatement)
  const listed = joinUnexplained(findings, claims, isCut || hasLostStatement).map((one) => {
    const acknowledged = claims.acknowledgement(one)
    return acknowledged === undefined ? one : { ...one, acknowledged }
  })
  return {
    result: resultOf(listed, proved),
    size: state.size,
    sealedUntil: compared.last > -Infinity ? formatTimestamp(compared.last) : undefined,
    provedSize: Math.min(proved, state.size),
    since: from === undefined ? undefined : formatTimestamp(from),
    events: compared.events,
    waiting: waiting.events,
    removed: compared.removed,
    pending: compared.pending,
    findings: listed,
  }
}

/**
 * Compares the log with its leaves, and these with the heads. Signed statements explain what is missing, so this begins again without those of
 * rows that no head proves.
 */
async function compareAll(
  context: VerifyContext,
  state: LedgerState,
  heads: readonly Head[],
  read: ReadOptions,
) {
  const { ledger } = context
  const options = { signal: read.signal }
  const storedLeaves = async (row: number): Promise<readonly Uint8Array[]> => {
    const [found] = await ledger.rows(row, 1, options)
    return found?.row === row ? splitHashes(found.hashes) : []
  }
  const covered = Math.max(0, ...heads.map(({ size }) => size).filter((size) => size <= state.size))
  const distrusted = new Set<number>()
  for (;;) {
    const trusted = { size: state.size, covered, distrusted }
    const claims = await readClaims(ledger, trusted, options)
    const compared = await compareRows(ledger, state, claims, read)
    const tree: Tree = {
      rows: compared.nodes,
      levels: levelsOf(compared.nodes),
      async leavesOf(row) {
        const leaves = await storedLeaves(row)
        const choices = innocentChoices(compared.findings.get(row) ?? [])
        return Array.from(choices, (innocent) => withComputed(leaves, innocent))
      },
    }
    const result = await compareHeads(
      { ledger, state, compared, claims, tree, heads, storedLeaves },
      options,
    )
    const wrong = Array.from(claims.rows).filter((row) => !result.isTrusted(row))
    if (wrong.length === 0) return { ...result, compared, claims }
    for (const row of wrong) distrusted.add(row)
  }
}

function lostLedger({ size }: Head): LedgerVerification {
  const reason = `the log has no ledger, but ${size} leaves were signed`
  return {
    result: 'tampered',
    size: 0,
    sealedUntil: undefined,
    provedSize: 0,
    since: undefined,
    events: 0,
    waiting: 0,
    removed: 0,
    pending: 0,
    findings: [{ kind: 'cut', leaves: [0, size - 1], reason }],
  }
}

/** Late events that neither a live event nor an import explains. */
async function unexplained(
  { ledger }: VerifyContext,
  { late, opened, announced, began, last }: Compared,
  claims: Claims,
  options: WaitOptions,
): Promise<LedgerFinding[]> {
  for (const events of claims.imported) addImported(announced, events)
  const others = (): SealedLate[] =>
    late.filter(
      (one) => !opened.has(one.id) && !claims.isAdopted(one.leaf) && !isAnnounced(announced, one),
    )
  // The announcement may be in a row that was not compared.
  if (others().length > 0)
    for await (const page of eventsBetween(ledger, Math.max(began, 0), last, options))
      for (const { event } of page) if (event) addAnnounced(announced, event)
  return others().map(({ id, time, leaf }) => ({
    kind: 'late',
    id,
    created_at: formatTimestamp(time),
    leaves: [leaf, leaf],
    reason: `event ${id} was stored behind sealed events, and no import has announced it`,
  }))
}
