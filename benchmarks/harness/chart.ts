import { short, times } from './format.js'

/* Bar charts of ratios as SVG, in the colours of light and dark pages. */

export interface Bar {
  readonly label: string
  readonly ratio: number
  readonly spread: readonly [min: number, max: number]
}

const WIDTH = 880
/** Where the bars begin and end; labels are on their left, figures on their right. */
const LEFT = 450
const RIGHT = WIDTH - 90
const ROW = 22
const HEAD = 48
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 14px }
  .axis { fill: #59636e }
  .grid { stroke: #d1d9e0 }
  .even { stroke: #59636e }
  .bar { fill: #2f6fde }
  .slower { fill: #c4432b }
  .spread { stroke: #1f2328 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .axis { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .even { stroke: #9198a1 }
    .spread { stroke: #f0f6fc }
  }`

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)

/**
 * One bar for each ratio on a logarithmic axis. Bars start at 1×: to the right Daybook is faster, to the left
 * slower. A line shows the lowest and the highest round.
 */
export function ratioChart(title: string, bars: readonly Bar[]): string {
  const ends = bars.flatMap(({ spread }) => spread.map(Math.log10))
  const first = Math.floor(Math.min(0, ...ends))
  const last = Math.max(first + 1, Math.ceil(Math.max(...ends)))
  const at = (ratio: number): number =>
    LEFT + ((Math.log10(ratio) - first) / (last - first)) * (RIGHT - LEFT)
  const height = HEAD + bars.length * ROW + 10
  const decades = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i))
  const grid = decades.flatMap((ratio) => {
    const x = short(at(ratio))
    const kind = ratio === 1 ? 'even' : 'grid'
    return [
      `<line class="${kind}" x1="${x}" x2="${x}" y1="${HEAD - 4}" y2="${height - 6}"/>`,
      `<text class="axis" x="${x}" y="${HEAD - 8}" text-anchor="middle">${ratio < 1 ? `${ratio}×` : `${ratio.toLocaleString('en')}×`}</text>`,
    ]
  })
  const rows = bars.flatMap(({ label, ratio, spread: [min, max] }, i) => {
    const y = HEAD + i * ROW
    const [from, to] = [Math.min(1, ratio), Math.max(1, ratio)].map(at) as [number, number]
    return [
      `<text x="${LEFT - 8}" y="${y + 15}" text-anchor="end">${escape(label)}</text>`,
      `<rect class="bar${ratio < 1 ? ' slower' : ''}" x="${short(from)}" y="${y + 4}" width="${short(to - from)}" height="14"/>`,
      `<line class="spread" x1="${short(at(min))}" x2="${short(at(max))}" y1="${y + 11}" y2="${y + 11}"/>`,
      `<text x="${short(Math.max(at(max), to) + 6)}" y="${y + 15}">${times(ratio)}</text>`,
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(title)}">`,
    `<style>${STYLE}`,
    '</style>',
    `<text class="title" x="10" y="18">${escape(title)}</text>`,
    ...grid,
    ...rows,
    '</svg>',
    '',
  ].join('\n')
}
