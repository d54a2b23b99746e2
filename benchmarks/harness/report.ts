import fs from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { ratioChart } from './chart.js'
import { table, times } from './format.js'
import { commit } from './machine.js'
import { ratiosOf, type Row, summaryOf, type Table, verdictsOf } from './suite.js'

/* The files that report what suites have found. */

/** The tables of a suite. */
export interface Found {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly tables: readonly Table[]
}

/** The report of the repository. */
export const REPORT = path.join(import.meta.dirname, '../results.md')

const CHART_TITLE = 'Speed of Daybook, in multiples of the other side'

function cellsOf(row: Row): string[] {
  const { name, ours, theirs, against, print, note } = row
  const compared = theirs ? summaryOf(theirs, print) : ''
  const ratio = ratiosOf(row)
  return [
    name,
    summaryOf(ours, print) + (note ? `, ${note}` : ''),
    against && compared ? `${against}: ${compared}` : compared,
    ratio.length === 0 ? '' : summaryOf(ratio, times),
    verdictsOf(row)
      .map(({ isMet, text }) => (isMet ? text : `**${text}**`))
      .join('; '),
  ]
}

/** The table in Markdown. Columns that are empty in all rows are left out. */
export function linesOf({ title, text, rows, chart, after }: Table): string[] {
  const cells = [['', 'Daybook', 'compared with', 'ratio', 'goal'], ...rows.map(cellsOf)]
  const used = cells[0]!.map((_, at) => at < 2 || cells.slice(1).some((line) => line[at] !== ''))
  const [heads, ...lines] = cells.map((line) => line.filter((_, at) => used[at]))
  return [
    `### ${title}`,
    '',
    ...(text ? [text, ''] : []),
    ...(chart ? [`![${CHART_TITLE}. The table has the figures.](charts/${chart}.svg)`, ''] : []),
    ...(rows.length > 0 ? [...table(heads!, lines), ''] : []),
    ...(after ? [...after, ''] : []),
  ]
}

/** The number of goals that were met, and a line for each that was missed. */
export function goalsOf(tables: readonly Table[]): string[] {
  const all = tables.flatMap(({ title, rows }) =>
    rows.flatMap((row) =>
      verdictsOf(row).map((verdict) => ({ ...verdict, where: `${title}: ${row.name}` })),
    ),
  )
  if (all.length === 0) return []
  const missed = all.filter(({ isMet }) => !isMet)
  return [
    `${all.length - missed.length} of ${all.length} goals are met.`,
    ...missed.map(({ where, text }) => `- ${where}: ${text}`),
  ]
}

const beginOf = (name: string): string => `<!-- suite:${name} -->`
const endOf = (name: string): string => `<!-- /suite:${name} -->`

const now = (): string => new Date().toISOString().slice(0, 16).replace('T', ' ')

function sectionOf({ name, title, summary, tables }: Found): string {
  return [
    beginOf(name),
    '',
    `## ${title}`,
    '',
    `${summary}. Measured ${now()} UTC with ${commit()}: \`npm run bench -- ${name}\``,
    '',
    ...tables.flatMap(linesOf),
    endOf(name),
    '',
  ].join('\n')
}

function drawCharts(tables: readonly Table[], folder: string): void {
  for (const { chart, rows } of tables) {
    if (chart === undefined) continue
    const bars = rows.map((row) => {
      const ratio = ratiosOf(row)
      const spread = [Math.min(...ratio), Math.max(...ratio)] as const
      return { label: row.name, ratio: median(ratio), spread }
    })
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(path.join(folder, `${chart}.svg`), ratioChart(CHART_TITLE, bars))
  }
}

const INTRODUCTION = [
  'Figures are medians [min–max] of the rounds. Ratios are taken within each round, so both sides ran under the same load. Each side has its',
  'own processes. Events have about 640 bytes of attributes as JSON, with about 20 values. Disks are synced as the databases do by default on',
  'servers: `synchronous=FULL` on SQLite, `fsync`, `full_page_writes` and `synchronous_commit` on Postgres.',
]

/** Writes the whole report. */
function writeAll(file: string, found: readonly Found[], machine: readonly string[]): void {
  const [goals] = goalsOf(found.flatMap(({ tables }) => tables))
  const head = [
    '# Benchmark results',
    '',
    'Written by `npm run bench`; do not edit.',
    '',
    ...machine,
    '',
    ...INTRODUCTION,
    '',
    ...(goals ? [`${goals} The others say by how much they were missed.`, ''] : []),
  ]
  fs.writeFileSync(file, [head.join('\n'), ...found.map(sectionOf)].join('\n'))
}

/** Replaces the sections of single suites in the report. */
function replaceSome(file: string, found: readonly Found[]): void {
  let text = fs.readFileSync(file, 'utf8')
  for (const one of found) {
    const [begin, end] = [text.indexOf(beginOf(one.name)), text.indexOf(endOf(one.name))]
    if (begin === -1 || end === -1)
      throw new Error(`${file} has no section of ${one.name}: run all suites once`)
    text = text.slice(0, begin) + sectionOf(one) + text.slice(end + endOf(one.name).length + 1)
  }
  fs.writeFileSync(file, text)
}

/**
 * Writes results to a file, and their charts to a folder beside it. With lines that describe the machine, it is a whole report;
 * otherwise the sections of the suites are replaced.
 */
export function writeReport(
  file: string,
  found: readonly Found[],
  machine: readonly string[] | undefined,
): void {
  const charts = path.join(path.dirname(file), 'charts')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  if (machine) writeAll(file, found, machine)
  else replaceSome(file, found)
  // Charts of former versions.
  if (machine && file === REPORT) fs.rmSync(charts, { recursive: true, force: true })
  drawCharts(
    found.flatMap(({ tables }) => tables),
    charts,
  )
}
