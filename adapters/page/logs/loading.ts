import { signal } from '@preact/signals'
import { ApiError, checked, JSON_API } from '../data/api.js'
import { logsPath } from '../data/config.js'

/** Maximum number of logs on one page. The server has the same limit. */
export const MAX_LOGS = 100
const PAGE_SIZE = 50

interface LogsDocument {
  readonly data: readonly { readonly id: string }[]
  readonly links: { readonly next?: string }
}

/** The keys that match the search so far; `undefined` while the first keys are loaded. */
export const keys = signal<readonly string[] | undefined>(undefined)
/** The path of the next keys; `undefined` if there are no more. */
export const next = signal<string | undefined>(undefined)
export const problem = signal<'failed' | 'signIn' | undefined>(undefined)

let current = new AbortController()

async function load(path: string, known: readonly string[]): Promise<void> {
  current.abort()
  current = new AbortController()
  const { signal } = current
  problem.value = undefined
  try {
    const response = await checked(await fetch(path, { headers: { accept: JSON_API }, signal }))
    const { data, links } = (await response.json()) as LogsDocument
    if (signal.aborted) return
    keys.value = [...known, ...data.map(({ id }) => id)]
    next.value = links.next
  } catch (error) {
    if (signal.aborted) return
    problem.value = error instanceof ApiError && error.status === 401 ? 'signIn' : 'failed'
  }
}

/** Loads the first keys that contain the text. */
export function searchLogs(text: string): void {
  const search = text === '' ? '' : `&search=${encodeURIComponent(text)}`
  void load(`${logsPath}?limit=${PAGE_SIZE}${search}`, [])
}

export function loadMore(): void {
  if (next.value !== undefined) void load(next.value, keys.value ?? [])
}
