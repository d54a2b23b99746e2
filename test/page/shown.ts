import { type AuditLog, type EventQuery, parseQuery } from 'daybook'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/* Helpers that compare the page with the server's data. */

/** Long enough for a busy machine. */
export const WAIT = { timeout: 60_000 } as const

/** The number of rows to compare; a small page shows only a few more. */
const COMPARED = 8

type Held = Pick<AuditLog, 'list' | 'count'>

/** The parameters of an address that the feed also has. Other parameters, such as the range, belong to the page. */
const ofFeed = (query: string): string =>
  query
    .split('&')
    .filter((pair) => /^(?:filter|q|limit)(?:[=[%]|$)/.test(pair))
    .join('&')

/** The filters and sorts of the page's address. */
export const addressed = (page: Page): EventQuery =>
  parseQuery(ofFeed(new URL(page.url()).search.slice(1)))

/** The rows of events. */
export const rowsOf = (page: Page): Locator =>
  page.getByRole('grid').getByRole('row').and(page.locator('[data-id]'))

/** The ids of the events that have rows, from the top. */
export const rowIds = (page: Page): Promise<string[]> =>
  rowsOf(page).evaluateAll((rows: readonly { readonly dataset: { readonly id?: string } }[]) =>
    rows.map((row) => row.dataset.id!),
  )

/** The row of an event. */
export const rowOf = (page: Page, id: string): Locator =>
  rowsOf(page).and(page.locator(`[data-id="${id}"]`))

/** The ids of all matching events, in list order. */
export async function matching(audit: Held, filter: string): Promise<string[]> {
  const query = parseQuery(filter)
  const { events } = await audit.list({ ...query, limit: 1000 })
  const ids = events.map(({ id }) => id)
  return query.sorts.length === 0 ? ids.toReversed() : ids
}

/**
 * Waits until the address has the filters of the given address, and the list shows the matching events in their
 * order. Returns the number of events.
 */
export async function expectShown(page: Page, audit: Held, address: string): Promise<number> {
  const filter = ofFeed(address)
  await expect.poll(() => addressed(page), WAIT).toEqual(parseQuery(filter))
  const [ids, { total }] = await Promise.all([matching(audit, filter), audit.count(filter)])
  const shown = async () => ({
    first: (await rowIds(page)).slice(0, COMPARED),
    // The header is a row too.
    rows: Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1,
  })
  await expect.poll(shown, WAIT).toEqual({ first: ids.slice(0, COMPARED), rows: total })
  return total
}

/** Returns the text that an action copies. Replaces the clipboard, because all pages of the browser share it. */
export async function copied(page: Page, act: () => Promise<void>): Promise<string> {
  await page.evaluate(
    `globalThis.wasCopied = new Promise((resolve) => {
      navigator.clipboard.writeText = (text) => (resolve(text), Promise.resolve())
    }), undefined`,
  )
  await act()
  return page.evaluate<string>('globalThis.wasCopied')
}

/** Pastes into the field like Ctrl+V. */
export async function paste(field: Locator, text: string): Promise<void> {
  const page = field.page()
  await field.focus()
  await page.evaluate(
    `(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', ${JSON.stringify(text)})
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.activeElement.dispatchEvent(event)
    })()`,
  )
}

/** Stops animation frames, as on a machine that is busy for a long time. */
export const stopFrames = (page: Page): Promise<unknown> =>
  page.evaluate('globalThis.requestAnimationFrame = () => 0')
