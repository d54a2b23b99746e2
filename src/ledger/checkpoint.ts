import { fromBase64, toBase64 } from './base64.js'
import { rootsFromConsistency, type TreeHead } from './check-tree.js'
import { malformed, notProved } from './note.js'
import { areEqual } from './web-crypto.js'

/** The head of a tree, as a note signs it: https://c2sp.org/tlog-checkpoint, without extension lines. */
export interface Checkpoint extends TreeHead {
  /** Identifies the ledger: the name of the key that signs it. */
  readonly origin: string
}

export const formatCheckpoint = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${toBase64(root)}\n`

/** Reads a whole number without a sign or leading zeros, or returns `undefined`. */
export function readCount(text: string): number | undefined {
  const count = Number(text)
  return /^(?:0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(count) ? count : undefined
}

/** Reads a SHA-256 hash in base64 text, or returns `undefined`. */
export function readHash(text: string): Uint8Array | undefined {
  const bytes = fromBase64(text)
  return bytes?.length === 32 ? bytes : undefined
}

/** Reads the text of a note. Throws `MALFORMED_PROOF`. */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n')
  const [origin = '', countText = '', rootText = ''] = lines
  if (lines.length !== 4 || origin === '' || lines[3] !== '')
    throw malformed('the checkpoint', 'must have three lines: an origin, a size and a root')
  const size = readCount(countText)
  if (size === undefined) throw malformed('the checkpoint', `has no size, but ${countText}`)
  const root = readHash(rootText)
  if (!root) throw malformed('the checkpoint', 'has a root that is no SHA-256 hash in base64')
  return { origin, size, root }
}

/** Why the newer tree does not continue the older one, or `undefined` if the path shows that it does. */
export async function inconsistencyOf(
  older: TreeHead,
  newer: TreeHead,
  path: readonly Uint8Array[],
): Promise<string | undefined> {
  if (newer.size < older.size)
    return `it has ${newer.size} leaves, and the older one has ${older.size}`
  if (newer.size === older.size || older.size === 0) {
    if (path.length > 0) return 'the path must be empty'
    const isSame = newer.size > older.size || areEqual(older.root, newer.root)
    return isSame ? undefined : `both have ${older.size} leaves, but other roots`
  }
  const roots = await rootsFromConsistency(older, newer.size, path)
  if (!roots) return `the path does not have the length of one from ${older.size} to ${newer.size}`
  if (!areEqual(roots.from, older.root))
    return 'the path does not lead to the root of the older one'
  return areEqual(roots.to, newer.root)
    ? undefined
    : 'the path does not lead to the root of the newer one'
}

/** Throws `NOT_PROVED` if the checkpoint names another ledger than the key that has signed it. */
export function checkOrigin({ origin }: Checkpoint, keyName: string): void {
  if (origin !== keyName)
    throw notProved(`the checkpoint is of ${origin}, but the key that signed it is of ${keyName}`)
}
