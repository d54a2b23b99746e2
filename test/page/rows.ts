import type { AuditLog } from 'daybook'
import type { Page } from 'playwright-core'
import { rowIds } from './shown.js'

/* The rows of the list, and the events of the log in list order. */

export interface ShownRow {
  /** The row number in the list, from 1. */
  readonly row: number
  readonly id: string
}

/** The rendered rows, in list order. */
export const shownRows = (page: Page): Promise<ShownRow[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=row][data-id]')].map((row) => ({
    row: Number(row.getAttribute('aria-rowindex')) - 1,
    id: row.dataset.id,
  }))`)

/** The event ids of the first rows. */
export const firstIds = async (page: Page, count: number): Promise<string[]> =>
  (await rowIds(page)).slice(0, count)

/** The ids of all matching events, newest first. */
export async function newestFirst(
  audit: Pick<AuditLog, 'pages'>,
  query = '',
): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const events of audit.pages(query))
    ids.push(...events.toReversed().map(({ id }) => id))
  return ids
}

/** Scrolls by pages: the last rendered row becomes the first in view. */
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
  /** Event ids by row number. */
  readonly rows: readonly (readonly [row: number, id: string])[]
  /** Row numbers that have shown more than one event. */
  readonly conflicts: readonly number[]
  /** The maximum number of rows rendered at one time. */
  readonly most: number
}

/** The number of frames without a new row after which scrolling ends. */
const PATIENCE = 900

/** Scrolls until `until` rows were seen. Rows that an earlier call has seen count too. */
export const scrollThrough = (
  page: Page,
  until: number,
  seen: Scrolled['rows'] = [],
): Promise<Scrolled> => page.evaluate(`(${SCROLL})(${JSON.stringify([seen, until, PATIENCE])})`)

/** The seen event ids, in list order. */
export const inOrder = ({ rows }: Scrolled): string[] =>
  rows.toSorted(([one], [other]) => one - other).map(([, id]) => id)
