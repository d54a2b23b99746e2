import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { docPages } from './doc-pages.js'
import { tempDir } from './temp.js'

export const hasPython =
  spawnSync('python3', ['-c', 'import cryptography'], { stdio: 'ignore' }).status === 0

/** Runs the program once for each list of arguments, in one interpreter, because it takes long to start. */
const DRIVER = `
import json, runpy, sys
program, cases = json.load(sys.stdin)
for sys.argv[1:] in cases:
    try:
        runpy.run_path(program)
    except BaseException as error:
        print("refused:", repr(error))
`

/** The output of the Python program of the documentation for each proof and export line. */
export function checkWithPython(
  vkey: string,
  cases: readonly (readonly [line: string, proof: string])[],
): readonly string[] {
  const temp = tempDir()
  try {
    const file = (name: string, text: string): string => {
      fs.writeFileSync(temp.file(name), text)
      return temp.file(name)
    }
    const [block] = docPages.flatMap(({ blocks }) =>
      blocks.filter(({ language }) => language === 'python'),
    )
    const calls = cases.map(([line, proof], i) => [
      file(`${i}.tlog-proof`, proof),
      file(`${i}.ndjson`, line),
      vkey,
    ])
    const input = JSON.stringify([file('check.py', block!.code), calls])
    const output = execFileSync('python3', ['-c', DRIVER], { input, encoding: 'utf8' })
    return output.trim().split('\n')
  } finally {
    temp.remove()
  }
}
