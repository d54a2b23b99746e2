import { type Checkpoint, checkOrigin, parseCheckpoint } from './checkpoint.js'
import {
  checkText,
  COSIGNATURE,
  isNoteSignedBy,
  malformed,
  notProved,
  type ParsedNote,
  parseNote,
  readVkey,
  signatureBy,
  type VerifierKey,
} from './note.js'
import { bytesOf, isSignedBy } from './web-crypto.js'

/*
 * Policies of trust: https://c2sp.org/tlog-policy. A policy lists the keys of ledgers, and may require cosignatures of witnesses.
 */

interface Group {
  readonly least: number
  readonly members: readonly string[]
}

export interface Policy {
  readonly logs: readonly VerifierKey[]
  /** Witnesses and groups by their names. */
  readonly witnesses: ReadonlyMap<string, VerifierKey | Group>
  /** A witness or a group; `none` if no cosignature is required. */
  readonly quorum: string
}

const NONE = 'none'
const wrong = (fault: string): Error => malformed('the policy', fault)

/** ML-DSA-44, which this version reads in policies and cannot verify. */
const ML_DSA = 6

/** A second key with the same public key could count twice. */
function refuseTwice(key: VerifierKey, keys: readonly VerifierKey[]): void {
  const same = keys.find(({ publicKey }) => String(publicKey) === String(key.publicKey))
  if (same) throw wrong(`has the public key of ${key.name} twice`)
}

/** Removes the members from the names that may still become members: each counts in one way only. */
function readGroup(words: readonly string[], free: Set<string>): Group {
  const [, name, threshold, ...members] = words
  const least = threshold === 'any' ? 1 : threshold === 'all' ? members.length : Number(threshold)
  const isCount = threshold === 'any' || threshold === 'all' || /^[1-9]\d*$/.test(threshold ?? '')
  if (!isCount || least > members.length || least < 1)
    throw wrong(`has the group ${name} without a threshold of 1 to the number of its members`)
  const taken = members.find((member) => !free.delete(member))
  if (taken === undefined) return { least, members }
  throw wrong(
    `names ${taken} in the group ${name}: no line above defines it, or it is a member already`,
  )
}

/** Reads the text of a policy, or a single verifier key, which trusts that ledger alone. Rejects with `MALFORMED_PROOF`. */
export async function readPolicy(text: string): Promise<Policy> {
  checkText(typeof text === 'string' ? text.replaceAll('\t', ' ') : text, 'the policy')
  const isOneKey = /^[^ \t\n]+\n?$/.test(text)
  if (isOneKey)
    return { logs: [await readVkey(text.replace('\n', ''))], witnesses: new Map(), quorum: NONE }
  const logs: VerifierKey[] = []
  const witnessKeys: VerifierKey[] = []
  const witnesses = new Map<string, VerifierKey | Group>()
  /** Names that are no members of a group yet. */
  const free = new Set<string>()
  let quorum: string | undefined
  const checkName = (name: string): void => {
    if (name === NONE || witnesses.has(name)) throw wrong(`defines the name ${name} twice`)
  }
  for (const line of text.split('\n')) {
    const words = line.split(/[ \t]+/).filter((word) => word !== '')
    const [keyword, first = '', second = ''] = words
    if (keyword === undefined || keyword.startsWith('#')) continue
    const form = `${keyword} ${words.length}`
    if (form === 'log 2' || form === 'log 3') {
      const key = await readVkey(first)
      refuseTwice(key, logs)
      logs.push(key)
    } else if (form === 'witness 3' || form === 'witness 4') {
      checkName(first)
      const key = await readVkey(second, [COSIGNATURE, ML_DSA])
      refuseTwice(key, witnessKeys)
      witnessKeys.push(key)
      witnesses.set(first, key)
      free.add(first)
    } else if (keyword === 'group' && words.length > 3) {
      checkName(first)
      witnesses.set(first, readGroup(words, free))
      free.add(first)
    } else if (form === 'quorum 2' && quorum === undefined) {
      if (first !== NONE && !witnesses.has(first))
        throw wrong(`has the quorum ${first}, which no line above defines`)
      quorum = first
    } else throw wrong(`has a line that is not allowed: ${line}`)
  }
  if (quorum === undefined) throw wrong('has no quorum line; "quorum none" requires no witness')
  if (logs.length === 0) throw wrong('has no log line')
  return { logs, witnesses, quorum }
}

/** True if the witness has signed the checkpoint. Rejects with `NOT_PROVED` for a signature that is not valid. */
async function isCosignedBy(note: ParsedNote, key: VerifierKey): Promise<boolean> {
  const signed = signatureBy(note, key)
  if (!signed) return false
  if (key.type === ML_DSA)
    throw notProved(`the signature by ${key.name} is of ML-DSA, which is not checked here`)
  if (signed.length !== 72) throw notProved(`the signature by ${key.name} is not valid`)
  const time = new DataView(signed.buffer, signed.byteOffset).getBigUint64(0)
  const message = bytesOf(`cosignature/v1\ntime ${time}\n${note.text}`)
  if (await isSignedBy(key.publicKey, message, signed.slice(8))) return true
  throw notProved(
    `the signature by ${key.name} is not valid: the note was changed, or it is forged`,
  )
}

async function isQuorum(note: ParsedNote, policy: Policy, name: string): Promise<boolean> {
  const one = policy.witnesses.get(name)!
  if (!('members' in one)) return isCosignedBy(note, one)
  let count = 0
  for (const member of one.members) if (await isQuorum(note, policy, member)) count++
  return count >= one.least
}

/**
 * The checkpoint of a note that the policy accepts. Rejects with `MALFORMED_PROOF` for a note that does not follow its format, and with
 * `NOT_PROVED` if no ledger of the policy has signed it, a signature is not valid, or the quorum of witnesses is not reached.
 */
export async function openCheckpoint(note: string, policy: Policy): Promise<Checkpoint> {
  const parsed = parseNote(note)
  const checkpoint = parseCheckpoint(parsed.text)
  const signed: VerifierKey[] = []
  for (const log of policy.logs) if (await isNoteSignedBy(parsed, log)) signed.push(log)
  if (signed.length === 0) {
    const names = policy.logs.map(({ vkey }) => vkey).join(', ')
    throw notProved(`the checkpoint of ${checkpoint.origin} is not signed by ${names}`)
  }
  for (const { name } of signed) checkOrigin(checkpoint, name)
  if (policy.quorum !== NONE && !(await isQuorum(parsed, policy, policy.quorum)))
    throw notProved(`the checkpoint lacks the cosignatures of the quorum ${policy.quorum}`)
  return checkpoint
}
