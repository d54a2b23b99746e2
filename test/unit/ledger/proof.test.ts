import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { signHead } from '../../../src/ledger/head.js'
import { checkConsistency, checkProof, formatProof, parseProof } from '../../../src/ledger/proof.js'
import { consistencyPath, inclusionPath } from '../../../src/ledger/tree.js'
import { signerOf, treeOf, type VectorInput, vectorsOf } from './ledger-vectors.js'

interface Vectors {
  readonly input: VectorInput
  readonly output: Awaited<ReturnType<typeof vectorsOf>>
}

/*
 * Frozen: other programs check proofs by these bytes. A change of the file is a new format, and old proofs could no longer be
 * checked.
 */
const file = path.join(import.meta.dirname, '../../fixtures/ledger/vectors.json')
const { input, output } = JSON.parse(fs.readFileSync(file, 'utf8')) as Vectors
const { vkey, note, olderNote, consistency } = output
const [, created, noted, imported] = output.leaves
const proof = created!.proof!
const event = created!.line!

const MALFORMED = expect.objectContaining({ code: 'MALFORMED_PROOF' })
const NOT_PROVED = expect.objectContaining({ code: 'NOT_PROVED' })

describe('the format', () => {
  it('is the one of the vectors', async () => {
    expect(JSON.parse(JSON.stringify(await vectorsOf(input)))).toEqual(output)
  })

  it('of a proof is written as it is read', () => {
    expect(formatProof(parseProof(proof))).toBe(proof)
  })
})

describe('checkProof', () => {
  it.each([
    ['event', created!],
    ['event', noted!],
    ['late', imported!],
  ])('proves an event of kind %s', async (kind, leaf) => {
    const proved = await checkProof({ proof: leaf.proof!, event: leaf.line!, policy: vkey })
    expect(proved).toEqual({
      origin: 'audit.example.com/orders',
      size: 7,
      index: leaf.index,
      kind,
      event: JSON.parse(leaf.line!) as unknown,
    })
  })

  it('takes a policy, a line break, and the line of an export of several logs, whose log is not proved', async () => {
    const line = `{"log":"a \\" b",${event.slice(1)}\n`
    const proved = await checkProof({ proof, event: line, policy: `log ${vkey}\nquorum none\n` })
    expect(proved.event).toEqual(JSON.parse(event))
  })

  it('proves the only event of a tree, whose path is empty', async () => {
    const signer = await signerOf('a', Buffer.alloc(32, 1))
    const only = await vectorsOf({ ...input, origin: 'a', leaves: [input.leaves[1]!], older: 1 })
    expect(only.vkey).not.toBe(signer.vkey)
    const [leaf] = only.leaves
    const proved = await checkProof({ proof: leaf!.proof!, event: leaf!.line!, policy: only.vkey })
    expect([proved.index, proved.size]).toEqual([0, 1])
  })

  const lines = proof.split('\n')
  const [header, extra, index, hash1, hash2, hash3] = lines as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const without = (line: string): string => proof.replace(`${line}\n`, '')
  it.each([
    ['another header', proof.replace('@v1', '@v2')],
    ['a header in capitals', proof.replace('c2sp', 'C2SP')],
    ['no header', without(header)],
    ['a header twice', `${header}\n${proof}`],
    ['no salt', without(extra)],
    ['a salt twice', proof.replace(extra, `${extra}\n${extra}`)],
    ['a short salt', proof.replace(extra, 'extra AAAA')],
    ['a salt without padding', proof.replace('Lmw==', 'Lmw')],
    ['a salt with bits that no byte has', proof.replace('Lmw==', 'Lmx==')],
    ['no index', without(index)],
    ['the index before the salt', proof.replace(`${extra}\n${index}`, `${index}\n${extra}`)],
    ['an index with a zero before it', proof.replace('index 1', 'index 01')],
    ['a negative index', proof.replace('index 1', 'index -1')],
    ['an index with a fraction', proof.replace('index 1', 'index 1.0')],
    ['an index beyond the tree', proof.replace('index 1', 'index 7')],
    ['an index that is not exact', proof.replace('index 1', 'index 9007199254740993')],
    ['a full-width index', proof.replace('index 1', 'index １')],
    ['two spaces', proof.replace('index 1', 'index  1')],
    ['a space after a line', proof.replace('index 1\n', 'index 1 \n')],
    ['a hash less', without(hash2)],
    ['no hashes', without(hash1).replace(`${hash2}\n`, '').replace(`${hash3}\n`, '')],
    ['a hash twice', proof.replace(hash2, `${hash2}\n${hash2}`)],
    ['a hash more', proof.replace(hash3, `${hash3}\n${hash1}`)],
    ['a thousand hashes', proof.replace(hash3, `${hash3}\n`.repeat(1000).trimEnd())],
    ['a short hash', proof.replace(hash1, 'AAAA')],
    ['base64url', proof.replace(hash1, hash1.replaceAll('+', '-').replaceAll('/', '_'))],
    ['no empty line before the checkpoint', proof.replace('\n\naudit', '\naudit')],
    ['two empty lines before the checkpoint', proof.replace('\n\naudit', '\n\n\naudit')],
    ['an empty line before the hashes', proof.replace(`${index}\n`, `${index}\n\n`)],
    ['carriage returns', proof.replaceAll('\n', '\r\n')],
    ['one carriage return', proof.replace('\n', '\r\n')],
    ['a byte order mark', `\ufeff${proof}`],
    ['a line break before it', `\n${proof}`],
    ['a line break after it', `${proof}\n`],
    ['itself twice', proof + proof],
    ['the checkpoint twice', `${proof}\n${note}`],
    ['a tree without leaves', proof.replace('\n7\n', '\n0\n')],
    ['no signature', proof.slice(0, proof.lastIndexOf('—'))],
    ['nothing', ''],
  ])('refuses a proof with %s', async (_name, text) => {
    expect(text).not.toBe(proof)
    // A changed checkpoint is noticed by its signature before its tree is looked at.
    const refused = text.includes('\n0\n') ? NOT_PROVED : MALFORMED
    await expect(checkProof({ proof: text, event, policy: vkey })).rejects.toEqual(refused)
  })

  it('refuses every beginning and every end of a proof', async () => {
    for (let end = 0; end < proof.length; end++) {
      const parts = [proof.slice(0, end), proof.slice(end + 1)]
      for (const part of parts)
        await expect(checkProof({ proof: part, event, policy: vkey })).rejects.toEqual(MALFORMED)
    }
  })

  it('refuses a proof with any other character', async () => {
    for (let at = 0; at < proof.length; at++) {
      const next = String.fromCharCode(proof.charCodeAt(at) ^ 1)
      const text = proof.slice(0, at) + next + proof.slice(at + 1)
      await expect(checkProof({ proof: text, event, policy: vkey })).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:MALFORMED_PROOF|NOT_PROVED)$/) as string,
      })
    }
  })

  it('refuses a signed tree that has no such leaf', async () => {
    const signer = await signerOf(input.origin, Buffer.from(input.key, 'hex'))
    for (const size of [0, 1]) {
      const tree = { origin: input.origin, size, read: treeOf(['a']) }
      const small = formatProof({
        ...parseProof(proof),
        path: [],
        note: await signHead(tree, signer),
      })
      await expect(checkProof({ proof: small, event, policy: vkey })).rejects.toThrow(
        `has the index 1, but the tree has ${size} leaves`,
      )
    }
  })

  it.each([
    ['another salt', proof.replace('extra V', 'extra W')],
    ['another index', proof.replace('index 1', 'index 0')],
    ['hashes in another order', proof.replace(`${hash1}\n${hash2}`, `${hash2}\n${hash1}`)],
    ['another hash', proof.replace(hash1, hash3)],
    ['the proof of another event', noted!.proof!],
  ])('proves nothing with %s', async (_name, text) => {
    await expect(checkProof({ proof: text, event, policy: vkey })).rejects.toEqual(NOT_PROVED)
  })

  it.each([
    [
      'another size',
      proof.replace('\n7\n', '\n8\n'),
      /signature by audit\.example\.com\/orders is not valid/,
    ],
    [
      'another root',
      proof.replace('E83h', 'E83i'),
      /signature by audit\.example\.com\/orders is not valid/,
    ],
    [
      'another origin',
      proof.replace('\naudit.', '\nAudit.'),
      /signature by audit\.example\.com\/orders is not valid/,
    ],
    ['another key name', proof.replace('— audit', '— audıt'), /is not signed by/],
  ])('says what is wrong with a checkpoint of %s', async (_name, text, message) => {
    await expect(checkProof({ proof: text, event, policy: vkey })).rejects.toThrow(message)
  })

  it('accepts only the key of the policy', async () => {
    const { vkey: policy } = await signerOf('audit.example.com/orders', Buffer.alloc(32, 9))
    await expect(checkProof({ proof, event, policy })).rejects.toThrow(/is not signed by/)
  })

  it.each([
    ['another id', event.replace('01a20405', '01a20406')],
    ['another time', event.replace('.280404Z', '.280405Z')],
    ['another user', event.replace('"ann"', '"bob"')],
    ['a user that looks the same', event.replace('"ann"', '"аnn"')],
    ['no user', event.replace('"ann"', 'null')],
    ['another type', event.replace(':create', ':delete')],
    ['another source', event.replace('/7', '/8')],
    ['a custom event', event.replace('true', 'false')],
    ['another attribute', event.replace('12.5', '12.6')],
    ['an attribute more', event.replace('12.5', '12.5,"more":1')],
    ['a number in another form', event.replace('12.5', '12.50')],
    ['white space', event.replace('12.5', ' 12.5')],
    [
      'members in another order',
      event.replace(
        '"system":true,"type":"api:orders:create"',
        '"type":"api:orders:create","system":true',
      ),
    ],
    ['a member twice', event.replace('"ann"', '"ann","username":"ann"')],
    ['a member after the attributes', `${event.slice(0, -1)},"username":"bob"}`],
    ['another event', noted!.line!],
  ])('does not prove an event with %s', async (_name, line) => {
    expect(line).not.toBe(event)
    const checked = checkProof({ proof, event: line, policy: vkey })
    await expect(checked).rejects.toEqual(NOT_PROVED)
    await expect(checked).rejects.toThrow(/with these values is not leaf 1 of audit/)
  })

  it.each([
    ['no JSON', 'ann created an order'],
    ['two lines', `${event}\n${event}`],
    ['a carriage return', `${event}\r\n`],
    ['an escaped id', event.replace('01a2', '\\u0030')],
    ['the time before the id', event.replace(/("id":"[^"]+"),("created_at":"[^"]+")/, '$2,$1')],
    ['a member before the id', event.replace('{"id', '{"a":1,"id')],
    ['the id twice', event.replace('{"id', '{"id":"a","id')],
    ['white space before the id', ` ${event}`],
    ['an object', { id: 'a' } as unknown as string],
    ['nothing', ''],
  ])('refuses an export line with %s', async (_name, line) => {
    await expect(checkProof({ proof, event: line, policy: vkey })).rejects.toEqual(MALFORMED)
  })

  it('returns the id that is proved, whatever the body says', async () => {
    const leaf = input.leaves[1]!
    if (!('own' in leaf)) throw new Error('no event')
    const evil = { ...leaf, attributes: '{},"id":"other"' }
    const made = await vectorsOf({ ...input, leaves: [evil], older: 1 })
    const [only] = made.leaves
    const proved = await checkProof({ proof: only!.proof!, event: only!.line!, policy: vkey })
    expect(proved.event.id).toBe(leaf.own.id)
  })
})

describe('checkConsistency', async () => {
  const check = { older: olderNote, newer: note, path: consistency, policy: vkey }

  it('proves that a tree continues an older one', async () => {
    expect(await checkConsistency(check)).toEqual({ from: 5, to: 7 })
    const same = { ...check, older: note, path: [] }
    expect(await checkConsistency(same)).toEqual({ from: 7, to: 7 })
  })

  const signer = await signerOf(input.origin, Buffer.from(input.key, 'hex'))
  const entries = output.leaves.map(({ entry }) => entry)
  const changed = treeOf(entries.with(2, 'changed'))
  const forged = await signHead({ origin: input.origin, size: 7, read: changed }, signer)
  const forgedPath = consistencyPath(5, 7, changed).map((hash) =>
    Buffer.from(hash).toString('base64'),
  )
  const empty = await signHead({ origin: input.origin, size: 0, read: changed }, signer)
  const otherSigner = await signerOf('b', Buffer.alloc(32, 3))
  const otherLog = await signHead({ origin: 'b', size: 7, read: treeOf(entries) }, otherSigner)
  const both = `log ${vkey}\nlog ${otherSigner.vkey}\nquorum none`

  it.each([
    ['a changed leaf', { newer: forged, path: forgedPath }, NOT_PROVED],
    ['a changed leaf, with the path of the true tree', { newer: forged }, NOT_PROVED],
    ['a smaller tree', { older: note, newer: olderNote }, NOT_PROVED],
    ['another tree of the same size', { older: forged, path: [] }, NOT_PROVED],
    ['a path where none is needed', { older: note }, NOT_PROVED],
    ['a hash less', { path: consistency.slice(1) }, NOT_PROVED],
    ['a hash more', { path: [...consistency, consistency[0]!] }, NOT_PROVED],
    ['another order', { path: consistency.toReversed() }, NOT_PROVED],
    ['the tree of another ledger', { newer: otherLog, policy: both }, NOT_PROVED],
    ['the key of another ledger', { policy: otherSigner.vkey }, NOT_PROVED],
    ['text that is no hash', { path: ['AAAA'] }, MALFORMED],
    ['no note', { older: 'none' }, MALFORMED],
  ])('proves nothing with %s', async (_name, change, refused) => {
    await expect(checkConsistency({ ...check, ...change })).rejects.toEqual(refused)
  })

  it('begins with the empty tree', async () => {
    const from = { ...check, older: empty, path: [] }
    expect(await checkConsistency(from)).toEqual({ from: 0, to: 7 })
  })
})

describe('a proof at ten million events', () => {
  it('has less than 2 kB', () => {
    const read = treeOf(['a'])
    const path = inclusionPath(5_000_000, 10_000_000, () => read(0, 0))
    const long = formatProof({ salt: Buffer.alloc(16), index: 5_000_000, path, note })
    expect(path).toHaveLength(24)
    expect(long.length).toBeLessThan(2000)
  })
})
