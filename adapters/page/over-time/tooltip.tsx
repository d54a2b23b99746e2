import { LEVELS } from '../../../src/event/level.js'
import { areBarsExact } from '../data/matching.js'
import { shortNumber } from '../ui/count-text.js'
import { Mark } from '../ui/icon.js'
import { highlightedBar, buckets, selection } from './chart-state.js'
import { rangeLabel } from './bar-labels.js'
import { barRange } from './timeline.js'

/** The counts of the bar under the pointer or the arrow keys. Hidden from screen readers, which get an announcement. */
export function Tooltip() {
  const at = highlightedBar.value
  const bar = at === undefined ? undefined : buckets.value[at]
  if (!bar || selection.value) return null
  const place = ((at! + 0.5) / buckets.value.length) * 100
  const style =
    place > 60 ? { right: `calc(${100 - place}% + 20px)` } : { left: `calc(${place}% + 20px)` }
  return (
    <div class="tip" style={style} aria-hidden="true">
      <p class="heading">
        <span>{rangeLabel(barRange(at!, at!))}</span>
        <span class="mono">{shortNumber(bar.total, areBarsExact.value)}</span>
      </p>
      <ul>
        {LEVELS.filter((level) => (bar.levels[level] ?? 0) > 0).map((level) => (
          <li key={level} class={`level-${level}`}>
            <Mark level={level} />
            <span class="number">{shortNumber(bar.levels[level]!, areBarsExact.value)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
