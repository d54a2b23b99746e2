import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Module {
  readonly file: string
  /** Files of ours that it imports, types included. */
  readonly local: readonly string[]
  /** Those of them whose code it needs at run time. */
  readonly loaded: readonly string[]
  /** Packages whose code it needs at run time, those of Node among them. */
  readonly packages: readonly string[]
}

const IMPORT = /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'/gm

function readModule(file: string): Module {
  const text = fs.readFileSync(path.join(root, file), 'utf8')
  const imports = [...text.matchAll(IMPORT)].map(([, type, name]) => ({ type, name: name! }))
  const resolve = (name: string): string => {
    const module = path.join(path.dirname(file), name)
    const tsx = module.replace(/\.js$/, '.tsx')
    return fs.existsSync(path.join(root, tsx)) ? tsx : module.replace(/\.js$/, '.ts')
  }
  const local = imports.filter(({ name }) => name.startsWith('.'))
  return {
    file,
    local: local.map(({ name }) => resolve(name)),
    loaded: local.filter(({ type }) => !type).map(({ name }) => resolve(name)),
    packages: imports
      .filter(({ type, name }) => !type && !name.startsWith('.'))
      .map(({ name }) => name),
  }
}

const modules = ['src', 'adapters'].flatMap((folder) =>
  fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readModule(path.join(folder, file))),
)

const violations = (isWrong: (from: string, to: string) => boolean): string[] =>
  modules.flatMap(({ file, local }) =>
    local.filter((to) => isWrong(file, to)).map((to) => `${file} -> ${to}`),
  )

/** The page runs in browsers: what it needs of packages is built into its files. */
const isPage = (file: string): boolean =>
  file.startsWith('adapters/page/') && file !== 'adapters/page/vite.config.ts'

const adapterOf = (file: string): string | undefined => /^adapters\/([^/]+)/.exec(file)?.[1]

describe('imports', () => {
  it('are read at all', () => {
    expect(modules.length).toBeGreaterThan(40)
    expect(modules.flatMap((module) => module.local).length).toBeGreaterThan(100)
    const known = new Set(modules.map((module) => module.file))
    expect(violations((_, to) => !known.has(to))).toEqual([])
  })

  it('lead from adapters to the core, never back', () => {
    expect(violations((from, to) => from.startsWith('src') && to.startsWith('adapters'))).toEqual(
      [],
    )
  })

  it('never lead from one adapter to another', () => {
    const crosses = (from: string, to: string): boolean =>
      to.startsWith('adapters') && adapterOf(from) !== adapterOf(to)
    expect(violations((from, to) => from.startsWith('adapters') && crosses(from, to))).toEqual([])
  })

  it('never lead through an index: entries are for users', () => {
    expect(violations((_, to) => to.endsWith('/index.ts'))).toEqual([])
  })

  it('keep HTTP and tests out of the core', () => {
    const isCore = (file: string): boolean => /^src\/(?!http\/|testing\/)/.test(file)
    expect(violations((from, to) => isCore(from) && !isCore(to))).toEqual([])
  })

  it('need no package at run time but the dependencies', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const ours = modules.filter(({ file }) => !file.startsWith('adapters/page/'))
    const packages = ours.flatMap((module) => module.packages)
    const needed = new Set(packages.filter((name) => !name.startsWith('node:')))
    expect([...needed].filter((name) => !(name in manifest.dependencies))).toEqual([])
  })

  it('bring nothing of Node into the page, and little else', () => {
    const byFile = new Map(modules.map((module) => [module.file, module]))
    const reached = new Set(modules.map(({ file }) => file).filter(isPage))
    // A set that grows while it is gone through is gone through to its end.
    for (const file of reached) for (const to of byFile.get(file)!.loaded) reached.add(to)
    const packages = new Set([...reached].flatMap((file) => byFile.get(file)!.packages))
    expect([...packages].toSorted()).toEqual(['@preact/signals', 'preact', 'preact/hooks'])
  })

  it('go in no circle', () => {
    const graph = new Map(modules.map((module) => [module.file, module.local]))
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file))
        circles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '))
      if (done.has(file) || trail.includes(file)) return
      for (const next of graph.get(file) ?? []) visit(next, [...trail, file])
      done.add(file)
    }
    for (const { file } of modules) visit(file, [])
    expect(circles).toEqual([])
  })
})
