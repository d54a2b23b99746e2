import { computed, signal } from '@preact/signals'
import { account } from '../data/account.js'
import { fault, query, search } from '../data/address.js'
import { apiPath } from '../data/config.js'
import { apiQuery, parsePageQuery } from '../data/query.js'
import { builderAt, dialog } from './dialog.js'
import { copyText } from './notes.js'
import { curlLine } from '../data/curl-command.js'

/** Whether the query's line is a field at the moment. */
export const isEditing = signal(false)

const RELATIVE = /(?:^|&)(range=\w+)/

/** The range; of a query that cannot be read as a whole a relative one, else that of the one before. */
export const shownRange = computed(() => {
  const [, range] = (fault.value && RELATIVE.exec(search.value)) ?? []
  try {
    return range === undefined ? query.value.range : parsePageQuery(range).range
  } catch {
    return query.value.range
  }
})

/** Copies the address of the page, the open event included. */
export const copyAddress = (): Promise<void> => copyText(location.href)

/** Copies the call with times as they are now; nothing is copied of a query that cannot be read. */
export async function copyCurl(): Promise<void> {
  if (fault.value) return
  const filter = apiQuery(query.value).replaceAll(/%(?:3A|2F|2C|40)/g, decodeURIComponent)
  const url = [location.origin + apiPath, filter].filter(Boolean).join('?')
  await copyText(curlLine(account.value?.username, url))
}

/** Opens the builder, at one of the query's conjuncts. */
export function openBuilder(at?: number): void {
  builderAt.value = at
  dialog.value = 'builder'
}
