import { computed, signal } from '@preact/signals'
import { goTo, goToText, search } from '../data/address.js'
import { formatPageQuery, type PageQuery } from '../data/query.js'

/** The query that *Show in list* has replaced, and the query after it. */
interface Step {
  readonly from: string
  readonly to: string
}

const steps = signal<readonly Step[]>([])

/** The query before the shown relation; `undefined` if the list shows no relation. */
export const earlierQuery = computed(
  () => steps.value.findLast(({ to }) => to === search.value)?.from,
)

/** Shows related events in place of the current query, with all its filters and its range. */
export function showRelated(query: PageQuery): void {
  const to = formatPageQuery(query)
  if (to === search.value) return
  steps.value = [...steps.value, { from: search.value, to }]
  goTo(query)
}

/** Returns to the query before. */
export function goBack(): void {
  const from = earlierQuery.value
  if (from === undefined) return
  steps.value = steps.value.slice(
    0,
    steps.value.findLastIndex(({ to }) => to === search.value),
  )
  goToText(from)
}
