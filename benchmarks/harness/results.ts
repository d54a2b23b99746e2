import fs from 'node:fs'
import { median, type Print, row, short, times, withSpread } from './format.js'

/* What a benchmark found, one line of benchmarks/results.md each, and how it compares to what is aimed at. */

/** What a figure has to reach, and whether it does. */
export interface Aim {
  /** Such as `below 2.0 ms`. */
  readonly aim: string
  readonly figure: number
  readonly spread: readonly [least: number, greatest: number]
  readonly met: boolean
  /** By how much it falls short; empty when met. */
  readonly missing: string
}

export interface Row {
  /** The table it belongs to. */
  readonly group: string
  readonly name: string
  /** Medians with their spread, as they are to be read. */
  readonly daybook: string
  /** What it is compared to; empty where there is nothing. */
  readonly reference: string
  /** Of the rounds, each of neighbours in time; empty where there is none. */
  readonly ratio: string
  /** None where a figure is only told. */
  readonly aims: readonly Aim[]
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

/** By how much a figure is off its limit, of which it is this share. */
function shortfall(share: number): string {
  if (share >= 2) return `${times(share)} the limit`
  return share > 1
    ? `${short((share - 1) * 100)} % too much`
    : `${short((1 - share) * 100)} % too little`
}

/** Compares the median of the rounds' figures to a limit. */
export function aimFor(
  bound: keyof typeof BOUNDS,
  limit: number,
  figures: readonly number[],
  print: Print = times,
  of = '',
): Aim {
  const { word, isMet } = BOUNDS[bound]
  const figure = median(figures)
  const met = isMet(figure, limit)
  return {
    aim: `${word} ${print(limit)}${of && ` ${of}`}`,
    figure,
    spread: [Math.min(...figures), Math.max(...figures)],
    met,
    missing: met ? '' : shortfall(figure / limit),
  }
}

/** Ratios of the rounds' figures. */
export const ratios = (of: readonly number[], to: readonly number[]): number[] =>
  of.map((figure, i) => figure / to[i]!)

/** The median, with its spread where there are several. */
const told = (figures: readonly number[], print: Print): string =>
  figures.length === 1 ? print(figures[0]!) : withSpread(figures, print)

/** A row of figures by round. With a reference, `ratio` says which way they are compared. */
export function rowOf(facts: {
  readonly group: string
  readonly name: string
  readonly daybook: readonly number[]
  readonly reference?: { readonly name?: string; readonly figures: readonly number[] } | undefined
  readonly ratio?: readonly number[]
  readonly print: Print
  readonly note?: string
  readonly aims?: readonly Aim[]
}): Row {
  const { group, name, daybook, reference, ratio, print, note, aims = [] } = facts
  const beside = reference && told(reference.figures, print)
  return {
    group,
    name,
    daybook: told(daybook, print) + (note ? `, ${note}` : ''),
    reference: reference?.name ? `${reference.name}: ${beside}` : (beside ?? ''),
    ratio: ratio ? told(ratio, times) : '',
    aims,
  }
}

const verdict = ({ aim, met, missing }: Aim): string =>
  met ? `${aim}: met` : `**${aim}: ${missing}**`

/** A table for each group, in the order in which they come. */
export function tablesOf(rows: readonly Row[]): string[] {
  const groups = [...new Set(rows.map(({ group }) => group))]
  return groups.flatMap((group) => [
    `### ${group}`,
    '',
    row('', 'Daybook', 'beside it', 'ratio', 'aim'),
    row(':--', '--:', '--:', '--:', ':--'),
    ...rows
      .filter((one) => one.group === group)
      .map(({ name, daybook, reference, ratio, aims }) =>
        row(name, daybook, reference, ratio, aims.map(verdict).join('; ')),
      ),
    '',
  ])
}

/** Prints the rows as tables, or hands them over in the file that `npm run bench` has named. */
export function tell(rows: readonly Row[], file: string | undefined): void {
  if (file === undefined) console.log(tablesOf(rows).join('\n'))
  else fs.writeFileSync(file, JSON.stringify(rows))
}
