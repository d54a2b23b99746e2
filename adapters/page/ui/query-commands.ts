import { computed, signal } from '@preact/signals'
import { account } from '../data/account.js'
import { fault, query, search } from '../data/address.js'
import { apiPath } from '../data/config.js'
import { apiQuery, parsePageQuery } from '../data/query.js'
import { builderAt, dialog } from './dialog.js'
import { copyText } from './notes.js'

/** Whether the query line is being edited. */
export const isEditing = signal(false)

const RELATIVE = /(?:^|&)(range=\w+)/

/** The range to show. For an invalid query: its relative range if it has one, else that of the last valid query. */
export const shownRange = computed(() => {
  const [, range] = (fault.value && RELATIVE.exec(search.value)) ?? []
  try {
    return range === undefined ? query.value.range : parsePageQuery(range).range
  } catch {
    return query.value.range
  }
})

/** Copies the address of the page, including the open event. */
export const copyAddress = (): Promise<void> => copyText(location.href)

/** Copies the API call as a curl command with absolute times. Does nothing for an invalid query. */
export async function copyCurl(): Promise<void> {
  if (fault.value) return
  const { curlLine } = await import('../data/curl-command.js')
  const filter = apiQuery(query.value).replaceAll(/%(?:3A|2F|2C|40)/g, decodeURIComponent)
  const url = [location.origin + apiPath, filter].filter(Boolean).join('?')
  await copyText(curlLine(account.value?.username, url))
}

/** Opens the builder, focused on one of the query's conjuncts. */
export function openBuilder(at?: number): void {
  builderAt.value = at
  dialog.value = 'builder'
}
