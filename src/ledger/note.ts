import { AuditLogError } from '../errors.js'
import { fromBase64, toBase64 } from './base64.js'
import { areEqual, bytesOf, isSignedBy, sha256 } from './web-crypto.js'

/*
 * Signed notes and verifier keys: https://c2sp.org/signed-note. A note with anything but its exact form is refused, so that no two
 * texts are the same note.
 */

/** Characters of a note or a proof. 16 signatures of ML-DSA need about 110,000. */
const MAX_LENGTH = 262_144
const MAX_SIGNATURES = 100

export const malformed = (what: string, fault: string): AuditLogError =>
  new AuditLogError('MALFORMED_PROOF', `${what} ${fault}`)

export const notProved = (fault: string): AuditLogError => new AuditLogError('NOT_PROVED', fault)

/** Throws `MALFORMED_PROOF` for anything but a text of usual length, without control characters other than line breaks. */
export function checkText(text: unknown, what: string): asserts text is string {
  if (typeof text !== 'string') throw malformed(what, 'must be a text')
  if (text === '') throw malformed(what, 'is empty')
  if (text.length > MAX_LENGTH) throw malformed(what, `has more than ${MAX_LENGTH} characters`)
  if (text.includes('\r')) throw malformed(what, 'has a carriage return; its lines end with \\n')
  // oxlint-disable-next-line no-control-regex -- the specification refuses these characters
  if (/[\0-\x09\x0b-\x1f]/.test(text) || !text.isWellFormed())
    throw malformed(what, 'has a control character, or a character that UTF-8 does not have')
}

/** Signature types of verifier keys, with the length of their public keys. */
const KEY_LENGTHS: Readonly<Record<number, number>> = { 1: 32, 4: 32, 6: 1312 }
/** Ed25519 signatures of notes. */
export const ED25519 = 1
/** Ed25519 signatures with a time, by witnesses: https://c2sp.org/tlog-cosignature. */
export const COSIGNATURE = 4

export interface VerifierKey {
  readonly vkey: string
  readonly name: string
  /** The first four bytes of each signature. */
  readonly id: Uint8Array
  readonly type: number
  readonly publicKey: Uint8Array
}

/** A name without white space and `+`, as signatures and keys need. */
export const isKeyName = (name: string): boolean =>
  name !== '' && !/[\p{White_Space}+\p{Cc}]/u.test(name) && name.isWellFormed()

const keyId = async (name: string, typed: Uint8Array): Promise<Uint8Array> =>
  (await sha256(`${name}\n`, typed)).slice(0, 4)

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** The verifier key of an Ed25519 key: `<name>+<id>+<key>`. */
export async function formatVkey(name: string, publicKey: Uint8Array): Promise<string> {
  const typed = bytesOf(Uint8Array.of(ED25519), publicKey)
  return `${name}+${hexOf(await keyId(name, typed))}+${toBase64(typed)}`
}

/** Reads a verifier key. Rejects with `MALFORMED_PROOF` for another type than the given ones. */
export async function readVkey(
  vkey: string,
  types: readonly number[] = [ED25519],
): Promise<VerifierKey> {
  checkText(vkey, 'the verifier key')
  const wrong = (fault: string): AuditLogError => malformed(`the verifier key ${vkey}`, fault)
  // The name has no plus, but base64 may.
  const [, name, hex, base64] = /^([^+]*)\+([0-9a-f]{8})\+([^\s]+)$/.exec(vkey) ?? []
  if (name === undefined || !isKeyName(name))
    throw wrong('is not <name>+<8 hexadecimal digits>+<base64>')
  const typed = fromBase64(base64!)
  if (!typed) throw wrong('does not end with base64 text')
  const type = typed[0]!
  if (!types.includes(type))
    throw wrong(`has the signature type ${type}, not ${types.join(' or ')}`)
  if (typed.length !== KEY_LENGTHS[type]! + 1) throw wrong('has a public key of another length')
  const id = await keyId(name, typed)
  if (hexOf(id) !== hex) throw wrong('has an id that is not the one of its name and public key')
  return { vkey, name, id, type, publicKey: typed.slice(1) }
}

export interface NoteSignature {
  readonly name: string
  readonly id: Uint8Array
  readonly signature: Uint8Array
}

export interface ParsedNote {
  /** The signed text, with its last line break. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** Splits a note. Throws `MALFORMED_PROOF`. Nothing is verified. */
export function parseNote(note: string): ParsedNote {
  checkText(note, 'the note')
  const end = note.lastIndexOf('\n\n')
  if (end < 0) throw malformed('the note', 'has no empty line before its signatures')
  if (!note.endsWith('\n')) throw malformed('the note', 'does not end with a line break')
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > MAX_SIGNATURES)
    throw malformed('the note', `has more than ${MAX_SIGNATURES} signatures`)
  if (new Set(lines).size < lines.length) throw malformed('the note', 'has a signature twice')
  const signatures = lines.map((line) => {
    const [, name, base64] = /^\u2014 ([^ ]+) ([^ ]+)$/.exec(line) ?? []
    const bytes = base64 === undefined ? undefined : fromBase64(base64)
    if (name === undefined || !isKeyName(name) || !bytes || bytes.length < 5)
      throw malformed(
        'the note',
        `has a signature line that is not "\u2014 <name> <base64>": ${line}`,
      )
    return { name, id: bytes.slice(0, 4), signature: bytes.slice(4) }
  })
  return { text: note.slice(0, end + 1), signatures }
}

/** Signature of the note by this key, or `undefined` if it has none. Throws `MALFORMED_PROOF` if it has several. */
export function signatureBy(
  { signatures }: ParsedNote,
  { name, id }: VerifierKey,
): Uint8Array | undefined {
  const own = signatures.filter((one) => one.name === name && areEqual(one.id, id))
  if (own.length > 1) throw malformed('the note', `has several signatures by ${name}`)
  return own[0]?.signature
}

/**
 * True if the key has signed the note, false if the note has no signature by it. Rejects with `NOT_PROVED` for a signature that is not
 * valid.
 */
export async function isNoteSignedBy(note: ParsedNote, key: VerifierKey): Promise<boolean> {
  const signature = signatureBy(note, key)
  if (!signature) return false
  if (signature.length === 64 && (await isSignedBy(key.publicKey, bytesOf(note.text), signature)))
    return true
  throw notProved(
    `the signature by ${key.name} is not valid: the note was changed, or it is forged`,
  )
}

export interface OpenedNote {
  /** The signed text, with its last line break. */
  readonly text: string
  /** The given verifier keys that have signed it, at least one. */
  readonly signedBy: readonly string[]
}

/**
 * The text of a signed note. Signatures by other keys are ignored. Rejects with `MALFORMED_PROOF` for a note or a verifier key that does
 * not follow its format, and with `NOT_PROVED` if one of the signatures by these keys is not valid, or if there is none.
 */
export async function openNote(note: string, vkeys: readonly string[]): Promise<OpenedNote> {
  const parsed = parseNote(note)
  if (!Array.isArray(vkeys)) throw malformed('the keys', 'must be a list of verifier keys')
  const signedBy: string[] = []
  for (const vkey of new Set(vkeys))
    if (await isNoteSignedBy(parsed, await readVkey(vkey))) signedBy.push(vkey)
  if (signedBy.length > 0) return { text: parsed.text, signedBy }
  const names = parsed.signatures.map(({ name }) => name).join(', ')
  throw notProved(`the note is signed by none of the given keys, but by ${names}`)
}

/** Signs the heads of a ledger: a key file, or a function of a host that keeps the key elsewhere. */
export interface LedgerSigner {
  /** The verifier key of the signatures. Its name is the origin of the ledger. */
  readonly vkey: string
  /**
   * The Ed25519 signature of these bytes, 64 bytes. `consistency` is the path from the tree of `lastNote` to the tree that the bytes
   * state.
   */
  sign(text: Uint8Array, consistency?: readonly Uint8Array[]): Uint8Array | Promise<Uint8Array>
  /**
   * The signature of a text that is no head. Statements that wait for a head are signed so, some of them in a second at most.
   * @default `sign`
   */
  readonly vouch?: ((text: Uint8Array) => Uint8Array | Promise<Uint8Array>) | undefined
  /** The last note that it has signed, if it keeps it. */
  readonly lastNote?: (() => Promise<string>) | undefined
}

/** The note of a text, with one signature. Rejects with `INVALID_OPTION` if the signer does not sign with the key of its `vkey`. */
export async function signNote(
  text: string,
  signer: LedgerSigner,
  consistency?: readonly Uint8Array[],
): Promise<string> {
  const key = await readVkey(signer.vkey)
  const signature = await signer.sign(bytesOf(text), consistency)
  const isRight =
    signature instanceof Uint8Array &&
    signature.length === 64 &&
    (await isSignedBy(key.publicKey, bytesOf(text), signature))
  if (isRight) return `${text}\n\u2014 ${key.name} ${toBase64(bytesOf(key.id, signature))}\n`
  throw new AuditLogError(
    'INVALID_OPTION',
    `sign of the signer must return the 64 bytes of the Ed25519 signature by ${signer.vkey}`,
  )
}
