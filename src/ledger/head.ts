import { formatCheckpoint, parseCheckpoint } from './checkpoint.js'
import { type LedgerSigner, parseNote, signNote } from './note.js'
import { consistencyPath, type ReadNode, rootOf } from './tree.js'

/** A tree to sign. */
export interface TreeToSign {
  readonly origin: string
  readonly size: number
  readonly read: ReadNode
  /** Number of leaves under the last note of the signer, if it is known. */
  readonly from?: number | undefined
}

/**
 * The signed note of the tree. A signer that keeps its last note gets the path from there; it rejects with `LEDGER_DIVERGED` if the tree
 * does not continue the one of that note.
 */
export async function signHead(
  { origin, size, read, from }: TreeToSign,
  signer: LedgerSigner,
): Promise<string> {
  const text = formatCheckpoint({ origin, size, root: rootOf(size, read) })
  const last = await signer.lastNote?.()
  if (last === undefined) return signNote(text, signer)
  const signed = from ?? parseCheckpoint(parseNote(last).text).size
  return signNote(text, signer, signed <= size ? consistencyPath(signed, size, read) : [])
}
