import { may } from '../data/account.js'
import { counts } from '../data/counts.js'
import { matching } from '../data/matching.js'
import { formatMilliseconds } from '../data/format.js'
import { texts } from '../ui/texts.js'
import { FacetList } from './facet-list.js'
import { LanguageChoice } from './language-choice.js'

/** How many events were counted, and whether these are all. */
function CountSummary() {
  if (!counts.value) return null
  const { exact, took_ms } = counts.value
  const time = formatMilliseconds(took_ms)
  return (
    <p class="count-summary">
      {exact.total
        ? texts.facets.exact(texts.common.events(matching.value!.total), time)
        : texts.facets.part(time)}
    </p>
  )
}

export function Facets() {
  if (!may('count')) return null
  return (
    <aside class="facets" aria-label={texts.facets.region}>
      <FacetList within="column" />
      <CountSummary />
      <LanguageChoice />
    </aside>
  )
}
