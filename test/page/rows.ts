import type { AuditLog } from 'daybook'
import type { Page } from 'playwright-core'
import { rowIds } from './shown.js'

/* What the list shows, and what the log holds of it. */

export interface ShownRow {
  /** Its place in the list, the first being 1. */
  readonly row: number
  readonly id: string
}

/** The rows that have an element, in the order of the list. */
export const shownRows = (page: Page): Promise<ShownRow[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=row][data-id]')].map((row) => ({
    row: Number(row.getAttribute('aria-rowindex')) - 1,
    id: row.dataset.id,
  }))`)

/** The events of the first rows. */
export const firstIds = async (page: Page, count: number): Promise<string[]> =>
  (await rowIds(page)).slice(0, count)

/** All that match, newest first: as the list shows them. */
export async function newestFirst(
  audit: Pick<AuditLog, 'pages'>,
  query = '',
): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const events of audit.pages(query))
    ids.push(...events.toReversed().map(({ id }) => id))
  return ids
}

/** As a reader of whole pages does: the last row with an element becomes the first in view. */
const SCROLL = `async ([seen, until, patience]) => {
  const frame = () => new Promise(requestAnimationFrame)
  const rows = new Map(seen)
  const conflicts = []
  let [most, idle] = [0, 0]
  while (rows.size < until && idle < patience) {
    const elements = [...document.querySelectorAll('[role=row][data-id]')]
    const before = rows.size
    for (const element of elements) {
      const row = Number(element.getAttribute('aria-rowindex')) - 1
      const { id } = element.dataset
      if (rows.has(row) && rows.get(row) !== id) conflicts.push(row)
      rows.set(row, id)
    }
    idle = rows.size === before ? idle + 1 : 0
    most = Math.max(most, elements.length)
    if (idle === 0) elements.at(-1).scrollIntoView({ block: 'start' })
    await frame()
  }
  return { rows: [...rows], conflicts, most }
}`

export interface Scrolled {
  /** Events by their place in the list. */
  readonly rows: readonly (readonly [row: number, id: string])[]
  /** Places that have shown more than one event. */
  readonly conflicts: readonly number[]
  /** The most rows that had an element at one time. */
  readonly most: number
}

/** Frames without a new row after which there are no more. */
const PATIENCE = 900

/** Scrolls on until `until` rows were seen, those of an earlier call among them. */
export const scrollThrough = (
  page: Page,
  until: number,
  seen: Scrolled['rows'] = [],
): Promise<Scrolled> => page.evaluate(`(${SCROLL})(${JSON.stringify([seen, until, PATIENCE])})`)

/** The events that were seen, in the order of their places. */
export const inOrder = ({ rows }: Scrolled): string[] =>
  rows.toSorted(([one], [other]) => one - other).map(([, id]) => id)
