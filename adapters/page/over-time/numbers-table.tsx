import { useEffect, useRef } from 'preact/hooks'
import { LEVELS } from '../../../src/event/level.js'
import { areBarsExact } from '../data/matching.js'
import { shortNumber } from '../ui/count-text.js'
import { useEscape } from '../ui/keyboard.js'
import { texts } from '../ui/texts.js'
import { buckets } from './chart-state.js'
import { rangeLabel, widthText } from './bar-labels.js'
import { barRange } from './timeline.js'

/** The numbers of the chart as a table. */
export function NumbersTable({ close }: { close: () => void }) {
  const region = useRef<HTMLDivElement>(null)
  useEscape(true, close)
  useEffect(() => region.current!.focus(), [])
  const levels = LEVELS.filter((level) => buckets.value.some((bar) => bar.levels[level]))
  return (
    <div
      class="numbers"
      role="region"
      tabIndex={0}
      aria-label={texts.chart.tableCaption(widthText())}
      ref={region}
    >
      <table>
        <caption class="visually-hidden">{texts.chart.tableCaption(widthText())}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.chart.time}</th>
            {levels.map((level) => (
              <th key={level} scope="col">
                {level}
              </th>
            ))}
            <th scope="col">{texts.chart.total}</th>
          </tr>
        </thead>
        <tbody>
          {buckets.value.map((bar, i) => (
            <tr key={bar.from}>
              <th scope="row">{rangeLabel(barRange(i, i))}</th>
              {levels.map((level) => (
                <td key={level}>{shortNumber(bar.levels[level] ?? 0, areBarsExact.value)}</td>
              ))}
              <td>{shortNumber(bar.total, areBarsExact.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
