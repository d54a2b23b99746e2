import { Icon } from '../ui/icon.js'
import { isNegativeConjunct } from '../data/phrases.js'
import type { Conjunct } from '../data/query.js'
import { texts } from '../ui/texts.js'

export const chipClass = (conjunct: Conjunct): string =>
  isNegativeConjunct(conjunct) ? 'chip not' : 'chip'

export function RemoveButton(props: { filter: string; remove: () => void; tabIndex?: number }) {
  const { filter, remove, tabIndex } = props
  return (
    <button
      type="button"
      class="chip-x"
      tabIndex={tabIndex}
      aria-label={texts.bar.remove(filter)}
      onClick={remove}
    >
      <Icon name="x" />
    </button>
  )
}
