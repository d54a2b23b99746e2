import type { AuditEvent } from '../event/event.js'
import { fromBase64, toBase64 } from './base64.js'
import { leafHashOf, rootFromInclusion } from './check-tree.js'
import { inconsistencyOf, readCount, readHash } from './checkpoint.js'
import { eventEntry, type EventKind } from './entry.js'
import { type OptionNames, requireOptions } from '../options.js'
import { checkText, malformed, notProved } from './note.js'
import { openCheckpoint, readPolicy } from './policy.js'
import { areEqual, sha256 } from './web-crypto.js'

/* Proofs of one event: https://c2sp.org/tlog-proof, with the salt of the event as its extra data. */

const HEADER = 'c2sp.org/tlog-proof@v1'
const SALT_LENGTH = 16
/** Levels of the largest tree whose sizes are exact numbers. */
const MAX_PATH = 53

export interface Proof {
  readonly salt: Uint8Array
  /** The leaf of the event. */
  readonly index: number
  /** The inclusion path. */
  readonly path: readonly Uint8Array[]
  /** The signed note of the tree. */
  readonly note: string
}

export const formatProof = ({ salt, index, path, note }: Proof): string =>
  [HEADER, `extra ${toBase64(salt)}`, `index ${index}`, ...path.map(toBase64), '', note].join('\n')

const wrong = (fault: string): Error => malformed('the proof', fault)

/** Reads a proof. Throws `MALFORMED_PROOF`. Nothing is verified. */
export function parseProof(text: string): Proof {
  checkText(text, 'the proof')
  const end = text.indexOf('\n\n')
  if (end < 0) throw wrong('has no empty line before its checkpoint')
  const [header, extra = '', position = '', ...hashes] = text.slice(0, end).split('\n')
  if (header !== HEADER) throw wrong(`does not begin with ${HEADER}`)
  const salt = extra.startsWith('extra ') ? fromBase64(extra.slice(6)) : undefined
  if (salt?.length !== SALT_LENGTH)
    throw wrong(`has no line "extra" with a salt of ${SALT_LENGTH} bytes in base64`)
  const index = position.startsWith('index ') ? readCount(position.slice(6)) : undefined
  if (index === undefined) throw wrong('has no line "index" with a whole number after "extra"')
  if (hashes.length > MAX_PATH) throw wrong(`has more than ${MAX_PATH} hashes`)
  const path = hashes.map((line) => {
    const hash = readHash(line)
    if (!hash) throw wrong(`has a line that is no SHA-256 hash in base64: ${line}`)
    return hash
  })
  return { salt, index, path, note: text.slice(end + 2) }
}

/** An export line without a line break: maybe the key of its log, then id and time, then the body. */
const LINE =
  /^\{(?:"log":"(?:[^"\\\n]|\\.)*",)?"id":"([^"\\]+)","created_at":"([^"\\]+)",([^\n\r]+)$/

/** The parts of an export line that an entry has. Throws `MALFORMED_PROOF`. */
function readLine(
  line: unknown,
): Pick<AuditEvent, 'id' | 'created_at'> & { readonly body: string } {
  if (typeof line !== 'string') throw malformed('the event', 'must be the text of an export line')
  const [, id, created_at, rest] = LINE.exec(line.endsWith('\n') ? line.slice(0, -1) : line) ?? []
  if (id === undefined || created_at === undefined)
    throw malformed('the event', 'is not one export line, which begins with "id" and "created_at"')
  return { id, created_at, body: `{${rest}` }
}

export interface ProofCheck {
  /** The text of a proof. */
  readonly proof: string
  /** The event as a line of an NDJSON export, byte for byte. */
  readonly event: string
  /** The text of a policy, or the verifier key of the ledger. */
  readonly policy: string
}

const PROOF_CHECK: OptionNames<ProofCheck> = { proof: true, event: true, policy: true }

export interface ProvedEvent {
  /** The ledger that has the event. */
  readonly origin: string
  /** Number of leaves of the signed tree. */
  readonly size: number
  /** The leaf of the event. */
  readonly index: number
  /** `late` if the event became visible behind events that were already sealed. */
  readonly kind: EventKind
  /** The event that is proved. It has nothing that is not. */
  readonly event: AuditEvent
}

/**
 * Proves that a ledger has sealed this event with these values: that the event, with the salt of the proof, is a leaf of the tree that
 * the note of the proof states, and that the note is signed as the policy requires. Needs no log and no network. Rejects with
 * `MALFORMED_PROOF` for a text that does not follow its format, with `NOT_PROVED` if something does not match, and with `INVALID_OPTION`.
 */
export async function checkProof(given: ProofCheck): Promise<ProvedEvent> {
  requireOptions(given, PROOF_CHECK, 'checkProof')
  const { proof, event, policy } = given
  const trusted = await readPolicy(policy)
  const { salt, index, path, note } = parseProof(proof)
  const { body, ...own } = readLine(event)
  const { origin, size, root } = await openCheckpoint(note, trusted)
  if (index >= size) throw wrong(`has the index ${index}, but the tree has ${size} leaves`)
  const hash = toBase64(await sha256(salt, body))
  for (const kind of ['event', 'late'] as const) {
    const leaf = await leafHashOf(eventEntry(kind, own, hash))
    const found = await rootFromInclusion(leaf, index, size, path)
    if (!found) throw wrong(`has a path of another length than leaf ${index} of ${size} has`)
    if (!areEqual(found, root)) continue
    const values = JSON.parse(body) as Omit<AuditEvent, 'id' | 'created_at'>
    // A body that a database writer has made may have an id too.
    return { origin, size, index, kind, event: { ...own, ...values, ...own } }
  }
  throw notProved(
    `event ${own.id} with these values is not leaf ${index} of ${origin}: the event, its salt or the path was changed, or the line was written anew`,
  )
}

export interface ConsistencyCheck {
  /** The signed note of the older tree. */
  readonly older: string
  /** The signed note of the newer tree. */
  readonly newer: string
  /** The hashes of the consistency path, in base64. */
  readonly path: readonly string[]
  /** The text of a policy, or the verifier key of the ledger. */
  readonly policy: string
}

const CONSISTENCY_CHECK: OptionNames<ConsistencyCheck> = {
  older: true,
  newer: true,
  path: true,
  policy: true,
}

/**
 * Proves that the newer tree begins with the older one: that nothing in it was changed, removed or inserted. Resolves to the sizes.
 * Rejects with `MALFORMED_PROOF` and `NOT_PROVED` as {@link checkProof} does.
 */
export async function checkConsistency(
  given: ConsistencyCheck,
): Promise<{ readonly from: number; readonly to: number }> {
  requireOptions(given, CONSISTENCY_CHECK, 'checkConsistency')
  const { older, newer, path, policy } = given
  if (!Array.isArray(path)) throw malformed('the path', 'must be a list of hashes')
  const trusted = await readPolicy(policy)
  const [from, to] = [await openCheckpoint(older, trusted), await openCheckpoint(newer, trusted)]
  if (from.origin !== to.origin)
    throw notProved(`the older checkpoint is of ${from.origin}, the newer one of ${to.origin}`)
  const hashes = path.map((line) => {
    const hash = readHash(line)
    if (!hash) throw malformed('the path', `has a line that is no SHA-256 hash in base64: ${line}`)
    return hash
  })
  const fault = await inconsistencyOf(from, to, hashes)
  if (fault !== undefined)
    throw notProved(`the newer tree does not continue the older one: ${fault}`)
  return { from: from.size, to: to.size }
}
