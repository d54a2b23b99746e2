import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import packageJson from '../../package.json' with { type: 'json' }
import tsconfig from '../../tsconfig.json' with { type: 'json' }

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with the sources as JavaScript, at the same relative paths. */
    readonly compiledFolder: string
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const COMPILED = ['src', 'adapters', 'examples', 'test']

/** Maps the package name to the compiled sources, as `paths` maps it to the sources. */
function manifest(): string {
  const exports = Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => [
    name.replace(/^daybook/, '.'),
    file!.replace(/\.ts$/, '.js'),
  ])
  const all = { ...Object.fromEntries(exports), './package.json': './package.json' }
  return JSON.stringify({
    name: 'daybook',
    version: packageJson.version,
    type: 'module',
    exports: all,
  })
}

/**
 * Compiles the sources once for all processes and threads that tests start: loading JavaScript takes a third of
 * the time of compiling at start. Does not check types.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cache = path.join(root, 'node_modules/.cache/daybook')
  await fs.mkdir(cache, { recursive: true })
  // Inside node_modules, so that dependencies are found; each run has its own folder.
  const folder = await fs.mkdtemp(path.join(cache, 'compiled-'))
  const config = path.join(folder, 'tsconfig.json')
  const compilerOptions = { noEmit: false, noCheck: true, rootDir: root, outDir: folder }
  await fs.writeFile(
    config,
    JSON.stringify({
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions,
      include: COMPILED.map((name) => path.join(root, name)),
      exclude: [path.join(root, 'adapters/page')],
    }),
  )
  const tsc = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  )
  await promisify(execFile)(process.execPath, [tsc, '-p', config], { cwd: root })
  await fs.writeFile(path.join(folder, 'package.json'), manifest())
  // The built page is looked up beside package.json.
  await fs.symlink(path.join(root, 'dist'), path.join(folder, 'dist'), 'junction')
  project.provide('compiledFolder', folder)
  // For compiled-threads.js.
  process.env['DAYBOOK_COMPILED_FOLDER'] = folder
  return () => fs.rm(folder, { recursive: true, force: true, maxRetries: 3 })
}
