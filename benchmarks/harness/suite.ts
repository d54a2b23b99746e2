import { median } from 'simple-statistics'
import { type Print, ratios, short, times, withSpread } from './format.js'
import type { OptionName, Options } from './options.js'

/* Suites as data: what they set up, the parts that are measured with it, and the tables that parts return. */

type Limit = { readonly atLeast: number } | { readonly atMost: number }

/** Medians of the rounds are compared with the limits. */
export interface Goal {
  readonly figure?: Limit
  readonly ratio?: Limit
  /** Counts are to be exact, and these were. */
  readonly isExact?: boolean
}

export interface Row {
  readonly name: string
  /** Figures of Daybook, by round. */
  readonly ours: readonly number[]
  /** Figures of what it is compared with, of the same rounds. */
  readonly theirs?: readonly number[] | undefined
  /** The name of what it is compared with, where the name of the row does not say it. */
  readonly against?: string
  readonly print: Print
  /** The ratio says how many times as fast Daybook is: figures are times. Otherwise it divides its figure by the other one. */
  readonly isFaster?: boolean
  readonly note?: string
  readonly goal?: Goal | undefined
}

export interface Table {
  readonly title: string
  /** What was done, where the title and the rows do not say it. */
  readonly text?: string
  readonly rows: readonly Row[]
  /** Name of the file of a chart of the ratios. */
  readonly chart?: string
  /** Lines of Markdown that follow the table. */
  readonly after?: readonly string[]
}

export interface Suite<Context = unknown> {
  /** Calls `use` with what all parts are measured with. */
  setUp(options: Options, use: (context: Context) => Promise<void>): Promise<void>
  readonly parts: Readonly<Record<string, (context: Context, options: Options) => Promise<Table[]>>>
}

/** A suite whose context is known to its parts only. */
export const defineSuite = <Context>(suite: Suite<Context>): Suite => suite as Suite

/** The set-up of suites that need none. */
export const noSetUp = (_: Options, use: (context: undefined) => Promise<void>): Promise<void> =>
  use(undefined)

export interface Described {
  /** The heading in results.md. */
  readonly title: string
  readonly summary: string
  /** The options that it takes. */
  readonly defaults: Partial<Record<OptionName, number>>
  /** The names of its parts. */
  readonly parts: readonly string[]
  /** Needs the packages of `benchmarks/peers`. */
  readonly needsPeers?: true
  /** Loads the suite, which needs the built package. */
  load(): Promise<{ readonly suite: Suite }>
}

/** The ratio of each round; empty without something to compare with. */
export function ratiosOf({ ours, theirs, isFaster }: Row): number[] {
  if (!theirs) return []
  return isFaster ? ratios(theirs, ours) : ratios(ours, theirs)
}

export interface Verdict {
  readonly isMet: boolean
  readonly text: string
}

function compare(figure: number, limit: Limit, print: Print): Verdict {
  const [words, value, isMet] =
    'atLeast' in limit
      ? (['at least', limit.atLeast, figure >= limit.atLeast] as const)
      : (['at most', limit.atMost, figure <= limit.atMost] as const)
  const share = figure / value
  const distance =
    share >= 2
      ? `${times(share)} the limit`
      : `${short(Math.abs(share - 1) * 100)} % ${share > 1 ? 'over' : 'short'}`
  return { isMet, text: `${words} ${print(value)}: ${isMet ? 'met' : distance}` }
}

/** Whether each goal of the row was met, and by how much it was missed. */
export function verdictsOf(row: Row): Verdict[] {
  const { figure, ratio, isExact } = row.goal ?? {}
  return [
    ...(figure ? [compare(median([...row.ours]), figure, row.print)] : []),
    ...(ratio ? [compare(median(ratiosOf(row)), ratio, times)] : []),
    ...(isExact === undefined
      ? []
      : [{ isMet: isExact, text: `exact: ${isExact ? 'met' : 'estimated'}` }]),
  ]
}

/** The median, with its spread where there is more than one figure. */
export const summaryOf = (figures: readonly number[], print: Print): string =>
  figures.length === 1 ? print(figures[0]!) : withSpread(figures, print)
