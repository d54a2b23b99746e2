import { fromBase64, toBase64 } from './base64.js'
import { type Edge, rootAt } from './edge.js'
import { type LedgerSigner, readVkey } from './note.js'
import { bytesOf, isSignedBy } from './web-crypto.js'

/*
 * Anybody who can write to the database can append statements that no head covers yet. So the process that appends statements signs
 * the tree at that moment. Another process that takes over keeps these statements, which the first one may be about to sign in a head,
 * and removes others. The signed text is no checkpoint, so a voucher is never a head.
 */

/** The first line of the texts, which is no origin. */
export const VOUCHER = 'daybook statements\n'

const textOf = (vkey: string, size: number, root: Uint8Array): Uint8Array =>
  bytesOf(`${VOUCHER}${vkey}\n${size}\n${toBase64(root)}\n`)

/** The voucher of the leaves of a tree: their number, and a signature. */
export async function vouch(signer: LedgerSigner, edge: Edge): Promise<string> {
  const text = textOf(signer.vkey, edge.size, rootAt(edge))
  const signature = await (signer.vouch ? signer.vouch(text) : signer.sign(text))
  return `${edge.size} ${toBase64(signature)}`
}

/** The number of leaves that a voucher is for, even if its signature is wrong; 0 without one. */
export const vouchedSize = (voucher: string | undefined): number => {
  const size = Number(voucher?.split(' ')[0] ?? 0)
  return Number.isSafeInteger(size) && size > 0 ? size : 0
}

/** True if the voucher is the one of this tree, by the key. */
export async function isVouched(
  voucher: string | undefined,
  { vkey }: Pick<LedgerSigner, 'vkey'>,
  edge: Edge,
): Promise<boolean> {
  const signature = fromBase64(voucher?.split(' ')[1] ?? '')
  if (signature?.length !== 64 || vouchedSize(voucher) !== edge.size) return false
  const { publicKey } = await readVkey(vkey)
  return isSignedBy(publicKey, textOf(vkey, edge.size, rootAt(edge)), signature)
}
