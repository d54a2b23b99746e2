import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { formatVkey, openNote, readVkey, signNote } from '../../../src/ledger/note.js'
import { openCheckpoint, readPolicy } from '../../../src/ledger/policy.js'
import { signerOf } from './ledger-vectors.js'

/* The example of https://c2sp.org/signed-note. */
const EXAMPLE_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
const EXAMPLE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`

/* The keys and the note of the tests of golang.org/x/mod/sumdb/note. */
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const ENOCH = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
const PETER_SECRET = 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'
const TEXT = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.
`
const PETER_LINE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
const ENOCH_LINE =
  '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n'

const MALFORMED = expect.objectContaining({ code: 'MALFORMED_PROOF' })
const NOT_PROVED = expect.objectContaining({ code: 'NOT_PROVED' })

describe('a note', () => {
  it('of the specification is opened', async () => {
    expect(await openNote(EXAMPLE, [EXAMPLE_KEY])).toEqual({
      text: 'This is an example message.\n',
      signedBy: [EXAMPLE_KEY],
    })
  })

  it.each([
    ['both keys', [PETER, ENOCH], [PETER, ENOCH]],
    ['one key, and ignores the other signature', [ENOCH], [ENOCH]],
    ['the same key twice', [PETER, PETER], [PETER]],
  ])('of Go is opened with %s', async (_name, keys, signedBy) => {
    const note = `${TEXT}\n${PETER_LINE}${ENOCH_LINE}`
    expect(await openNote(note, keys)).toEqual({ text: TEXT, signedBy })
  })

  it('is signed as Go signs it', async () => {
    const secret = Buffer.from(PETER_SECRET, 'base64').subarray(1)
    const signer = await signerOf('PeterNeumann', secret)
    expect(signer.vkey).toBe(PETER)
    expect(await signNote(TEXT, signer)).toBe(`${TEXT}\n${PETER_LINE}`)
  })

  it('is opened with a list of keys only', async () => {
    await expect(openNote(EXAMPLE, EXAMPLE_KEY as never)).rejects.toThrow(/must be a list/)
  })

  it('needs Web Crypto, which browsers lack on pages of http', async () => {
    vi.stubGlobal('crypto', {})
    onTestFinished(() => void vi.unstubAllGlobals())
    await expect(openNote(EXAMPLE, [EXAMPLE_KEY])).rejects.toMatchObject({
      code: 'MISSING_DEPENDENCY',
    })
  })

  it('may have empty lines in its text', async () => {
    const signer = await signerOf('a', Buffer.alloc(32, 1))
    const text = '\n\nverse\n\nverse\n'
    expect((await openNote(await signNote(text, signer), [signer.vkey])).text).toBe(text)
  })

  it.each([
    ['of another key than that of the verifier key', Buffer.alloc(32, 2), 64],
    ['of another length', Buffer.alloc(32, 1), 63],
  ])('is not made with a signature %s', async (_name, secret, length) => {
    const { vkey } = await signerOf('a', Buffer.alloc(32, 1))
    const { sign } = await signerOf('a', secret)
    const signer = { vkey, sign: async (text: Uint8Array) => (await sign(text)).slice(0, length) }
    await expect(signNote('text\n', signer)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })

  const note = `${TEXT}\n${PETER_LINE}`
  it.each([
    ['no signatures', TEXT],
    ['no signature after the empty line', `${TEXT}\n`],
    ['no line break at its end', note.slice(0, -1)],
    ['a line break more', `${note}\n`],
    ['a line after the signatures', `${note}Unexpected line.\n`],
    ['another line among the signatures', `${TEXT}\nline\n${PETER_LINE}`],
    ['a signature twice', `${note}${PETER_LINE}`],
    ['two signatures by one key', `${note}${PETER_LINE.replace('x08go/ZJ', 'x08go/ZK')}`],
    ['carriage returns', note.replaceAll('\n', '\r\n')],
    ['a control character', `\u0001${note}`],
    ['a tab', note.replace(' you', '\tyou')],
    ['a lone surrogate', `\ud800${note}`],
    ['a hyphen for the dash', note.replace('—', '-')],
    ['an en dash for the dash', note.replace('—', '–')],
    ['a horizontal bar for the dash', note.replace('—', '―')],
    ['a no-break space', note.replace('— P', '—\u00a0P')],
    ['two spaces', note.replace('— P', '—  P')],
    ['a space in the name', note.replace('Peter', 'Peter ')],
    ['a plus in the name', note.replace('PeterN', 'Peter+N')],
    ['no name', note.replace('PeterNeumann ', '')],
    ['base64 without padding', note.replace('=\n', '\n')],
    ['base64 with bits that no byte has', note.replace('AM=\n', 'AN=\n')],
    ['base64url', note.replace('x08go/', 'x08go_')],
    ['white space in base64', note.replace('x08go/', 'x08go/ ')],
    ['an empty signature', note.replace(/x08g\S+/, 'x08gow==')],
    [
      'more signatures than allowed',
      note + Array.from({ length: 100 }, (_, i) => `— a${i} AAAAAAA=\n`).join(''),
    ],
    ['more text than allowed', 'a'.repeat(262_144) + note],
    ['nothing', ''],
  ])('with %s is malformed', async (_name, text) => {
    await expect(openNote(text, [PETER])).rejects.toEqual(MALFORMED)
  })

  it.each([
    ['another text', note.replace('answer', 'Answer'), [PETER], /PeterNeumann is not valid/],
    ['another signature', note.replace('/ZJk', '/ZJl'), [PETER], /PeterNeumann is not valid/],
    ['a longer signature', note.replace('AM=\n', 'AMA\n'), [PETER], /PeterNeumann is not valid/],
    ['a signature by another key', `${TEXT}\n${ENOCH_LINE}`, [PETER], /by EnochRoot/],
    ['another name', note.replace('PeterNeumann', 'PeterNeuman'), [PETER], /by PeterNeuman$/],
    ['a name that looks the same', note.replace('Peter', 'Рeter'), [PETER], /none of the given/],
    ['another key id', note.replace('x08go', 'x08gp'), [PETER], /none of the given/],
    ['no keys', note, [], /none of the given/],
    [
      'one wrong and one valid signature',
      `${TEXT}\n${PETER_LINE}${ENOCH_LINE.replace('OHp', 'OHq')}`,
      [PETER, ENOCH],
      /EnochRoot is not valid/,
    ],
  ])('with %s proves nothing', async (_name, text, keys, message) => {
    await expect(openNote(text, keys)).rejects.toEqual(NOT_PROVED)
    await expect(openNote(text, keys)).rejects.toThrow(message)
  })
})

describe('a verifier key', () => {
  it('is written as it is read', async () => {
    const { name, publicKey } = await readVkey(PETER)
    expect(await formatVkey(name, publicKey)).toBe(PETER)
  })

  it('is refused if it is a part of itself', async () => {
    const parts: string[] = []
    for (let end = 1; end < PETER.length; end++) parts.push(PETER.slice(0, end), PETER.slice(end))
    for (const part of parts) await expect(readVkey(part)).rejects.toEqual(MALFORMED)
  })

  it('is refused with any other character', async () => {
    for (let at = 0; at < PETER.length; at++) {
      const next = String.fromCharCode(PETER.charCodeAt(at) + 1)
      const text = PETER.slice(0, at) + next + PETER.slice(at + 1)
      await expect(readVkey(text)).rejects.toEqual(MALFORMED)
    }
  })

  it.each([
    ['a longer key', 'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY=='],
    ['an unknown type', 'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'],
    ['capital digits', PETER.replace('c74f20a3', 'C74F20A3')],
    ['a line break', `${PETER}\n`],
    ['a space', ` ${PETER}`],
  ])('is refused with %s', async (_name, vkey) => {
    await expect(readVkey(vkey)).rejects.toEqual(MALFORMED)
  })
})

describe('a policy', async () => {
  const log = await signerOf('log.example/a', Buffer.alloc(32, 1))
  const other = await signerOf('log.example/b', Buffer.alloc(32, 2))
  const text = 'log.example/a\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'
  const note = await signNote(text, log)

  /** A witness, its verifier key, and its signature line for this text. */
  async function witness(name: string, byte: number) {
    const { vkey, sign } = await signerOf(name, Buffer.alloc(32, byte))
    const typed = Buffer.from(vkey.split('+').slice(2).join('+'), 'base64')
    typed[0] = 4
    const id = Buffer.from(
      await crypto.subtle.digest('SHA-256', Buffer.concat([Buffer.from(`${name}\n`), typed])),
    ).subarray(0, 4)
    const time = Buffer.alloc(8)
    time.writeBigUInt64BE(1_790_000_000n)
    const message = Buffer.from(`cosignature/v1\ntime 1790000000\n${text}`)
    const signature = Buffer.concat([id, time, await sign(message)])
    return {
      vkey: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
      line: `— ${name} ${signature.toString('base64')}\n`,
    }
  }
  const witnesses = [
    await witness('w.example/1', 11),
    await witness('w.example/2', 12),
    await witness('w.example/3', 13),
  ]
  const [w1, w2, w3] = witnesses as [
    (typeof witnesses)[0],
    (typeof witnesses)[0],
    (typeof witnesses)[0],
  ]
  const known = witnesses
    .map(({ vkey }, i) => `witness W${i + 1} ${vkey} https://w${i + 1}.example\n`)
    .join('')
  const begin = `log ${log.vkey}\n${known}`
  const open = async (signed: string, policy: string) =>
    openCheckpoint(signed, await readPolicy(policy))

  it.each([
    ['a verifier key', log.vkey],
    ['a verifier key and a line break', `${log.vkey}\n`],
    ['one log', `log ${log.vkey}\nquorum none\n`],
    [
      'comments, tabs and addresses',
      `# ä\n \t\n\tlog  ${log.vkey}\thttps://log.example \n  # x\nquorum none`,
    ],
    ['another log too', `quorum none\nlog ${other.vkey}\nlog ${log.vkey}`],
    ['witnesses that are not required', `${begin}quorum none\n`],
  ])('of %s accepts a note of the log', async (_name, policy) => {
    expect((await open(note, policy)).origin).toBe('log.example/a')
  })

  it.each([
    ['quorum W1', [w1], true],
    ['quorum W1', [w2, w3], false],
    ['group all all W1 W2\nquorum all', [w1, w2], true],
    ['group all all W1 W2\nquorum all', [w1, w3], false],
    ['group some 2 W1 W2 W3\nquorum some', [w1, w3], true],
    ['group some 2 W1 W2 W3\nquorum some', [w3], false],
    ['group x any W1 W2\ngroup y all x W3\nquorum y', [w2, w3], true],
    ['group x any W1 W2\ngroup y all x W3\nquorum y', [w1, w2], false],
  ])('with %j counts the witnesses', async (quorum, signed, isEnough) => {
    const cosigned = note + signed.map(({ line }) => line).join('')
    const opened = open(cosigned, begin + quorum)
    if (isEnough) expect((await opened).size).toBe(1)
    else await expect(opened).rejects.toThrow(/lacks the cosignatures of the quorum/)
  })

  it.each([
    ['forged', 75],
    ['of another time', 11],
  ])('refuses a cosignature that is %s', async (_name, at) => {
    const [dash, name, base64] = w1.line.trimEnd().split(' ')
    const bytes = Buffer.from(base64!, 'base64')
    bytes[at]! ^= 1
    const line = `${dash} ${name} ${bytes.toString('base64')}\n`
    await expect(open(note + line, `${begin}quorum W1`)).rejects.toThrow(
      /w.example\/1 is not valid/,
    )
  })

  it('refuses the note of another log, and of a log under another name', async () => {
    await expect(open(note, other.vkey)).rejects.toThrow(/is not signed by log\.example\/b/)
    const foreign = await signNote(text, other)
    await expect(open(foreign, other.vkey)).rejects.toThrow(/is of log\.example\/a, but/)
  })

  it.each([
    ['no quorum', `log ${log.vkey}\n`],
    ['two quorums', `log ${log.vkey}\nquorum none\nquorum none`],
    ['no log', 'quorum none\n'],
    ['a log twice', `log ${log.vkey}\nlog ${log.vkey}\nquorum none`],
    ['the key of a log as a witness', `witness W ${log.vkey}\nlog ${log.vkey}\nquorum W`],
    ['the key of a witness as a log', `log ${w1.vkey}\nquorum none`],
    ['a witness twice', `${begin}witness W9 ${w1.vkey}\nquorum none`],
    ['a name twice', `${begin}group W1 any W2\nquorum W1`],
    ['the name none', `${begin}group none any W2\nquorum none`],
    ['none in a group', `${begin}group g any none\nquorum g`],
    ['an unknown member', `${begin}group g any W4\nquorum g`],
    ['a member that a line below defines', `log ${log.vkey}\ngroup g any W1\n${known}quorum g`],
    ['a member twice', `${begin}group g 2 W1 W1\nquorum g`],
    ['a member of two groups', `${begin}group g any W1\ngroup h any g W1\nquorum h`],
    ['a threshold of 0', `${begin}group g 0 W1\nquorum g`],
    ['a threshold above the members', `${begin}group g 2 W1\nquorum g`],
    ['a threshold that is no number', `${begin}group g 1.0 W1\nquorum g`],
    ['no members', `${begin}group g any\nquorum g`],
    ['an unknown quorum', `${begin}quorum W4`],
    ['a quorum that looks the same', `${begin}quorum nоne`],
    ['an unknown line', `log ${log.vkey}\nallow all\nquorum none`],
    ['a word more', `log ${log.vkey}\nquorum none at all`],
    ['carriage returns', `log ${log.vkey}\r\nquorum none\r\n`],
    ['nothing', ''],
    ['an empty line', '\n'],
    ['a no-break space', `log\u00a0${log.vkey}\nquorum none`],
  ])('with %s is malformed', async (_name, policy) => {
    await expect(readPolicy(policy)).rejects.toEqual(MALFORMED)
  })
})

describe('a checkpoint', async () => {
  const log = await signerOf('log.example/a', Buffer.alloc(32, 1))
  const root = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
  it.each([
    ['a leading zero', `log.example/a\n01\n${root}\n`],
    ['a sign', `log.example/a\n+1\n${root}\n`],
    ['an exponent', `log.example/a\n1e3\n${root}\n`],
    ['a size that is not exact', `log.example/a\n9007199254740993\n${root}\n`],
    ['digits of another script', `log.example/a\n١\n${root}\n`],
    ['no size', `log.example/a\n\n${root}\n`],
    ['an extension line', `log.example/a\n1\n${root}\nmore\n`],
    ['no root', 'log.example/a\n1\n'],
    ['a short root', 'log.example/a\n1\nAAAA\n'],
    ['no origin', `\n1\n${root}\n`],
    ['an empty line', `log.example/a\n1\n${root}\n\n`],
  ])('with %s is malformed, also if it is signed', async (_name, text) => {
    const note = await signNote(text, log)
    await expect(openCheckpoint(note, await readPolicy(log.vkey))).rejects.toEqual(MALFORMED)
  })
})
