import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'
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

/**
 * Files that tests run as processes. Their imports are bundled into few files, because loading a module takes a
 * millisecond.
 */
const PROCESSES =
  /^adapters\/cli\/main\.ts$|^examples\/workflow-service\/main\.ts$|^test\/.*-child\.ts$|^test\/campaigns\/(?:archives\/archiving|exports\/child|deliveries\/(?:deliverer|receiver|writers))\.ts$/
/** Files that run in threads. Each becomes one file with all of its imports. */
const THREADS =
  /^adapters\/sqlite\/(?:checking|index\/sealing|write\/writer)-thread\.ts$|^test\/.*-thread\.ts$/

/** The sources, relative to the root of the project. */
function sources(): readonly string[] {
  const isSource = (file: string): boolean =>
    file.endsWith('.ts') && !/^adapters\/page\/|\.d\.ts$|\.test(?:-d)?\.ts$/.test(file)
  return COMPILED.flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => path.posix.join(folder, file.replaceAll(path.sep, '/'))),
  ).filter(isSource)
}

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

const ADDRESS = 'import.meta.url'

/** Lets moved code keep the address of its compiled file. */
const keepAddresses = (folder: string, files: readonly string[]): Plugin => ({
  name: 'keep-addresses',
  setup({ onLoad }) {
    const contents = new Map(
      files
        .map((file): [string, string] => [file, fs.readFileSync(path.join(root, file), 'utf8')])
        .filter(([, text]) => text.includes(ADDRESS))
        .map(([file, text]) => {
          const compiled = path.join(folder, file.replace(/\.ts$/, '.js'))
          const address = JSON.stringify(pathToFileURL(compiled).href)
          return [path.join(root, file), text.replaceAll(ADDRESS, address)]
        }),
    )
    const names = [...contents.keys()].map((file) => path.basename(file, '.ts'))
    // Each call of the plugin takes time, so it is called for few files.
    const filter = new RegExp(`[/\\\\](?:${names.join('|')})\\.ts$`)
    onLoad({ filter }, ({ path: file }) => {
      const changed = contents.get(file)
      return changed === undefined ? undefined : { loader: 'ts', contents: changed }
    })
  },
})

/** Compiles the sources into a new folder, without a check of types. */
export async function compileSources(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const cache = path.join(root, 'node_modules/.cache/daybook')
  fs.mkdirSync(cache, { recursive: true })
  // Inside node_modules, so that dependencies are found. Each run has a separate folder.
  const folder = fs.mkdtempSync(path.join(cache, 'compiled-'))
  const files = sources()
  const options: BuildOptions = {
    absWorkingDir: root,
    outbase: root,
    outdir: folder,
    tsconfig: path.join(root, 'tsconfig.json'),
    platform: 'node',
    format: 'esm',
    target: tsconfig.compilerOptions.target,
    logLevel: 'warning',
  }
  const bundles: BuildOptions = {
    ...options,
    bundle: true,
    packages: 'external',
    plugins: [keepAddresses(folder, files)],
  }
  await build({ ...options, sourcemap: 'linked', sourcesContent: false, entryPoints: [...files] })
  await build({
    ...bundles,
    entryPoints: files.filter((file) => PROCESSES.test(file)),
    splitting: true,
    chunkNames: 'chunks/[hash]',
  })
  await build({ ...bundles, entryPoints: files.filter((file) => THREADS.test(file)) })
  fs.writeFileSync(path.join(folder, 'package.json'), manifest())
  // The built page is looked up beside package.json.
  fs.symlinkSync(path.join(root, 'dist'), path.join(folder, 'dist'), 'junction')
  // compiled-threads.js reads this variable.
  process.env['DAYBOOK_COMPILED_FOLDER'] = folder
  const remove = () => fs.promises.rm(folder, { recursive: true, force: true, maxRetries: 3 })
  return { folder, remove }
}

/**
 * Compiles the sources once for tests (see compiled-sources.ts), and for all processes and threads that they start.
 * Loading JavaScript takes a third of the time of compiling at start.
 */
export default async function setup(
  project: Pick<TestProject, 'provide'>,
): Promise<() => Promise<void>> {
  const { folder, remove } = await compileSources()
  project.provide('compiledFolder', folder)
  return remove
}
