import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { checkWithPython, hasPython } from '../../support/check-with-python.js'

interface Vectors {
  readonly output: {
    readonly vkey: string
    readonly leaves: readonly {
      readonly index: number
      readonly line?: string
      readonly proof: string
    }[]
  }
}

const folder = path.join(import.meta.dirname, '../../fixtures/ledger')
const vectors = path.join(folder, 'vectors.json')
const { vkey, leaves } = (JSON.parse(fs.readFileSync(vectors, 'utf8')) as Vectors).output

it.skipIf(!hasPython)(
  'the Python program of the documentation proves and refuses (skipped without python3-cryptography)',
  () => {
    const proved = leaves.filter(({ line }) => line !== undefined)
    const { line, proof } = proved[0]!
    const REFUSED = 'refused: '
    const cases: readonly (readonly [line: string, proof: string, output: string])[] = [
      ...proved.map(
        ({ line, proof, index }) =>
          [`${line}\n`, proof, `leaf ${index} of 7 of audit.example.com/orders`] as const,
      ),
      [line!.replace('lamp', 'lamb'), proof, REFUSED],
      [line!, proof.replace('E83h', 'E83i'), `${REFUSED}InvalidSignature`],
      [line!, proof.replace('extra V', 'extra W'), REFUSED],
      [
        line!,
        proof.replace(/(index 1\n).*\n/, '$1'),
        `${REFUSED}SystemExit('not proved: path too short`,
      ],
      [line!, proved[1]!.proof, REFUSED],
    ]
    const outputs = checkWithPython(
      vkey,
      cases.map(([line, proof]) => [line, proof]),
    )
    expect(outputs).toEqual(cases.map(([, , output]) => expect.stringContaining(output) as string))
  },
)

// Where the package is in Debian; `GOPATH` of the caller also counts.
const env = {
  ...process.env,
  GO111MODULE: 'off',
  GOPATH: `${process.env['GOPATH'] ?? ''}:/usr/share/gocode`,
}
const hasGo = spawnSync('go', ['list', 'golang.org/x/mod/sumdb/tlog'], { env }).status === 0
it.skipIf(!hasGo)(
  'the packages of Go accept the vectors (skipped without golang.org/x/mod)',
  () => {
    const out = execFileSync('go', ['run', 'check.go', vectors], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    expect(out).toBe('all proofs and notes are valid\n')
  },
)
