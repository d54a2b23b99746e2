import { changeQuery, query } from '../data/address.js'
import { counts } from '../data/counts.js'
import { shortNumber } from '../ui/count-text.js'
import { choiceOf, includesValue, toggleValue } from '../facets/facet-choice.js'
import { levelRows } from '../facets/facet-rows.js'
import { Mark } from '../ui/icon.js'
import { useRoving } from '../ui/roving.js'
import { texts } from '../ui/texts.js'

/** The levels with their counts. A click toggles the filter on a level. */
export function Legend() {
  const choice = choiceOf(query.value, 'level')
  const roving = useRoving<HTMLDivElement>()
  const isExact = counts.value?.facets['level']?.exact
  return (
    <div class="legend" role="group" aria-label={texts.chart.levels} {...roving}>
      {levelRows(counts.value, choice).map(({ level, count }) => (
        <button
          key={level}
          type="button"
          class={`level-${level}`}
          aria-pressed={includesValue(choice, level)}
          onClick={() => changeQuery((query) => toggleValue(query, 'level', level))}
        >
          <span class="key" />
          <Mark level={level} />
          <span class="word">{level}</span>
          {counts.value && <span class="number">{shortNumber(count, isExact)}</span>}
        </button>
      ))}
    </div>
  )
}
