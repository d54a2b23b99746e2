import { signal } from '@preact/signals'
import { changeQuery, isDefaultStart, query, search } from '../data/address.js'
import { listEvents } from '../data/api.js'
import { ALL_TIME, apiQuery, type PageQuery, type RangeEnds } from '../data/query.js'

/** The range of all events, if it has replaced the default range because that had no events. */
export const replacingRange = signal<RangeEnds | undefined>(undefined)

const SECOND_MS = 1000

const firstTime = async (sorts: PageQuery['sorts']): Promise<string | undefined> => {
  const { events } = await listEvents(apiQuery({ where: [], sorts, range: ALL_TIME }), 1)
  return events[0]?.created_at
}

/** The range from the first event to the newest; `undefined` without events. */
async function rangeOfEvents(): Promise<RangeEnds | undefined> {
  const [first, newest] = await Promise.all([
    firstTime([{ attribute: 'created_at', direction: 'asc' }]),
    firstTime([]),
  ])
  if (first === undefined || newest === undefined) return undefined
  const second = (time: string, more: number): string =>
    `${new Date(Date.parse(time) + more).toISOString().slice(0, 19)}Z`
  return { from: second(first, 0), to: second(newest, SECOND_MS) }
}

let isDone = false

const isDefault = ({ where, range }: PageQuery): boolean =>
  where.length === 0 && 'last' in range && range.last === '24h'

/**
 * Shows all events if the page was opened without a query and the default range has no events, as in an imported log.
 */
export async function leaveEmptyDefault(): Promise<void> {
  if (isDone || !isDefaultStart || !isDefault(query.value)) return
  isDone = true
  const before = search.value
  const range = await rangeOfEvents()
  if (!range || search.value !== before) return
  replacingRange.value = range
  changeQuery((query) => ({ ...query, range }))
}
