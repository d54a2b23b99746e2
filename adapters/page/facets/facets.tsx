import { may } from '../data/account.js'
import { countError, counts } from '../data/counts.js'
import { formatMilliseconds } from '../data/more-formats.js'
import { texts } from '../ui/texts.js'
import { FacetList } from './facet-list.js'
import { LanguageChoice } from './language-choice.js'

/** Shows if all numbers of the counts are exact, and how long counting took. */
function CountSummary() {
  if (!counts.value || countError.value) return null
  const { exact, facets, took_ms } = counts.value
  const figures = [...Object.values(exact), ...Object.values(facets).map((facet) => facet.exact)]
  const text = figures.includes(false) ? texts.facets.part : texts.facets.exact
  return <p class="count-summary">{text(formatMilliseconds(took_ms))}</p>
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
