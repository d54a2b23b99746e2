import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign as signBytes,
} from 'node:crypto'
import { accessSync, constants, readFileSync, renameSync, statSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { AuditLogError } from '../errors.js'
import { checkOptions, type OptionNames } from '../options.js'
import { formatCheckpoint, inconsistencyOf, parseCheckpoint } from './checkpoint.js'
import {
  formatVkey,
  isNoteSignedBy,
  type LedgerSigner,
  parseNote,
  readVkey,
  signNote,
} from './note.js'
import { checkOriginName } from './origin.js'
import { rootOf } from './tree.js'
import { VOUCHER } from './voucher.js'

const invalid = (message: string, cause?: unknown): AuditLogError =>
  new AuditLogError('INVALID_OPTION', message, { cause })

const diverged = (message: string, cause?: unknown): AuditLogError =>
  new AuditLogError('LEDGER_DIVERGED', message, { cause })

function publicBytes(key: KeyObject): Uint8Array {
  const { x } = key.export({ format: 'jwk' })
  return Buffer.from(x!, 'base64url')
}

/** Makes the entry of a file in its folder durable. Windows has no such call, and refuses to open a folder. */
async function syncFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path.dirname(path.resolve(file)))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const OWNER_ONLY = 0o600

/** Writes a new file durably. Rejects if there is one. */
async function createFile(file: string, text: string): Promise<void> {
  const opened = await open(file, 'wx', OWNER_ONLY)
  try {
    await opened.writeFile(text)
    await opened.sync()
  } catch (error) {
    await rm(file, { force: true })
    throw error
  } finally {
    await opened.close()
  }
}

/** Like {@link createFile}. Rejects with `INVALID_OPTION`. */
async function createNew(file: string, text: string): Promise<void> {
  try {
    await createFile(file, text)
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw invalid(
      exists ? `${file} exists; a key is never overwritten` : `cannot write ${file}`,
      error,
    )
  }
}

/**
 * Replaces a file durably: after a crash it has the old text or the new one. Rejects with `STORE_FAILED`, and with `LEDGER_DIVERGED` if the
 * old text is another one.
 */
async function replaceFile(file: string, old: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    await createFile(temporary, text)
    // Without a pause between the two: another process may sign with the same file.
    if (readFileSync(file, 'utf8') !== old)
      throw diverged(`another process has changed ${file} meanwhile; nothing was signed`)
    renameSync(temporary, file)
    await syncFolder(file)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    if (error instanceof AuditLogError) throw error
    throw new AuditLogError('STORE_FAILED', `cannot write ${file}; nothing was signed`, {
      cause: error,
    })
  }
}

const noteBeside = (file: string): string => `${file}.note`

/** Signer of one key, without memory. */
const plainSigner = (vkey: string, key: KeyObject): LedgerSigner => ({
  vkey,
  sign: (text) => signBytes(null, text, key),
})

/**
 * Makes the key of a new ledger, and writes it to a file that only its owner can read. Beside it, the file `<file>.note` gets the note
 * of the empty tree. Resolves to the verifier key. Rejects with `INVALID_OPTION` for an origin that is not allowed, and if one of the
 * files exists or cannot be written.
 */
export async function generateKey(origin: string, file: string): Promise<string> {
  checkOriginName(origin)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const vkey = await formatVkey(origin, publicBytes(publicKey))
  const empty = formatCheckpoint({ origin, size: 0, root: rootOf(0, () => new Uint8Array()) })
  const note = await signNote(empty, plainSigner(vkey, privateKey))
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  // A key without a note signs nothing, so the note is first.
  await createNew(noteBeside(file), note)
  try {
    await createNew(file, `${vkey}\n${pem}`)
  } catch (error) {
    await rm(noteBeside(file))
    throw error
  }
  await syncFolder(file)
  return vkey
}

/** The first line is the verifier key, then comes the private key as PKCS #8 in PEM. */
function readKey(file: string): { readonly vkey: string; readonly key: KeyObject } {
  let text: string
  try {
    const { mode } = statSync(file)
    if (process.platform !== 'win32' && (mode & 0o007) !== 0)
      throw invalid(`every user of this machine can read ${file}: run chmod 600 ${file}`)
    text = readFileSync(file, 'utf8').replaceAll('\r\n', '\n')
  } catch (error) {
    if (error instanceof AuditLogError) throw error
    throw invalid(`cannot read the key file ${file}; daybook keygen makes one`, error)
  }
  const [, vkey = '', pem = ''] = /^([^\n]+)\n(-----BEGIN PRIVATE KEY-----\n.*)$/s.exec(text) ?? []
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(pem)
  } catch {
    // The error could quote the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519')
    throw invalid(`${file} is no key file: it must have a verifier key, then an Ed25519 key in PEM`)
  const bytes = Buffer.concat([Buffer.of(1), publicBytes(key)])
  const [name = ''] = vkey.split('+')
  const id = createHash('sha256').update(`${name}\n`).update(bytes).digest('hex').slice(0, 8)
  if (vkey !== `${name}+${id}+${bytes.toString('base64')}`)
    throw invalid(`the verifier key of ${file} is not the one of its private key`)
  return { vkey, key }
}

/** Throws `INVALID_OPTION` if the next note could not be written beside this file. */
function checkFolder(note: string): void {
  const folder = path.dirname(path.resolve(note))
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw invalid(
      `the folder ${folder} is not writable, but keeps the last note of the key: let this user write there, or name another file with the option note`,
      error,
    )
  }
}

export interface KeyFileOptions {
  /**
   * The file that keeps the last signed note. Its folder must be writable.
   * @default the path of the key with `.note` after it
   */
  readonly note?: string | undefined
}

const KEY_FILE_OPTIONS: OptionNames<KeyFileOptions> = { note: true }

/**
 * Signer of the key in a file of `daybook keygen`. It writes each note to the file of the last note before it returns the signature, and
 * refuses a tree that does not continue the one of that note with `LEDGER_DIVERGED`: so a database that was set back is noticed. It
 * refuses as well if that file is missing or was changed. Throws `INVALID_OPTION` if the key cannot be read, if every user can read
 * it, or if the folder of the last note is not writable.
 */
export function keyFile(file: string, options: KeyFileOptions = {}): LedgerSigner {
  checkOptions(options, KEY_FILE_OPTIONS, 'keyFile')
  if (typeof file !== 'string' || file === '') throw invalid('keyFile takes the path of a key file')
  const { note = noteBeside(file) } = options
  if (typeof note !== 'string' || note === '') throw invalid('note must be the path of a file')
  const { vkey, key } = readKey(file)
  checkFolder(note)

  /** The last note, once it is known to be whole and signed by this key. */
  async function lastNote(): Promise<string> {
    let text: string
    try {
      text = await readFile(note, 'utf8')
    } catch (error) {
      throw diverged(
        `cannot read ${note}, the last note of ${file}: put the newest note of this ledger there`,
        error,
      )
    }
    try {
      if (await isNoteSignedBy(parseNote(text), await readVkey(vkey))) return text
    } catch (error) {
      throw diverged(`${note} was changed or is damaged`, error)
    }
    throw diverged(`${note} is not signed by ${vkey}`)
  }

  async function sign(
    text: Uint8Array,
    consistency: readonly Uint8Array[] = [],
  ): Promise<Uint8Array> {
    const newer = parseCheckpoint(Buffer.from(text).toString())
    const { name } = await readVkey(vkey)
    if (newer.origin !== name)
      throw diverged(`the key ${file} is of ${name}, and does not sign for ${newer.origin}`)
    const last = await lastNote()
    const older = parseCheckpoint(parseNote(last).text)
    const fault = await inconsistencyOf(older, newer, consistency)
    if (fault !== undefined)
      throw diverged(
        `the tree does not continue the one of ${note}, which was signed last: ${fault}`,
      )
    const signature = signBytes(null, text, key)
    const signed = { vkey, sign: () => signature }
    await replaceFile(note, last, await signNote(Buffer.from(text).toString(), signed))
    return signature
  }

  let previous: Promise<unknown> = Promise.resolve()
  return {
    vkey,
    lastNote,
    vouch(text) {
      if (!Buffer.from(text).toString().startsWith(VOUCHER))
        throw invalid(`vouch signs texts that begin with ${VOUCHER}`)
      return signBytes(null, text, key)
    },
    /** One after the other: each signature depends on the last note. */
    sign(text, consistency) {
      const signed = previous.then(() => sign(text, consistency))
      previous = signed.catch(() => {})
      return signed
    },
  }
}
