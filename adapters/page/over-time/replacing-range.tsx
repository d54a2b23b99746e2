import { changeQuery, query } from '../data/address.js'
import { replacingRange } from '../list/range-of-events.js'
import { rangeText } from '../ui/range-text.js'
import { rangeTexts } from './range-texts.js'

const DEFAULT = { last: '24h' } as const

/** Says that the range of all events replaced the default range. */
export function ReplacingRange() {
  const { range } = query.value
  if (!replacingRange.value || JSON.stringify(range) !== JSON.stringify(replacingRange.value))
    return null
  return (
    <p class="notice plain" role="status">
      {rangeTexts.replaced}{' '}
      <button
        type="button"
        class="link"
        onClick={() => changeQuery((query) => ({ ...query, range: DEFAULT }))}
      >
        {rangeText(DEFAULT)}
      </button>
    </p>
  )
}
