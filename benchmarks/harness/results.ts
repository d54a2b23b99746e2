import fs from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { type Bar, ratioChart } from './chart.js'
import { type Print, short, table, times, withSpread } from './format.js'
import { machine } from './machine.js'

/* The figures that a benchmark found, how they compare with their goals, and the files that report them. */

/** A limit for a figure, and whether it was met. */
export interface Goal {
  /** Such as `below 2.0 ms`. */
  readonly goal: string
  readonly figure: number
  readonly spread: readonly [min: number, max: number]
  readonly met: boolean
  /** The distance from the limit; empty when it was met. */
  readonly missedBy: string
}

/** One line of a table. */
export interface Row {
  /** Title of the table. */
  readonly group: string
  readonly name: string
  /** Medians with their spread. */
  readonly daybook: string
  /** Figures that Daybook is compared with; empty where there are none. */
  readonly reference: string
  /** Taken within each round; empty where there is no reference. */
  readonly ratio: string
  readonly goals: readonly Goal[]
  /** The bar of a library that Daybook is compared with, and the file of its chart. */
  readonly charted?: { readonly chart: string; readonly bar: Bar }
}

/** A part of results.md that a single suite writes: Markdown between the markers of this name. */
export interface Section {
  readonly name: string
  readonly text: string
}

interface Bound {
  readonly word: string
  readonly isMet: (figure: number, limit: number) => boolean
}

const BOUNDS = {
  below: { word: 'below', isMet: (figure, limit) => figure < limit },
  atMost: { word: 'at most', isMet: (figure, limit) => figure <= limit },
  atLeast: { word: 'at least', isMet: (figure, limit) => figure >= limit },
} as const satisfies Readonly<Record<string, Bound>>

/** Describes a figure that is `share` times its limit. */
function distance(share: number): string {
  if (share >= 2) return `${times(share)} the limit`
  return share > 1 ? `${short((share - 1) * 100)} % over` : `${short((1 - share) * 100)} % short`
}

export interface GoalOptions {
  /** @default times */
  readonly print?: Print
  /** What the figure is a share or a multiple of. */
  readonly of?: string
}

/** Compares the median of the rounds with a limit. */
export function goalFor(
  bound: keyof typeof BOUNDS,
  limit: number,
  figures: readonly number[],
  { print = times, of = '' }: GoalOptions = {},
): Goal {
  const { word, isMet } = BOUNDS[bound]
  const figure = median(figures)
  const met = isMet(figure, limit)
  return {
    goal: `${word} ${print(limit)}${of && ` ${of}`}`,
    figure,
    spread: [Math.min(...figures), Math.max(...figures)],
    met,
    missedBy: met ? '' : distance(figure / limit),
  }
}

/** The median, with its spread where there is more than one figure. */
const summary = (figures: readonly number[], print: Print): string =>
  figures.length === 1 ? print(figures[0]!) : withSpread(figures, print)

/** Makes a row from the figures of each round. With `chart`, the ratio becomes a bar in the chart of that name. */
export function rowOf(facts: {
  readonly group: string
  readonly name: string
  readonly daybook: readonly number[]
  readonly reference?: { readonly name?: string; readonly figures: readonly number[] } | undefined
  readonly ratio?: readonly number[]
  readonly print: Print
  readonly note?: string
  readonly goals?: readonly Goal[]
  readonly chart?: string
}): Row {
  const { group, name, daybook, reference, ratio, print, note, goals = [], chart } = facts
  const compared = reference && summary(reference.figures, print)
  return {
    group,
    name,
    daybook: summary(daybook, print) + (note ? `, ${note}` : ''),
    reference: reference?.name ? `${reference.name}: ${compared}` : (compared ?? ''),
    ratio: ratio ? summary(ratio, times) : '',
    goals,
    ...(chart &&
      ratio && {
        charted: {
          chart,
          bar: {
            label: reference?.name ? `${reference.name}: ${name}` : name,
            ratio: median(ratio),
            spread: [Math.min(...ratio), Math.max(...ratio)],
          },
        },
      }),
  }
}

const verdict = ({ goal, met, missedBy }: Goal): string =>
  met ? `${goal}: met` : `**${goal}: ${missedBy}**`

/** A table for each group, in the order in which the groups first occur. */
export function tablesOf(
  rows: readonly Row[],
  images: ReadonlyMap<string, string> = new Map(),
): string[] {
  const groups = [...new Set(rows.map(({ group }) => group))]
  return groups.flatMap((group) => {
    const lines = rows
      .filter((row) => row.group === group)
      .map(({ name, daybook, reference, ratio, goals }) => [
        name,
        daybook,
        reference,
        ratio,
        goals.map(verdict).join('; '),
      ])
    const [heads, , ...body] = table(['', 'Daybook', 'compared with', 'ratio', 'goal'], lines)
    const image = images.get(group)
    return [
      `### ${group}`,
      '',
      ...(image === undefined ? [] : [image, '']),
      heads!,
      '| :-- | --: | --: | --: | :-- |',
      ...body,
      '',
    ]
  })
}

function goalSummary(rows: readonly Row[]): string {
  const goals = rows.flatMap((row) => row.goals)
  const met = goals.filter((goal) => goal.met).length
  return `${met} of ${goals.length} goals are met.`
}

/** How many goals were met, and a line for each that was missed. */
export function goalsMet(rows: readonly Row[]): string[] {
  const missed = rows.flatMap(({ group, name, goals }) =>
    goals
      .filter((goal) => !goal.met)
      .map(({ goal, missedBy }) => `- ${group}: ${name}: ${goal}: ${missedBy}`),
  )
  return missed.length === 0 ? [goalSummary(rows)] : [goalSummary(rows), 'Missed:', '', ...missed]
}

const RESULTS = path.join(import.meta.dirname, '..')
const REPORT = path.join(RESULTS, 'results.md')
const CHART_TITLE = 'Speed of Daybook, in multiples of the other side'
const CHARTS = path.join(RESULTS, 'charts')

/** Draws the charts. Gives the Markdown of the image for each group that has one. */
function drawCharts(rows: readonly Row[]): Map<string, string> {
  const images = new Map<string, string>()
  const names = new Set(rows.flatMap(({ charted }) => charted?.chart ?? []))
  for (const name of names) {
    const charted = rows.filter((row) => row.charted?.chart === name)
    const { group } = charted[0]!
    fs.mkdirSync(CHARTS, { recursive: true })
    const bars = charted.map((row) => row.charted!.bar)
    fs.writeFileSync(path.join(CHARTS, `${name}.svg`), ratioChart(CHART_TITLE, bars))
    images.set(group, `![${CHART_TITLE}. The table below has the figures.](charts/${name}.svg)`)
  }
  return images
}

/** Everything from this marker on belongs to single suites. */
const SECTIONS_MARKER = '<!-- suites -->'

/** Smaller logs are not reported. */
const REPORTED_SIZE = '1m'

/** Writes the report on a log of this size; returns false where this size has no report. */
export async function writeReport(
  size: string,
  rows: readonly Row[],
  failed: readonly string[],
): Promise<boolean> {
  if (size !== REPORTED_SIZE) return false
  const before = fs.existsSync(REPORT) ? fs.readFileSync(REPORT, 'utf8') : ''
  const sections = before.indexOf(SECTIONS_MARKER)
  const text = [
    '# Benchmark results',
    '',
    `Written by \`npm run bench -- --size ${size}\`; do not edit.`,
    '',
    ...(await machine()),
    '',
    'Figures are medians [min–max] of the rounds. Ratios are taken within each round, so both sides ran under the same load.',
    'Each side has its own processes. Events have about 640 bytes of attributes as JSON, with about 20 values.',
    'Query results are objects whose attributes are read, and all sides must return the same ones. p99 is taken over all single',
    'queries. Each query asks for a different value. Up to 200 unmeasured queries, or one second of them, come first.',
    '',
    `${goalSummary(rows)} The others say by how much they were missed.`,
    ...failed.map((suite) => `**The suite ${suite} failed and is missing.**`),
    '',
    ...tablesOf(rows, drawCharts(rows)),
  ].join('\n')
  fs.writeFileSync(REPORT, sections === -1 ? text : `${text}\n${before.slice(sections)}`)
  return true
}

/** Replaces the section of a single suite in results.md. */
export function writeSection({ name, text }: Section): void {
  const results = fs.readFileSync(REPORT, 'utf8')
  const section = new RegExp(`(<!-- suite:${name} -->\n).*?(<!-- /suite:${name} -->)`, 's')
  if (!section.test(results)) throw new Error(`results.md has no section suite:${name}`)
  fs.writeFileSync(
    REPORT,
    results.replace(section, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`),
  )
}
