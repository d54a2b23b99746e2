import fs from 'node:fs'
import path from 'node:path'
import tsconfig from '../../../tsconfig.json' with { type: 'json' }
import { readModules } from '../../support/import-graph.js'

const root = path.join(import.meta.dirname, '../../..')
const entries = new Map(
  Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => [
    name,
    path.normalize(file!),
  ]),
)

/** The modules that import each file. */
function readImporters(): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  for (const { file, loaded, packages } of readModules(root, ['src', 'adapters', 'test']))
    for (const to of [...loaded, ...packages.flatMap((name) => entries.get(name) ?? [])])
      importers.set(to, [...(importers.get(to) ?? []), file])
  return importers
}

/** Start many processes or servers, use the browser, or run all cases of a store. */
const SLOW = /^test\/(?:conformance|examples|page|processes|property)\//
/** Need programs of the system, or are run by another command. */
const APART = /^test\/(?:citus|ha|poolers)\/|\/citus\.test\.ts$|\.release\.test\.ts$/
const MIN_STEM = 4

/** Words such as `replica` and `replicas` count as the same. */
const isAlike = (one: string, other: string): boolean =>
  one === other ||
  (Math.min(one.length, other.length) >= MIN_STEM &&
    (one.startsWith(other) || other.startsWith(one)))

const wordsOf = (file: string): readonly string[] =>
  file
    .split(/[^a-z]+/)
    .filter((word) => !['', 'adapters', 'src', 'test', 'ts', 'tsx'].includes(word))

export interface Tests {
  /**
   * The tests that import the file, also indirectly, and tests with similar names. The tests that probably find a
   * defect come first.
   */
  near(file: string): readonly string[]
  readonly all: readonly string[]
}

export function readTests(): Tests {
  const importers = readImporters()
  const all = fs
    .readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => path.join('test', file))
    .filter((file) => file.endsWith('.test.ts') && !APART.test(file))

  /** The numbers of imports that lead from modules to the file. */
  const distancesTo = (file: string): ReadonlyMap<string, number> => {
    const distances = new Map([[file, 0]])
    // Iterating over a map also visits entries that are added meanwhile.
    for (const [to, distance] of distances)
      for (const from of importers.get(to) ?? [])
        if (!distances.has(from)) distances.set(from, distance + 1)
    return distances
  }

  return {
    all,
    near(file) {
      const distances = distancesTo(file)
      const words = wordsOf(file)
      const place = (test: string) => ({
        test,
        alike: wordsOf(test).filter((word) => words.some((one) => isAlike(one, word))).length,
        distance: distances.get(test) ?? Infinity,
      })
      return all
        .map(place)
        .filter(({ alike, distance }) => alike > 0 || distance < Infinity)
        .toSorted(
          (a, b) =>
            b.alike - a.alike ||
            Number(SLOW.test(a.test)) - Number(SLOW.test(b.test)) ||
            (a.distance < b.distance ? -1 : Number(a.distance > b.distance)),
        )
        .map(({ test }) => test)
    },
  }
}
