import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { formatCheckpoint } from '../../../src/ledger/checkpoint.js'
import { signHead } from '../../../src/ledger/head.js'
import { generateKey, keyFile } from '../../../src/ledger/key-file.js'
import { openNote } from '../../../src/ledger/note.js'
import { rootOf } from '../../../src/ledger/tree.js'
import { treeOf } from './ledger-vectors.js'

const ORIGIN = 'audit.example.com/orders'
const DIVERGED = expect.objectContaining({ code: 'LEDGER_DIVERGED' })
const INVALID = expect.objectContaining({ code: 'INVALID_OPTION' })

const entries = Array.from({ length: 20 }, (_, i) => `entry ${i}`)
const read = treeOf(entries)
const head = (size: number, tree = read) => ({ origin: ORIGIN, size, read: tree })

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-key-'))
  file = path.join(folder, 'ledger.pem')
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
})

describe('generateKey', () => {
  it('writes a key and the note of the empty tree, which only the owner can read', async () => {
    const vkey = await generateKey(ORIGIN, file)
    expect(fs.readdirSync(folder)).toEqual(['ledger.pem', 'ledger.pem.note'])
    for (const name of fs.readdirSync(folder))
      expect(fs.statSync(path.join(folder, name)).mode & 0o777).toBe(0o600)
    expect(fs.readFileSync(file, 'utf8')).toMatch(
      /^audit\.example\.com\/orders\+[0-9a-f]{8}\+\S{44}\n-----BEGIN PRIVATE KEY-----\n/,
    )
    const note = fs.readFileSync(`${file}.note`, 'utf8')
    const root = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    expect((await openNote(note, [vkey])).text).toBe(`${ORIGIN}\n0\n${root}\n`)
    expect(keyFile(file).vkey).toBe(vkey)
  })

  it.each([
    'https://audit.example.com',
    'audit.example.com/my orders',
    'audit+orders',
    'audit\n',
    'audit.exämple.com',
    '',
    'a'.repeat(256),
    undefined as unknown as string,
  ])('refuses the origin %j, and writes nothing', async (origin) => {
    await expect(generateKey(origin, file)).rejects.toEqual(INVALID)
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it.each(['ledger.pem', 'ledger.pem.note'])('never overwrites %s', async (name) => {
    fs.writeFileSync(path.join(folder, name), 'kept')
    await expect(generateKey(ORIGIN, file)).rejects.toThrow(/exists; a key is never overwritten/)
    expect(fs.readdirSync(folder)).toEqual([name])
    expect(fs.readFileSync(path.join(folder, name), 'utf8')).toBe('kept')
  })

  it('reports a folder that does not exist', async () => {
    await expect(generateKey(ORIGIN, path.join(folder, 'a', 'b'))).rejects.toEqual(INVALID)
  })
})

describe('keyFile', () => {
  beforeEach(async () => {
    await generateKey(ORIGIN, file)
  })

  it('signs trees that continue each other, also as another process', async () => {
    for (const size of [0, 1, 1, 4, 5, 13, 20]) {
      const signer = keyFile(file)
      const note = await signHead(head(size), signer)
      expect((await openNote(note, [signer.vkey])).text).toMatch(`${ORIGIN}\n${size}\n`)
      expect(fs.readFileSync(`${file}.note`, 'utf8')).toBe(note)
    }
    expect(fs.readdirSync(folder)).toEqual(['ledger.pem', 'ledger.pem.note'])
    expect(fs.statSync(`${file}.note`).mode & 0o777).toBe(0o600)
  })

  it('signs one tree after the other, so that none is signed with the path from an older note', async () => {
    const signer = keyFile(file)
    const sign = async (size: number) =>
      signer.sign(Buffer.from(formatCheckpoint({ origin: ORIGIN, size, root: rootOf(size, read) })))
    const [first, second] = await Promise.allSettled([sign(3), sign(5)])
    expect(first.status).toBe('fulfilled')
    expect(await signer.lastNote!()).toContain('\n3\n')
    expect(second).toEqual({ status: 'rejected', reason: DIVERGED })
  })

  it.each([
    ['a smaller tree', head(12), /it has 12 leaves, and the older one has 13/],
    ['another tree of the same size', head(13, treeOf(entries.with(3, 'changed'))), /other roots/],
    [
      'a greater tree with a changed leaf',
      head(20, treeOf(entries.with(3, 'changed'))),
      /older one/,
    ],
    ['a tree with a leaf removed', head(19, treeOf(entries.toSpliced(3, 1))), /older one/],
    ['another origin', { ...head(20), origin: 'audit.example.com/other' }, /does not sign for/],
  ])('refuses %s, and keeps its note', async (_name, tree, message) => {
    const signer = keyFile(file)
    const note = await signHead(head(13), signer)
    await expect(signHead(tree, signer)).rejects.toEqual(DIVERGED)
    await expect(signHead(tree, keyFile(file))).rejects.toThrow(message)
    expect(fs.readFileSync(`${file}.note`, 'utf8')).toBe(note)
  })

  it('refuses a greater tree without a path', async () => {
    const signer = keyFile(file)
    await signHead(head(13), signer)
    const { vkey, sign } = signer
    await expect(signHead(head(20), { vkey, sign })).rejects.toEqual(DIVERGED)
  })

  it('refuses text that is no checkpoint', async () => {
    const signer = keyFile(file)
    await expect(signer.sign(Buffer.from('anything\n'))).rejects.toMatchObject({
      code: 'MALFORMED_PROOF',
    })
  })

  it.each([
    ['is missing', () => fs.rmSync(`${file}.note`), /put the newest note of this ledger there/],
    ['is empty', () => fs.writeFileSync(`${file}.note`, ''), /was changed or is damaged/],
    [
      'was changed',
      () =>
        fs.writeFileSync(
          `${file}.note`,
          fs.readFileSync(`${file}.note`, 'utf8').replace('\n13\n', '\n12\n'),
        ),
      /was changed or is damaged/,
    ],
    [
      'is of another key',
      async () => {
        const other = path.join(folder, 'other.pem')
        await generateKey(ORIGIN, other)
        fs.copyFileSync(`${other}.note`, `${file}.note`)
      },
      /is not signed by/,
    ],
  ])('signs nothing if its note %s', async (_name, change, message) => {
    const signer = keyFile(file)
    await signHead(head(13), signer)
    await Promise.resolve(change())
    await expect(signHead(head(20), signer)).rejects.toEqual(DIVERGED)
    await expect(signHead(head(20), keyFile(file))).rejects.toThrow(message)
  })

  it('keeps its note in another file, if the option says so', async () => {
    const note = path.join(folder, 'state', 'last.note')
    fs.mkdirSync(path.dirname(note))
    fs.renameSync(`${file}.note`, note)
    const signed = await signHead(head(3), keyFile(file, { note }))
    expect(fs.readFileSync(note, 'utf8')).toBe(signed)
    expect(fs.existsSync(`${file}.note`)).toBe(false)
  })

  it('returns no signature if the note cannot be written', async () => {
    // The file for the new note has a longer name than a file may have.
    const note = path.join(folder, 'n'.repeat(250))
    fs.renameSync(`${file}.note`, note)
    const before = fs.readFileSync(note, 'utf8')
    const signer = keyFile(file, { note })
    await expect(signHead(head(5), signer)).rejects.toMatchObject({
      code: 'STORE_FAILED',
      cause: { code: 'ENAMETOOLONG' },
    })
    expect(await signer.lastNote!()).toBe(before)
  })

  it.each([
    ['does not exist', () => fs.rmSync(file), /daybook keygen makes one/],
    ['is readable by every user', () => fs.chmodSync(file, 0o604), /chmod 600/],
    [
      'has no verifier key',
      (text: string) => fs.writeFileSync(file, text.slice(text.indexOf('-----'))),
      /is no key file/,
    ],
    ['is cut', (text: string) => fs.writeFileSync(file, text.slice(0, 120)), /is no key file/],
    ['is empty', () => fs.writeFileSync(file, ''), /is no key file/],
    [
      'has the name of another origin',
      (text: string) => fs.writeFileSync(file, text.replace(ORIGIN, 'audit.example.com/other')),
      /is not the one of its private key/,
    ],
    [
      'has another verifier key',
      (text: string) =>
        fs.writeFileSync(
          file,
          text.replace(
            /(\+\S{43})(\S)\n/,
            (_, start: string, end: string) => `${start}${end === 'A' ? 'B' : 'A'}\n`,
          ),
        ),
      /is not the one of its private key/,
    ],
  ])('refuses a key file that %s', (_name, change, message) => {
    change(fs.readFileSync(file, 'utf8'))
    expect(() => keyFile(file)).toThrow(INVALID)
    expect(() => keyFile(file)).toThrow(message)
  })

  it('reads a key file with the line ends of Windows', () => {
    const { vkey } = keyFile(file)
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replaceAll('\n', '\r\n'))
    expect(keyFile(file).vkey).toBe(vkey)
  })

  it.each([
    ['no path', () => keyFile(undefined as never), 'keyFile takes the path of a key file'],
    ['an empty path', () => keyFile(''), 'keyFile takes the path of a key file'],
    ['a folder', () => keyFile(folder), 'cannot read the key file'],
    ['an empty note', () => keyFile(file, { note: '' }), 'note must be the path of a file'],
    [
      'a note in a folder that is not writable',
      () => keyFile(file, { note: path.join(folder, 'none', 'a.note') }),
      'is not writable, but keeps the last note',
    ],
    ['another option', () => keyFile(file, { notes: '' } as never), 'no option notes'],
  ])('refuses %s', (_name, act, message) => {
    expect(act).toThrow(INVALID)
    expect(act).toThrow(message)
  })

  it('signs once if two processes sign at the same time, and keeps that note', async () => {
    await signHead(head(3), keyFile(file))
    for (const sizes of [
      [5, 7],
      [9, 8],
    ]) {
      const calls = sizes.map((size) => signHead(head(size), keyFile(file)))
      const signed = (await Promise.allSettled(calls)).flatMap((call) =>
        call.status === 'fulfilled' ? [Number(call.value.split('\n')[1])] : [],
      )
      const kept = fs.readFileSync(`${file}.note`, 'utf8')
      expect(kept.split('\n')[1]).toBe(String(Math.max(...signed)))
      expect(fs.readdirSync(folder)).toHaveLength(2)
    }
  })

  it('never quotes the key in an error', () => {
    const text = fs.readFileSync(file, 'utf8')
    const secret = /\n([A-Za-z0-9+/=]{40,})\n/.exec(text)![1]!
    fs.writeFileSync(file, text.replace(secret, secret.slice(1)))
    try {
      keyFile(file)
      expect.unreachable()
    } catch (error) {
      expect(JSON.stringify([String(error), String((error as Error).cause)])).not.toContain(
        secret.slice(5, 30),
      )
    }
  })
})
