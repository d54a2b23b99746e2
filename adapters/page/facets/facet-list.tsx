import { may } from '../data/account.js'
import { query } from '../data/address.js'
import { areCountsStale, counts, facetNames } from '../data/counts.js'
import { useRoving } from '../ui/roving.js'
import { texts } from '../ui/texts.js'
import { AddFacet } from './add-facet.js'
import { choiceOf } from './facet-choice.js'
import { FacetRow } from './facet-row.js'
import { levelRows } from './facet-rows.js'
import { ValueFacet } from './value-facet.js'

function LevelFacet() {
  const choice = choiceOf(query.value, 'level')
  const rows = levelRows(counts.value, choice)
  const maxCount = Math.max(...rows.map(({ count }) => count))
  const roving = useRoving<HTMLUListElement>('li')
  return (
    <section class="facet">
      <h2>{texts.facets.names.level}</h2>
      <ul {...roving}>
        {rows.map(({ level, count }) => (
          <FacetRow
            key={level}
            facet="level"
            value={level}
            count={counts.value && count}
            maxCount={maxCount}
            choice={choice}
          />
        ))}
      </ul>
    </section>
  )
}

/** All facets, in the column or the drawer. `within` makes element ids unique. */
export function FacetList({ within }: { within: string }) {
  if (!may('count')) return null
  return (
    <div class={areCountsStale.value ? 'facet-list is-stale' : 'facet-list'}>
      <LevelFacet />
      {facetNames.value.map((name) => (
        <ValueFacet key={name} name={name} />
      ))}
      <AddFacet within={within} />
    </div>
  )
}
