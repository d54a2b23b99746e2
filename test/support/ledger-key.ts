import { createPrivateKey, sign } from 'node:crypto'
import fs from 'node:fs'
import { keyFile, type LedgerSigner } from 'daybook/ledger'
import { generateKey } from '../../src/ledger/key-file.js'
import { tempDir } from './temp.js'

export const ORIGIN = 'audit.example.com/orders'

/** A key in a file of its own, and a signer with the same key that remembers no note. */
export interface LedgerKey {
  readonly vkey: string
  readonly file: string
  readonly signer: LedgerSigner
  readonly forgetful: LedgerSigner
  /** The note of the empty tree, as the key file begins with. */
  readonly firstNote: string
  remove(): void
}

export async function ledgerKey(): Promise<LedgerKey> {
  const temp = tempDir()
  const file = temp.file('ledger.pem')
  const vkey = await generateKey(ORIGIN, file)
  const pem = createPrivateKey(fs.readFileSync(file, 'utf8').replace(/^.*\n/, ''))
  return {
    vkey,
    file,
    signer: keyFile(file),
    firstNote: fs.readFileSync(`${file}.note`, 'utf8'),
    forgetful: { vkey, sign: (text) => sign(null, text, pem) },
    remove: temp.remove,
  }
}
