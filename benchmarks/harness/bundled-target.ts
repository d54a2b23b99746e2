import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const BENCHMARKS = path.join(import.meta.dirname, '..')

/**
 * Calls `use` with the path of a target as JavaScript in one file. Node runs it without tsx, which takes some 40 MB of
 * each process. The file imports the built package by its name, so it has to be in a folder of the package.
 */
export async function withBundledTarget<Result>(
  script: string,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = fs.mkdtempSync(path.join(BENCHMARKS, '.bundled-'))
  const file = path.join(folder, 'target.mjs')
  try {
    await build({
      entryPoints: [path.join(BENCHMARKS, 'targets', script)],
      outfile: file,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
    })
    return await use(file)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
