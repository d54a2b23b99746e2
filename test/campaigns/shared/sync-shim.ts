import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import path from 'node:path'
import { compileSources } from '../../support/global-compiled.js'
import { tempDir } from '../../support/temp.js'

/** Runs a process with these arguments. The variable makes its syncs fail or take long. Resolves to its output. */
export type RunShimmed = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<string>

/** Calls `use` with a function that runs a compiled file of the campaigns with such syncs. Needs a C compiler. */
export async function withSyncShim<Result>(
  file: string,
  use: (run: RunShimmed) => Promise<Result>,
): Promise<Result> {
  const temp = tempDir()
  const shim = temp.file('failing-sync.so')
  const source = path.join(import.meta.dirname, '../failing-sync.c')
  execFileSync('cc', ['-shared', '-fPIC', '-o', shim, source, '-ldl'])
  const compiled = await compileSources()
  const main = path.join(compiled.folder, 'test/campaigns', file)
  try {
    return await use(async (args, env) => {
      const child = spawn(process.execPath, [main, ...args], {
        env: { ...process.env, LD_PRELOAD: shim, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
      return output
    })
  } finally {
    await compiled.remove()
    temp.remove()
  }
}
