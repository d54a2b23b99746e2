import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyFile } from 'daybook/ledger'
import { tempDir } from '../support/temp.js'
import { runCli } from './run-cli.js'

interface Vectors {
  readonly output: {
    readonly vkey: string
    readonly leaves: readonly { readonly line: string; readonly proof: string }[]
  }
}

const file = path.join(import.meta.dirname, '../fixtures/ledger/vectors.json')
const { vkey, leaves } = (JSON.parse(fs.readFileSync(file, 'utf8')) as Vectors).output
const { line, proof } = leaves[1]!

const temp = tempDir()
afterAll(() => temp.remove())

describe('keygen', () => {
  it('writes a key that keyFile reads, and prints its verifier key', async () => {
    const key = temp.file('ledger.pem')
    const { exit, stdout, stderr } = await runCli(['keygen', 'audit.example.com/a', '--out', key])
    expect(exit).toBe(0)
    expect(stdout).toBe(`${keyFile(key).vkey}\n`)
    expect(stderr).toBe(`${key} and ${key}.note are written: keep both, and keep ${key} secret\n`)
    const again = await runCli(['keygen', 'audit.example.com/a', '--out', key, '--json'])
    expect(again.exit).toBe(2)
    expect(again.stderr).toContain('a key is never overwritten')
  })

  it.each([
    ['no origin', ['keygen', '--out', 'a.pem'], 'the argument origin is missing'],
    ['no file', ['keygen', 'audit.example.com'], '--out is missing'],
    ['an empty file name', ['keygen', 'audit.example.com', '--out', ''], '--out is missing'],
    [
      'a scheme',
      ['keygen', 'https://audit.example.com', '--out', 'a.pem'],
      'URL without its scheme',
    ],
    ['a log', ['keygen', 'audit.db', 'audit.example.com', '--out', 'a.pem'], 'too many arguments'],
    ['an option of logs', ['keygen', 'audit', '--out', 'a.pem', '--schema', 'a'], "'--schema'"],
  ])('refuses a call with %s', async (_name, args, message) => {
    const { exit, stderr } = await runCli(args)
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(fs.existsSync('a.pem')).toBe(false)
  })
})

describe('check-proof', () => {
  const write = (name: string, text: string | Uint8Array): string => {
    fs.writeFileSync(temp.file(name), text)
    return temp.file(name)
  }
  let files: Readonly<Record<string, string>>
  beforeAll(() => {
    files = {
      proof: write('a.tlog-proof', proof),
      line: write('a.ndjson', `${line}\n`),
      changed: write('changed.ndjson', line.replace('lamp', 'lamb')),
      cut: write('cut.tlog-proof', proof.slice(0, -9)),
      binary: write('binary.tlog-proof', Uint8Array.of(0xff, 0xfe)),
      mark: write('mark.tlog-proof', `\ufeff${proof}`),
      policy: write('a.policy', `log ${vkey}\nquorum none\n`),
      empty: write('empty.policy', ''),
      none: temp.file('none'),
    }
  })

  const PROVED =
    'proved: event 01a20405-0fa8-7676-ba2c-be23e865d0a6 is leaf 1 of 7 of audit.example.com/orders\n'
  it.each([
    ['a key', ['proof', 'line', '--key', vkey], 0, PROVED],
    ['a policy', ['proof', 'line', '--policy', 'policy'], 0, PROVED],
    [
      'a changed event',
      ['proof', 'changed', '--key', vkey],
      1,
      'is not leaf 1 of audit.example.com/orders',
    ],
    ['a cut proof', ['cut', 'line', '--key', vkey], 2, 'the note'],
    ['a file that is not UTF-8', ['binary', 'line', '--key', vkey], 2, 'is not UTF-8'],
    ['a byte order mark', ['mark', 'line', '--key', vkey], 2, 'does not begin with c2sp.org'],
    ['no such file', ['none', 'line', '--key', vkey], 2, 'cannot read'],
    ['an empty policy', ['proof', 'line', '--policy', 'empty'], 2, 'the policy is empty'],
    ['an empty key', ['proof', 'line', '--key', ''], 2, 'the policy is empty'],
    ['neither key nor policy', ['proof', 'line'], 2, 'either --key or --policy'],
    ['key and policy', ['proof', 'line', '--key', vkey, '--policy', 'policy'], 2, 'either --key'],
    ['no event', ['proof', '--key', vkey], 2, 'the argument event is missing'],
  ])('with %s', async (_name, args, code, text) => {
    const given = args.map((arg) => files[arg] ?? arg)
    // The log of the environment does not become an argument.
    const env = { DAYBOOK_LOG: 'audit.db', DAYBOOK_CONFIG: 'none.js' }
    const { exit, stdout, stderr } = await runCli(['check-proof', ...given], { env })
    expect(stdout + stderr).toContain(text)
    expect(exit).toBe(code)
    expect(stdout === '').toBe(code !== 0)
  })

  it('reads the event from stdin, and prints JSON', async () => {
    const args = ['check-proof', files['proof']!, '-', '--key', vkey, '--json']
    const { exit, stdout } = await runCli(args, { stdin: line })
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      {
        origin: 'audit.example.com/orders',
        size: 7,
        index: 1,
        kind: 'event',
        id: '01a20405-0fa8-7676-ba2c-be23e865d0a6',
      },
    ])
  })
})
