import type { EventGroups } from '../../../src/store/groups.js'
import { checked, JSON_API } from '../data/api.js'
import { apiPath } from '../data/config.js'

/** Settings of the table of groups. */
export interface Grouped {
  /** One or two attributes. */
  readonly by: readonly string[]
  readonly numbers: readonly string[]
}

/** The number of bars of a sparkline. */
const MAX_BUCKETS = 40
const MAX_GROUPS = 100

/** The query string of a request for groups. `query` is a result of `apiQuery` without sorts. */
export const groupsSearch = (query: string, { by, numbers }: Grouped, zone: string): string =>
  [
    query,
    ...by.map((name) => `by[]=${encodeURIComponent(name)}`),
    ...numbers.map((name) => `numbers[]=${encodeURIComponent(name)}`),
    `buckets=${MAX_BUCKETS}`,
    `zone=${encodeURIComponent(zone)}`,
    `top=${MAX_GROUPS}`,
  ]
    .filter(Boolean)
    .join('&')

/** Requests groups. Throws `ApiError`. */
export async function requestGroups(search: string, signal: AbortSignal): Promise<EventGroups> {
  const response = await checked(
    await fetch(`${apiPath}/groups?${search}`, { headers: { accept: JSON_API }, signal }),
  )
  return ((await response.json()) as { meta: EventGroups }).meta
}
