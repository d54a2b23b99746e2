import { computed, signal } from '@preact/signals'
import { fault, query, search } from '../data/address.js'
import { parsePageQuery } from '../data/query.js'
import { builderAt, dialog } from './dialog.js'

/** True while the query line is being edited. */
export const isEditing = signal(false)

const RELATIVE = /(?:^|&)(range=\w+)/

/**
 * The range to show. For an invalid query, its relative range if it has one, else the range of the last valid query.
 */
export const shownRange = computed(() => {
  const [, range] = (fault.value && RELATIVE.exec(search.value)) ?? []
  try {
    return range === undefined ? query.value.range : parsePageQuery(range).range
  } catch {
    return query.value.range
  }
})

/** Opens the builder, focused on one of the query's conjuncts. */
export function openBuilder(at?: number): void {
  builderAt.value = at
  dialog.value = 'builder'
}
