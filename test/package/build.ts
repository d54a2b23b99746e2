import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'

/*
 * Builds the modules and the types of the package into `dist`. The page is built afterwards.
 *
 * The modules are joined to a few dozen chunks, because Node takes about a millisecond to load a module, and the
 * source has more than 500.
 */
const root = path.join(import.meta.dirname, '../..')
const dist = path.join(root, 'dist')

interface Manifest {
  readonly exports: Readonly<
    Record<string, string | { readonly types: string; readonly browser?: string }>
  >
}
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest

const exported = Object.values(manifest.exports).filter((entry) => typeof entry !== 'string')

/** The types of the entry points, such as `dist/src/index.d.ts`. */
const typesOfEntries = exported.map(({ types }) => path.join(root, types))

/** The entry points of browsers, such as `src/ledger/browser`. */
const browserEntries = exported.flatMap(({ browser }) =>
  browser ? [path.relative('dist', browser).replace(/\.js$/, '')] : [],
)

/**
 * A thread is started by a path next to the module that starts it. So each of these modules is a separate file in the
 * folder of the chunks.
 */
const THREADS = [
  'adapters/sqlite/checking-thread',
  'adapters/sqlite/check-file',
  'adapters/sqlite/hashing-thread',
  'adapters/sqlite/rewriting-thread',
  'adapters/sqlite/rewrite-file',
  'adapters/sqlite/hashing',
  'adapters/sqlite/index/sealing-thread',
  'adapters/sqlite/index/start-sealing-thread',
]

/**
 * By default, all modules that the same entries need become a chunk. Each command is an entry, so most chunks would
 * have one small module. These groups merge small chunks.
 */
const CHUNK_GROUPS = [
  // `daybook/orm` needs no other module. Without this group it would load a large chunk.
  { name: 'shared', test: /store\/sql-transaction/, priority: 1 },
  {
    name: 'shared',
    minShareCount: 2,
    entriesAware: true,
    /** Limit in bytes. */
    entriesAwareMergeThreshold: 5000,
  },
]

/** Source files, and the helpers that the transformation of syntax newer than ES2023 imports. */
const isOwn = (id: string): boolean =>
  id.startsWith('.') || path.isAbsolute(id) || id.startsWith('@oxc-project/runtime/')

/** Each of these files is on its own: a chunk that they share with others could need modules of Node. */
async function buildForBrowsers(): Promise<void> {
  for (const name of browserEntries) {
    const bundle = await rolldown({
      cwd: root,
      platform: 'browser',
      transform: { target: 'es2023' },
      input: { [name]: `${name}.ts` },
    })
    await bundle.write({ dir: dist, format: 'esm', entryFileNames: '[name].js' })
    await bundle.close()
  }
}

async function buildModules(): Promise<void> {
  const entries = typesOfEntries.map((types) => path.relative(dist, types).replace(/\.d\.ts$/, ''))
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    external: (id) => !isOwn(id),
    transform: { target: 'es2023' },
    input: {
      ...Object.fromEntries(entries.map((name) => [name, `${name}.ts`])),
      'cli/main': 'adapters/cli/main.ts',
      ...Object.fromEntries(THREADS.map((name) => [`chunks/${path.basename(name)}`, `${name}.ts`])),
    },
  })
  await bundle.write({
    dir: dist,
    format: 'esm',
    // The declarations have the documentation.
    comments: { legal: true, annotation: true, jsdoc: false },
    entryFileNames: '[name].js',
    // The names of shared chunks would list the entries that need them, with their folders.
    chunkFileNames: ({ name }) =>
      name.startsWith('shared') ? 'chunks/shared-[hash].js' : 'chunks/[name].js',
    codeSplitting: { groups: CHUNK_GROUPS },
  })
  await bundle.close()
}

/** The files that these declarations import, directly or indirectly. */
function reachedTypes(entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set(entries)
  // Iterating over a set also visits members that are added meanwhile.
  for (const file of reached)
    for (const [, from] of fs.readFileSync(file, 'utf8').matchAll(/['"](\.[^'"]+)\.js['"]/g))
      reached.add(path.join(path.dirname(file), `${from!}.d.ts`))
  return reached
}

function buildTypes(): void {
  const tsc = path.join(root, 'node_modules', '.bin', 'tsc')
  execFileSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
  const reached = reachedTypes(typesOfEntries)
  for (const name of fs.readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(dist, name)
    if (file.endsWith('.d.ts') && !reached.has(file)) fs.rmSync(file)
  }
}

fs.rmSync(dist, { recursive: true, force: true })
buildTypes()
await buildModules()
await buildForBrowsers()
