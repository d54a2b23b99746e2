import { type AuditEvent, type CountOptions, type EventCounts, formatTimestamp } from 'daybook'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { firstIds, newestFirst } from './rows.js'
import { shareHost } from './shared-host.js'
import { WAIT } from './shown.js'

/* Chart, legend and facets over a day in the past, whose counts do not change. */

const END = Math.floor(Date.now() / 1000) * 1_000_000 - 5_000_000
const EVENTS: readonly AuditEvent[] = dayOfEvents(END)
const FROM = formatTimestamp(END - 90_000_000_000)
const TO = formatTimestamp(END)
const DAY = `filter[created_at_gteq]=${FROM}&filter[created_at_lt]=${TO}`
/** The levels from the baseline of the chart up. */
const LEVELS = ['error', 'warn', 'audit', 'info', 'api', 'custom'] as const
const DESK = { width: 1440, height: 900 }

const host = shareHost(() => servePage({ events: EVENTS }))

const open = (query = DAY, options: OpenPageOptions = {}): Promise<Page> =>
  host.visit(`${host.page}?${query}`, { user: 'ann', viewport: DESK, ...options })

/** The filter of the page's address in API form. */
const queryOf = (page: Page): string => decodeURIComponent(new URL(page.url()).search.slice(1))

/** Waits until the address has the range. */
const zoomsTo = (page: Page, from: string, to: string): Promise<void> =>
  expect
    .poll(() => {
      const { searchParams } = new URL(page.url())
      return ['gteq', 'lt'].map((predicate) =>
        Date.parse(searchParams.get(`filter[created_at_${predicate}]`) ?? ''),
      )
    }, WAIT)
    .toEqual([Date.parse(from), Date.parse(to)])

const count = (query: string, options?: CountOptions) => host.audit.count(query, options)

const chart = (page: Page): Locator => page.getByRole('region', { name: 'Events over time' })
const facets = (page: Page): Locator => page.getByRole('complementary', { name: 'Facets' })
const legend = (page: Page): Locator => page.getByRole('group', { name: 'Levels' })
const value = (page: Page, name: string): Locator =>
  facets(page).getByRole('checkbox', { name: new RegExp(`^${name}( |$)`) })

/** The count of a facet value; buttons replace it while the pointer is on it. */
const numberOf = async (page: Page, name: string): Promise<number> =>
  numberIn((await value(page, name).textContent())!)

const numberIn = (text: string): number =>
  Number(/[\d,]+(?=\D*$)/.exec(text)![0].replaceAll(',', ''))

/** Waits until heading and rows belong to this query and are not empty. */
async function expectShown(page: Page, query: string): Promise<void> {
  const { total } = await count(query)
  const heading = chart(page).getByRole('heading', { level: 1 })
  await expect.poll(async () => numberIn(await heading.innerText()), WAIT).toBe(total)
  const ids = await newestFirst(host.audit, query)
  expect(ids).toHaveLength(total)
  await expect.poll(() => firstIds(page, 15), WAIT).toEqual(ids.slice(0, 15))
}

/** The server's buckets for the chart. */
const bucketsOf = async (query: string) =>
  (await count(query, { buckets: { count: 120, zone: 'UTC' } })).buckets!.buckets

describe('the sentence about the counts', () => {
  it.each([
    ['claims to be complete only if all numbers are', true, /^Counted completely in /],
    ['explains lower bounds, even if the total is exact', false, /≥ or “at least” are lower/],
  ])('%s', async (_name, isExact, sentence) => {
    // Opened separately, because the counts of this page are replaced.
    const page = await openPage('about:blank', { user: 'ann', viewport: DESK })
    await page.route('**/counts?*', async (route) => {
      // The service may close an idle connection at the moment of its next use.
      const response = await route.fetch({ maxRetries: 3 })
      const body = (await response.json()) as { meta: EventCounts }
      const username = { ...body.meta.facets['username']!, exact: isExact }
      const facets = { ...body.meta.facets, username }
      await route.fulfill({ response, json: { ...body, meta: { ...body.meta, facets } } })
    })
    await page.goto(`${host.page}?${DAY}`)
    await expect
      .poll(() => page.locator('.count-summary').allInnerTexts(), WAIT)
      .toEqual([expect.stringMatching(sentence)])
    const total = EVENTS.length.toLocaleString('en-US')
    expect(await chart(page).getByRole('heading', { level: 1 }).innerText()).toBe(`${total} events`)
    await value(page, 'ann').waitFor()
    await expect
      .poll(async () => (await facets(page).innerText()).includes('≥'), WAIT)
      .toBe(!isExact)
  })
})

describe('the chart', () => {
  it('shows the numbers of the log', async () => {
    const page = await open()
    const buckets = await bucketsOf(DAY)
    await chart(page).getByRole('button', { name: 'Show the numbers as a table' }).press('Enter')
    const table = chart(page).getByRole('table')
    await table.waitFor()
    const rows = await table.getByRole('row').allInnerTexts()
    const [head, ...bars] = rows.map((text) => text.split('\t'))
    const levels = head!.slice(1, -1)
    expect(bars.map((cells) => cells.slice(1).map(numberIn))).toEqual(
      buckets.map((bucket) => [
        ...levels.map((level) => bucket.levels[level as 'api'] ?? 0),
        bucket.total,
      ]),
    )
    expect(buckets.reduce((sum, { total }) => sum + total, 0)).toBe(EVENTS.length)
  })

  it('draws a bar for each level in each bucket', async () => {
    const page = await open()
    const bars = (await bucketsOf(DAY)).flatMap(({ levels }) => Object.keys(levels))
    await expect.poll(() => chart(page).locator('rect.bar-segment').count(), WAIT).toBe(bars.length)
    const errors = bars.filter((level) => level === 'error').length
    expect(await chart(page).locator('rect.level-error').count()).toBe(errors)
  })

  it('shows the counts of the bar under the pointer', async () => {
    const page = await open()
    const buckets = await bucketsOf(DAY)
    await expectShown(page, DAY)
    const bars = chart(page).getByRole('img')
    const { width } = (await bars.boundingBox())!
    const most = buckets.findIndex(
      ({ total }) => total === Math.max(...buckets.map((b) => b.total)),
    )
    await bars.hover({ position: { x: ((most + 0.5) / buckets.length) * width, y: 30 } })
    const tip = chart(page).locator('.tip')
    await tip.waitFor()
    const levels = await tip.getByRole('listitem', { includeHidden: true }).allInnerTexts()
    const counted = LEVELS.flatMap((level) => buckets[most]!.levels[level] ?? [])
    expect(levels.map(numberIn)).toEqual(counted)
  })

  it('zooms to the dragged range, and back with the browser', async () => {
    const page = await open()
    const buckets = await bucketsOf(DAY)
    await expectShown(page, DAY)
    const { x, y, width, height } = (await chart(page).getByRole('img').boundingBox())!
    const [first, last] = [30, 50]
    const middleOf = (bar: number): number => x + ((bar + 0.5) / buckets.length) * width
    await page.mouse.move(middleOf(first), y + height / 2)
    await page.mouse.down()
    await page.mouse.move(middleOf(last), y + height / 2, { steps: 4 })
    await page.mouse.up()
    await zoomsTo(page, buckets[first]!.from, buckets[last]!.to)
    const between = buckets.slice(first, last + 1).reduce((sum, { total }) => sum + total, 0)
    expect((await count(queryOf(page))).total).toBe(between)
    await expectShown(page, queryOf(page))
    await page.goBack()
    expect(queryOf(page)).toBe(DAY)
    await expectShown(page, DAY)
  })

  it('zooms with the arrow keys and Enter', async () => {
    const page = await open()
    const buckets = await bucketsOf(DAY)
    await expectShown(page, DAY)
    await chart(page)
      .getByRole('group', { name: /^Chart/ })
      .focus()
    await page.keyboard.press('End')
    for (const key of ['ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft'])
      await page.keyboard.press(key)
    await page.keyboard.press('Enter')
    const [begin, end] = [buckets.at(-4)!.from, buckets.at(-2)!.to]
    await zoomsTo(page, begin, end)
    await expectShown(page, queryOf(page))
  })
})

describe('the legend', () => {
  it('filters by the selected levels, and shows all again', async () => {
    const page = await open()
    const level = (name: string): Locator => legend(page).getByRole('button', { name })
    await level('error').click()
    await expect.poll(() => queryOf(page), WAIT).toContain('error:')
    await expectShown(page, `${DAY}&filter[type_start]=error:`)
    await level('warn').click()
    await expectShown(
      page,
      `${DAY}&filter[type_start_any][]=error:&filter[type_start_any][]=warn:&filter[type_start_any][]=warning:`,
    )
    await level('error').click()
    await level('warn').click()
    await expectShown(page, DAY)
  })

  it('counts each level without the filter on levels', async () => {
    const page = await open(`${DAY}&filter[type_start_any][]=error:`)
    await expectShown(page, `${DAY}&filter[type_start]=error:`)
    for (const name of ['api', 'audit', 'error', 'info']) {
      const { total } = await count(`${DAY}&filter[type_start]=${name}:`)
      const shown = async () =>
        numberIn(await legend(page).getByRole('button', { name }).innerText())
      await expect.poll(shown, { ...WAIT, message: name }).toBe(total)
    }
  })
})

describe('facets', () => {
  it("combine values with or and facets with and; counts ignore the facet's own filter", async () => {
    const page = await open()
    await value(page, 'ann').click()
    await expectShown(page, `${DAY}&filter[username_eq]=ann`)
    await value(page, 'bob').click()
    const users = 'filter[username_in][]=ann&filter[username_in][]=bob'
    await expectShown(page, `${DAY}&${users}`)
    await value(page, 'audit').click()
    const audits = 'filter[type_start]=audit:'
    await expectShown(page, `${DAY}&${users}&${audits}`)
    for (const name of ['ann', 'bob', 'audit', 'api']) {
      const isUser = ['ann', 'bob'].includes(name)
      const own = isUser ? `filter[username_eq]=${name}` : `filter[type_start]=${name}:`
      const { total } = await count(`${DAY}&${isUser ? audits : users}&${own}`)
      await expect.poll(() => numberOf(page, name), { ...WAIT, message: name }).toBe(total)
    }
    expect(await value(page, 'ann').getAttribute('aria-checked')).toBe('true')
    await value(page, 'ann').click()
    await value(page, 'audit').click()
    await expectShown(page, `${DAY}&filter[username_eq]=bob`)
  })

  it('select only one value, or exclude one', async () => {
    const page = await open()
    await value(page, 'ann').click()
    // Values move when their counts arrive.
    await expectShown(page, `${DAY}&filter[username_eq]=ann`)
    await value(page, 'mira').hover()
    await facets(page).getByRole('button', { name: 'only mira' }).click()
    await expectShown(page, `${DAY}&filter[username_eq]=mira`)
    await value(page, 'mira').click()
    await value(page, 'mira').hover()
    await facets(page).getByRole('button', { name: 'not mira' }).click()
    await expectShown(page, `${DAY}&filter[username_not_eq]=mira`)
    expect(await value(page, 'mira').getAttribute('aria-checked')).toBe('mixed')
  })

  it('can be added for any attribute', async () => {
    const page = await open()
    await facets(page).getByRole('button', { name: '+ Facet by any attribute' }).click()
    const field = facets(page).getByRole('combobox', { name: 'Name of an attribute' })
    await field.fill('pool')
    await field.press('Enter')
    const { values, missing } = (await count(DAY, { facets: ['pool'] })).facets['pool']!
    await expect
      .poll(() => numberOf(page, 'runners-eu'), WAIT)
      .toBe(values.find((one) => one.value === 'runners-eu')!.count)
    expect(missing).toBeGreaterThan(0)
    await value(page, 'runners-eu').click()
    await expectShown(page, `${DAY}&filter[pool_eq]=runners-eu`)
  })

  it('are not added for a mistyped attribute: the most similar name is offered', async () => {
    const page = await open()
    await facets(page).getByRole('button', { name: '+ Facet by any attribute' }).click()
    const field = facets(page).getByRole('combobox', { name: 'Name of an attribute' })
    await field.fill('polo')
    await field.press('Enter')
    await facets(page).getByText('None of these events has “polo”.').waitFor()
    await facets(page).getByRole('button', { name: 'Use pool' }).click()
    const { values } = (await count(DAY, { facets: ['pool'] })).facets['pool']!
    await expect
      .poll(() => numberOf(page, 'runners-eu'), WAIT)
      .toBe(values.find((one) => one.value === 'runners-eu')!.count)
    expect(await facets(page).getByText('polo').count()).toBe(0)
  })

  it('show all types, and search them', async () => {
    const page = await open()
    const { distinct } = (await count(DAY, { facets: ['type'] })).facets['type']!
    await facets(page)
      .getByRole('button', { name: `All ${distinct} types` })
      .click()
    const types = facets(page).getByRole('checkbox', { name: /^\w+(:\w+)+/ })
    await expect.poll(() => types.count(), WAIT).toBe(distinct)
    await facets(page)
      .getByRole('textbox', { name: /^Find in/ })
      .fill('git_remote:periodic')
    const seen = new Set(
      EVENTS.map(({ type }) => type).filter((type) => type.includes('git_remote:periodic')),
    )
    const found = async () => (await types.allInnerTexts()).filter((text) => numberIn(text) > 0)
    await expect.poll(async () => (await found()).length, WAIT).toBe(seen.size)
  })
})
