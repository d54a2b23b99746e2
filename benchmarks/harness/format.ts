/* Numbers with units, spreads and Markdown tables. */
import { markdownTable } from 'markdown-table'
import { median } from 'simple-statistics'

export type Print = (value: number) => string

export const whole: Print = (value) => Math.round(value).toLocaleString('en')
/** Two or three significant digits; whole numbers from 1,000. */
export const short: Print = (value) => {
  const size = Math.abs(value)
  return size < 1000 ? value.toPrecision(size < 99.5 ? 2 : 3) : whole(value)
}
export const milliseconds: Print = (value) => `${short(value)} ms`
export const microseconds: Print = (value) => `${short(value)} µs`
export const times: Print = (value) => `${short(value)}×`
export const percent: Print = (value) => `${short(value * 100)} %`
export const perSecond: Print = (value) => `${whole(value)}/s`
export const megabytes: Print = (value) => `${whole(value / 1e6)} MB`

/** `median [min–max]`. */
export function withSpread(values: readonly number[], print: Print): string {
  return `${print(median(values))} [${print(Math.min(...values))}–${print(Math.max(...values))}]`
}

/** The ratio of the two figures in each round. */
export const ratios = (of: readonly number[], to: readonly number[]): number[] =>
  of.map((figure, i) => figure / to[i]!)

/** A table whose first `textColumns` columns are aligned left, the others right. */
export const table = (
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns = 1,
): string[] =>
  markdownTable([heads, ...rows], {
    align: heads.map((_, i) => (i < textColumns ? 'left' : 'right')),
    alignDelimiters: false,
  }).split('\n')
