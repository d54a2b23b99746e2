import { effect, signal } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'
import { ApiError, eventOf, type EventResource, listEvents, streamUrl } from '../data/api.js'
import { ALL_TIME, apiQuery, conditionOn, formatPageQuery, type PageQuery } from '../data/query.js'
import { streamOrPoll } from '../data/stream-place.js'
import { isVisible } from '../data/visibility.js'

/* The events of one resource, newest first. */

const PAGE_SIZE = 25

/** The resource that the frame shows, a path. */
export const resource = new URLSearchParams(location.search).get('resource') ?? ''

/** The events from the newest one; `undefined` until they are loaded. */
export const events = signal<readonly AuditEvent[] | undefined>(undefined)

/** True if older events exist. */
export const hasOlder = signal(false)

export const problem = signal<'failed' | 'denied' | 'signIn' | undefined>(undefined)

const PROBLEMS: Readonly<Record<number, 'denied' | 'signIn'>> = { 401: 'signIn', 403: 'denied' }

const queryOf = (before?: string): PageQuery => ({
  where: [
    conditionOn('source', 'eq', [resource]),
    ...(before === undefined ? [] : [conditionOn('created_at', 'lt', [before])]),
  ],
  sorts: [],
  range: ALL_TIME,
})

/** The address of the page with these events in its list. */
export const pageAddress = (): string => `${location.pathname}?${formatPageQuery(queryOf())}`

async function load(before?: string): Promise<void> {
  problem.value = undefined
  try {
    const page = await listEvents(apiQuery(queryOf(before)), PAGE_SIZE)
    const known = before === undefined ? [] : (events.value ?? [])
    events.value = [...known, ...page.events.toReversed()]
    hasOlder.value = page.truncated
  } catch (error) {
    problem.value = (error instanceof ApiError && PROBLEMS[error.status]) || 'failed'
  }
}

export const loadOlder = (): Promise<void> => load(events.value?.at(-1)?.created_at)

function add(event: AuditEvent): void {
  const known = events.value ?? []
  if (!known.some(({ id }) => id === event.id)) events.value = [event, ...known]
}

const newest = (): string => events.peek()?.[0]?.created_at ?? new Date(0).toISOString()

/** Adds new events as they are recorded. The browser reconnects by itself. */
function stream(): () => void {
  const source = new EventSource(streamUrl(apiQuery(queryOf()), newest()))
  source.addEventListener('message', ({ data }: MessageEvent<string>) =>
    add(eventOf((JSON.parse(data) as { data: EventResource }).data)),
  )
  return () => source.close()
}

const MAX_NEW = 1000
const POLL_MS = 5000

/** Polls for new events. */
function poll(): () => void {
  const read = async (): Promise<void> => {
    const { where } = queryOf()
    const since = [...where, conditionOn('created_at', 'gt', [newest()])]
    const page = await listEvents(apiQuery({ ...queryOf(), where: since }), MAX_NEW)
    if (page.truncated) await load()
    else page.events.forEach(add)
  }
  // The next attempt may succeed.
  const attempt = (): void => void read().catch(() => undefined)
  const timer = setInterval(attempt, POLL_MS)
  attempt()
  return () => clearInterval(timer)
}

/** Loads the newest events, and adds events that are recorded afterwards. */
export async function followResource(): Promise<void> {
  await load()
  if (!events.value) return
  effect(() => (isVisible.value ? streamOrPoll(stream, poll) : undefined))
}
