import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { withMutant } from '../campaigns/mutants/scratch.js'
import { mutants } from '../campaigns/mutants/table.js'
import { floorBreaches, type Module, readFloors, readModules } from '../support/import-graph.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const modules = readModules(root, ['src', 'adapters']).filter(
  ({ file }) => file !== 'adapters/page/vite.config.ts',
)
const floors = readFloors(fs.readFileSync(path.join(root, 'test/package/floors.json'), 'utf8'))

const byFile = new Map(modules.map((module) => [module.file, module]))

/** The given files, and all files that they load. */
function reachedFrom(files: readonly string[]): ReadonlySet<string> {
  const reached = new Set(files)
  // Iterating over a set also visits members that are added meanwhile.
  for (const file of reached) for (const to of byFile.get(file)!.loaded) reached.add(to)
  return reached
}

const violations = (isWrong: (from: string, to: string) => boolean): string[] =>
  modules.flatMap(({ file, local }) =>
    local.filter((to) => isWrong(file, to)).map((to) => `${file} -> ${to}`),
  )

describe('imports', () => {
  it('are all found', () => {
    expect(modules.length).toBeGreaterThan(400)
    expect(modules.flatMap((module) => module.local).length).toBeGreaterThan(1000)
    expect(violations((_, to) => !byFile.has(to))).toEqual([])
  })

  it('follow the table of floors', () => {
    expect(floorBreaches(modules, floors)).toEqual([])
  })

  it('never go through an index file: entry points are for users', () => {
    expect(violations((_, to) => to.endsWith('/index.ts'))).toEqual([])
  })

  it('form no cycle of files', () => {
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file))
        cycles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '))
      if (done.has(file) || trail.includes(file)) return
      for (const next of byFile.get(file)?.local ?? []) visit(next, [...trail, file])
      done.add(file)
    }
    for (const { file } of modules) visit(file, [])
    expect(cycles).toEqual([])
  })

  it('of the audit log reach no store and no HTTP', () => {
    const reached = [...reachedFrom(['src/audit-log.ts'])]
    expect(reached.filter((file) => /^src\/(?:store-kit|http|lists|testing)\//.test(file))).toEqual(
      [],
    )
  })

  it('use no packages at run time except the dependencies', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const isPage = ({ file }: Module): boolean => file.startsWith('adapters/page/')
    const packages = modules.filter((module) => !isPage(module)).flatMap((one) => one.packages)
    // The command line loads stores and routes by the names of the entries, as every host does.
    const isEntry = (name: string): boolean => /^daybook(?:\/|$)/.test(name)
    const needed = new Set(packages.filter((name) => !name.startsWith('node:') && !isEntry(name)))
    const packageOf = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]
    expect([...needed].filter((name) => !(packageOf(name) in manifest.dependencies))).toEqual([])
  })

  it('of the formats use no Node modules and no packages, so that they run in browsers', () => {
    const reached = [...reachedFrom(['src/formats/index.ts'])]
    expect(reached).toContain('src/formats/ocsf.ts')
    expect(reached.flatMap((file) => byFile.get(file)!.packages)).toEqual([])
  })

  it('of the checks of the ledger use no Node modules and no packages, so that they run in browsers', () => {
    const reached = [...reachedFrom(['src/ledger/browser.ts'])]
    expect(reached).toContain('src/ledger/proof.ts')
    expect(reached.flatMap((file) => byFile.get(file)!.packages)).toEqual([])
  })

  it('of the page use no Node modules and no packages except Preact and diff', () => {
    const page = modules.map(({ file }) => file).filter((file) => file.startsWith('adapters/page/'))
    const packages = new Set([...reachedFrom(page)].flatMap((file) => byFile.get(file)!.packages))
    expect([...packages].toSorted()).toEqual([
      '@preact/signals',
      'diff/lib/diff/array.js',
      'preact',
      'preact/hooks',
    ])
  })
})

describe('a breach of the floors', () => {
  const fixture = path.join(root, 'test/fixtures/floors')
  const lower = readModules(fixture, ['lower'])
  const both = readModules(fixture, ['upper', 'lower'])
  const table = readFloors(fs.readFileSync(path.join(fixture, 'floors.json'), 'utf8'))

  it.each(['import', 'type', 'export', 'export-all', 'dynamic-import', 'import-type'])(
    'by %s is reported',
    (way) => {
      expect(floorBreaches(both, table)).toContain(`lower/by-${way}.ts -> upper/top.ts`)
    },
  )

  it('is the only thing reported', () => {
    expect(floorBreaches(both, table)).toHaveLength(6)
  })

  it('is reported for a folder that the table lacks', () => {
    expect(floorBreaches(lower, new Map([['upper', []]]))).toContain(
      'lower/bottom.ts stands on no floor',
    )
  })

  it('is reported for a table that points up', () => {
    const upwards = new Map([
      ['upper', ['lower']],
      ['lower', ['upper']],
    ])
    expect(floorBreaches(both, upwards)).toEqual(['lower lists upper, which is not below it'])
  })

  it('is reported for a permission that nothing uses', () => {
    expect(floorBreaches(lower.slice(0, 0), table)).toEqual(['upper never imports lower'])
  })
})

describe('a mutant of the campaign', () => {
  it('replaces a line that stands once in its file', () => {
    for (const mutant of mutants) {
      const text = fs.readFileSync(path.join(root, mutant.file), 'utf8')
      expect(withMutant(text, mutant)).not.toBe(text)
    }
  })
})
