import { computed } from '@preact/signals'
import { areCountsStale, counts, listed } from './counts.js'
import { search } from './address.js'

/** The number of matching events: the exact number, or a lower bound. `undefined` until counted. */
export const matching = computed((): { total: number; exact: boolean } | undefined => {
  const { total, exact } = counts.value ?? {}
  const found = exact && { total: total!, exact: exact.total }
  if (!found || found.exact || areCountsStale.value || listed.value.search !== search.value)
    return found
  return listed.value.exact || listed.value.total > found.total ? listed.value : found
})

/** True if each number of the chart is exact. */
export const areBarsExact = computed(() => counts.value?.exact.buckets)
