import type { Page } from 'playwright-core'
import type { EventCounts } from 'daybook'

/* Reads the numbers that the page shows. */

/** The texts of a row of a facet. */
export interface ShownValue {
  readonly facet: string
  /** The value as the page writes it. */
  readonly text: string
  readonly isMissing: boolean
  readonly number: string
}

const HANGS_AFTER_MS = 60_000

/** Waits for something that will certainly appear, even on a busy machine. */
async function until<Found>(page: Page, find: () => Promise<Found | undefined>): Promise<Found> {
  const end = Date.now() + HANGS_AFTER_MS
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`waited in vain at ${page.url()}`)
    await page.waitForTimeout(20)
  }
}

/** Resolves when the page has drawn what it has received. */
const twoFrames = (page: Page): Promise<unknown> =>
  page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
  )

const text = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().innerText()).trim()

/** Opens the query, and resolves to the counts of the chart once the page shows them. */
export async function openCounted(page: Page, url: string): Promise<EventCounts> {
  // Opens an empty page in between, so that the previous answer is not read again.
  await page.goto('about:blank')
  const isOfChart = (address: string): boolean =>
    address.includes('/counts?') && address.includes('buckets=120')
  let counts: EventCounts | undefined
  // An answer that the page no longer waits for has no body.
  const answered = page.waitForResponse(
    async (response) => {
      if (!isOfChart(response.url())) return false
      const body = await response.json().catch(() => undefined)
      counts = (body as { readonly meta: EventCounts } | undefined)?.meta
      return counts !== undefined
    },
    { timeout: HANGS_AFTER_MS },
  )
  await page.goto(url)
  await answered
  await page.locator('.legend button').first().waitFor({ timeout: HANGS_AFTER_MS })
  await page.locator('.count-summary').waitFor({ timeout: HANGS_AFTER_MS })
  await page
    .locator('[role=grid][aria-busy=false]')
    .or(page.locator('.relaxed-queries'))
    .first()
    .waitFor({ timeout: HANGS_AFTER_MS })
  return counts!
}

export const headline = (page: Page): Promise<string> => text(page, '.over-time h1')

/** The numbers of the bars by level, and of each bar; opens and closes the table. */
export async function bars(
  page: Page,
): Promise<readonly { readonly levels: Readonly<Record<string, string>>; total: string }[]> {
  const button = page.locator('.as-table')
  if ((await button.count()) === 0) return []
  await button.press('Enter')
  await page.locator('.numbers table').waitFor()
  const cells = await page.evaluate<string[][]>(
    `[...document.querySelectorAll('.numbers tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
  )
  await button.press('Enter')
  const [head, ...rows] = cells
  const names = head!.slice(1, -1)
  return rows.map((row) => ({
    levels: Object.fromEntries(names.map((name, i) => [name, row[i + 1]!])),
    total: row.at(-1)!,
  }))
}

export const legend = (page: Page): Promise<readonly (readonly [string, string])[]> =>
  page.evaluate(
    `[...document.querySelectorAll('.legend button')].map((button) =>
      [button.querySelector('.word').textContent, button.querySelector('.number')?.textContent ?? ''])`,
  )

/** The values of all facets in the column. */
export const facetValues = (page: Page): Promise<readonly ShownValue[]> =>
  page.evaluate(
    `[...document.querySelectorAll('aside.facets .facet')].flatMap((facet) =>
      [...facet.querySelectorAll('.value-row')].map((row) => {
        const heading = facet.querySelector('h2')
        const name = row.querySelector('.name').textContent
        return {
          facet: heading.querySelector('code')?.textContent ?? heading.textContent.trim().toLowerCase(),
          text: name,
          isMissing: /^(not set|no user)/.test(name),
          number: row.querySelector('.number')?.textContent ?? '',
        }
      }))`,
  )

/** Searches the types, waits until all are counted, and returns the found types. */
export async function searchTypes(page: Page, part: string): Promise<readonly ShownValue[]> {
  const counted = page.waitForResponse(
    (response) => response.url().includes('top=1000') && response.ok(),
    { timeout: HANGS_AFTER_MS },
  )
  const field = page.locator('aside.facets .facet-find').first()
  await field.fill(part)
  await counted
  await twoFrames(page)
  const found = (await facetValues(page)).filter(({ facet }) => facet === 'type')
  await field.press('Escape')
  return found
}

export interface Offer {
  readonly number: string
  readonly take: () => Promise<void>
}

/** The suggestions of the query bar that have a number of events. The builder has loaded their values. */
export async function offers(page: Page, typed: string): Promise<readonly Offer[]> {
  const field = page.getByRole('search').getByRole('combobox')
  await field.focus()
  await field.fill(typed)
  const options = page.locator('.suggestions [role=option]')
  await until(page, async () => ((await options.count()) > 0 ? true : undefined))
  const found: Offer[] = []
  for (const option of await options.all()) {
    const number = (await option.locator('code').innerText()).trim()
    if (/^(at least |≥)?\d/.test(number)) found.push({ number, take: () => option.click() })
  }
  return found
}

/** The heading of the export. */
export async function exportHeading(page: Page): Promise<string> {
  await page.locator('[role=grid], .relaxed-queries').first().waitFor()
  // A key of the page works outside of fields.
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('e')
  const heading = page.locator('dialog.export h2')
  await heading.waitFor()
  const found = await heading.innerText()
  await page.keyboard.press('Escape')
  return found
}

/** The number on the button of the builder; empty if it has none. */
export async function builderNumber(page: Page): Promise<string> {
  const answer = (isWanted: (url: string) => boolean) =>
    page.waitForResponse((response) => isWanted(response.url()), { timeout: HANGS_AFTER_MS })
  const counted = answer((url) => url.includes('/counts?') && url.endsWith('buckets=0'))
  const offered = answer((url) => url.includes('attributes=true'))
  await page.keyboard.press('b')
  const button = page.locator('dialog.builder .btn.main')
  await button.waitFor()
  await Promise.all([counted, offered])
  await twoFrames(page)
  const found = await button.evaluate((element) => element.firstChild?.textContent ?? '')
  await page.locator('dialog.builder .actions .btn:not(.main)').click()
  return found
}

/**
 * The numbers that the relaxed queries would find. Resolves once all are counted. Must be called before the page
 * opens the query.
 */
export function relaxedNumbers(page: Page): (count: number) => Promise<readonly string[]> {
  let answers = 0
  page.on('response', (response) => {
    if (response.url().includes('buckets=0&') || response.url().endsWith('buckets=0')) answers += 1
  })
  return async (count) => {
    // All events are counted too.
    await until(page, async () => (answers > count ? true : undefined))
    await twoFrames(page)
    return page.locator('.relaxed-queries li .number').allInnerTexts()
  }
}
