import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { LazyEvent } from '../../../src/event/lazy-event.js'
import { eventEntry, type EventKind, bodyOf } from '../../../src/ledger/entry.js'
import { signHead } from '../../../src/ledger/head.js'
import { saltAt, saltsOf } from '../../../src/ledger/leaf.js'
import { formatVkey, type LedgerSigner } from '../../../src/ledger/note.js'
import { formatProof } from '../../../src/ledger/proof.js'
import { sha256Base64 } from '../../../src/ledger/sha256.js'
import {
  completedNodes,
  consistencyPath,
  inclusionPath,
  leafHash,
  type ReadNode,
} from '../../../src/ledger/tree.js'

/** PKCS #8 before the 32 bytes of an Ed25519 key. */
const PKCS8 = '302e020100300506032b657004220420'

/** The signer of the key that these 32 bytes are. */
export async function signerOf(origin: string, secret: Uint8Array): Promise<LedgerSigner> {
  const der = Buffer.concat([Buffer.from(PKCS8, 'hex'), secret])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  return {
    vkey: await formatVkey(origin, Buffer.from(x!, 'base64url')),
    sign: (text) => sign(null, text, key),
  }
}

/** A tree in memory, of these entries. */
export function treeOf(entries: readonly string[]): ReadNode {
  const hashes = entries.map(leafHash)
  const nodes = new Map(hashes.map((hash, index) => [`0/${index}`, hash]))
  for (const { level, index, hash } of completedNodes(0, hashes, () => new Uint8Array()))
    nodes.set(`${level}/${index}`, hash)
  return (level, index) => nodes.get(`${level}/${index}`)!
}

export interface VectorInput {
  readonly origin: string
  /** The 32 bytes of the private key. */
  readonly key: string
  /** The seed of the salts of the first row. */
  readonly seed: string
  /** Statements as entries, and events as their fields and the stored text of their attributes. */
  readonly leaves: readonly (
    | { readonly entry: string }
    | {
        readonly kind: EventKind
        readonly own: {
          readonly id: string
          readonly created_at: string
          readonly username: string | null
          readonly system: boolean
          readonly type: string
          readonly source: string | null
        }
        readonly attributes: string
      }
  )[]
  /** The size of the older tree. */
  readonly older: number
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Everything that the format defines, of these values. */
export async function vectorsOf({ origin, key, seed, leaves, older }: VectorInput) {
  const salts = saltsOf(Buffer.from(seed, 'hex'))
  const signer = await signerOf(origin, Buffer.from(key, 'hex'))
  const made = leaves.map((leaf, index) => {
    if ('entry' in leaf) return { index, entry: leaf.entry }
    const event = new LazyEvent(leaf.own, leaf.attributes)
    const salt = saltAt(salts, index)
    const body = bodyOf(event)
    const entry = eventEntry(leaf.kind, event, sha256Base64(salt, body))
    const { id, created_at } = event
    const line = `${JSON.stringify({ id, created_at }).slice(0, -1)},${body.slice(1)}`
    return { index, entry, line, body, salt: hex(salt) }
  })
  const read = treeOf(made.map(({ entry }) => entry))
  const size = made.length
  const note = await signHead({ origin, size, read }, signer)
  return {
    vkey: signer.vkey,
    salts: { first: hex(saltAt(salts, 0)), last: hex(saltAt(salts, 255)) },
    leaves: made.map((leaf) => ({
      ...leaf,
      hash: hex(read(0, leaf.index)),
      proof:
        leaf.salt &&
        formatProof({
          salt: Buffer.from(leaf.salt, 'hex'),
          index: leaf.index,
          path: inclusionPath(leaf.index, size, read),
          note,
        }),
    })),
    note,
    olderNote: await signHead({ origin, size: older, read }, signer),
    consistency: consistencyPath(older, size, read).map(base64),
  }
}
