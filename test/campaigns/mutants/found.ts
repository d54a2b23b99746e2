import fs from 'node:fs'
import path from 'node:path'
import { table } from '../../support/markdown.js'
import { type Mutant, mutants } from './table.js'

const FILE = path.join(import.meta.dirname, 'found.md')

const INTRODUCTION = `# What the suite finds

Each row is a mutant of [table.ts](table.ts), by its file. The other columns say which test file found it at the time of one measurement, some
of them with the seconds that it took. \`npm run attack -- mutants --table <column>\` fills the empty cells of a column, and adds the column if there is
none; \`?\` means that the files near the mutant do not find it, and the other files are still to run.`

const keyOf = ({ file, defect }: Mutant): string => `\`${file}\` | ${defect}`

/** A column of `found.md`. */
export interface Found {
  /** The text of the cell for a mutant; empty if there is none. */
  of(mutant: Mutant): string
  /** The test files in other columns. */
  before(mutant: Mutant): readonly string[]
  /** Writes a cell. */
  set(mutant: Mutant, cell: string): void
}

export function openFound(column: string): Found {
  const lines = fs.existsSync(FILE) ? fs.readFileSync(FILE, 'utf8').split('\n') : []
  const [head = [], , ...rows] = lines
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))
  const columns = head.slice(2)
  if (!columns.includes(column)) columns.push(column)
  const cells = new Map(rows.map(([file, defect, ...rest]) => [`${file} | ${defect}`, rest]))
  const at = columns.indexOf(column)
  const cellsOf = (mutant: Mutant): string[] =>
    columns.map((_, i) => cells.get(keyOf(mutant))?.[i]?.trim() ?? '')
  return {
    of: (mutant) => cellsOf(mutant)[at]!,
    before: (mutant) => cellsOf(mutant).flatMap((cell) => /`(.+)`/.exec(cell)?.[1] ?? []),
    set(mutant, cell) {
      cells.set(keyOf(mutant), cellsOf(mutant).with(at, cell))
      const all = mutants.map((one) => [`\`${one.file}\``, one.defect, ...cellsOf(one)])
      const text = table(['file', 'defect', ...columns], all)
      fs.writeFileSync(FILE, `${INTRODUCTION}\n\n${text}\n`)
    },
  }
}
