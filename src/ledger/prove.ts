import { AuditLogError } from '../errors.js'
import { parseTimestamp } from '../event/timestamp.js'
import { LEAVES_PER_ROW, type LedgerStore } from '../store/ledger.js'
import { noLedger } from '../store/ledger-errors.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { splitHashes } from './edge.js'
import { eventLeaf, saltAt, saltsOf } from './leaf.js'
import { openStoredHead } from './open-head.js'
import { formatProof } from './proof.js'
import { withNodes } from './read-nodes.js'
import { inclusionPath, rootOfPath } from './tree.js'
import { areEqual } from './web-crypto.js'

const damaged = (what: string): AuditLogError =>
  new AuditLogError('DAMAGED', `${what}: verify the log`)

const notSealed = (id: string): AuditLogError =>
  new AuditLogError('NOT_SEALED', `event ${id} is not sealed yet`)

/** The proof of one event, as text; `undefined` if there is no such event. See `Ledger.prove`. */
export async function proveEvent(
  {
    store,
    ledger,
    vkey,
  }: { readonly store: EventStore; readonly ledger: LedgerStore; readonly vkey: string },
  id: string,
  options: WaitOptions,
): Promise<string | undefined> {
  const found = await store.get(id, options)
  if (!found) return undefined
  const state = await ledger.state(options)
  if (!state) throw noLedger()
  if (state.head === undefined) throw notSealed(id)
  const head = await openStoredHead(state.head, vkey)
  const time = parseTimestamp(found.created_at)!
  const [[leaf], [one]] = await Promise.all([
    ledger.leavesOf([time], options),
    ledger.events({ from: time, to: time, limit: 1 }, options),
  ])
  if (leaf === undefined || leaf >= head.size) throw notSealed(id)
  const finding = withNodes(ledger, (read) => inclusionPath(leaf, head.size, read), options)
  // The errors about the row are narrower.
  finding.catch(() => {})
  const [row] = await ledger.rows(Math.floor(leaf / LEAVES_PER_ROW), 1, options)
  if (!row || !one?.event) throw notSealed(id)
  const salt = saltAt(saltsOf(row.seed), leaf)
  const hash = splitHashes(row.hashes)[leaf % LEAVES_PER_ROW]
  const { event } = one
  const isSealed = (['event', 'late'] as const).some(
    (kind) => hash && areEqual(hash, eventLeaf(kind, event, salt)),
  )
  if (!hash || !isSealed) throw damaged(`event ${id} is not the one that was sealed`)
  const path = await finding
  // The tables may have been changed. What leaves the log as a proof is one.
  if (!areEqual(rootOfPath(hash, leaf, head.size, path), head.root))
    throw damaged(`the ledger has lost hashes that prove event ${id}`)
  return formatProof({ salt, index: leaf, path, note: head.note })
}
