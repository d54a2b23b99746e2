import { counts } from '../data/counts.js'
import { formatMilliseconds } from '../data/format.js'
import { texts } from '../ui/texts.js'
import { FacetList } from './facet-list.js'
import { LanguageChoice } from './language-choice.js'

/** How many events were counted, and whether the counts are estimates. */
function CountSummary() {
  if (!counts.value) return null
  const { total, sampled, counted, took_ms } = counts.value
  const time = formatMilliseconds(took_ms)
  const events = texts.common.events(total)
  return (
    <p class="count-summary">
      {sampled
        ? texts.facets.sampled(events, texts.common.number(counted), time)
        : texts.facets.exact(events, time)}
    </p>
  )
}

export function Facets() {
  return (
    <aside class="facets" aria-label={texts.facets.region}>
      <FacetList within="column" />
      <CountSummary />
      <LanguageChoice />
    </aside>
  )
}
