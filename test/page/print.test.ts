import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { extractText, getDocumentProxy } from 'unpdf'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { keepPages, openPage } from '../support/browser.js'
import { type PageHost, servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { rowIds, rowsOf, WAIT } from './shown.js'

/* The output of the browser's printer: reports and the list. */

const newest = (): number => Date.now() * 1000 - 2_000_000

/** The text of each page of the printed document, without line breaks. */
async function printed(page: Page): Promise<string[]> {
  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true })
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)))
  return text.map((part) => part.replaceAll(/\s+/g, ' '))
}

const report = (page: Page) => page.getByRole('dialog', { name: 'Report' })

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g

/** The ids in a printed table, in their order. */
const idsIn = (pages: readonly string[]): string[] => pages.join(' ').match(UUID) ?? []

describe('a report', () => {
  const COUNT = 1000
  const visit = keepPages()
  let host: PageHost
  beforeAll(async () => {
    host = await servePage({ events: dayOfEvents(newest()).slice(-COUNT) })
  })
  afterAll(() => host.close())

  const open = (address: string): Promise<Page> =>
    visit(`${host.page}${address}`, { user: 'ann', timezoneId: 'Europe/Berlin' })

  const facts = async (page: Page): Promise<Record<string, string>> => {
    const [terms, texts] = await Promise.all([
      report(page).locator('dt').allInnerTexts(),
      report(page).locator('dd').allInnerTexts(),
    ])
    return Object.fromEntries(terms.map((term, i) => [term, texts[i]!]))
  }

  it('of 1,000 events has less than 40 numbered pages with every id and the digest of the export', async () => {
    const page = await open('?range=all')
    await rowsOf(page).first().waitFor()
    await page.keyboard.press('p')
    await report(page).getByRole('textbox', { name: 'Title of the report' }).fill('Review of March')
    await report(page).getByRole('heading', { name: 'Review of March' }).waitFor()
    const { Check: check, 'SHA-256': digest } = await facts(page)
    const pages = await printed(page)

    const ids: string[] = []
    for await (const events of host.audit.pages('filter[sorts]=created_at'))
      ids.push(...events.map(({ id }) => id))
    expect(ids).toHaveLength(COUNT)
    expect(idsIn(pages)).toEqual(ids)
    expect(pages.length).toBeLessThan(40)
    for (const [at, text] of pages.entries()) expect(text).toContain(`${at + 1} / ${pages.length}`)
    expect(pages[0]).toContain('Review of March')
    expect(pages[0]).toContain('Requested by ann')
    expect(pages[0]).toContain('Time zone Europe/Berlin')
    expect(pages[0]).toContain('1,000 events, oldest first')

    // Later events do not change the output of the command.
    await host.audit.recordCustom('later', {})
    const [, url] = /^curl -g -u ann '(.+)' \| sha256sum$/m.exec(check!)!
    const authorization = `Basic ${btoa('ann:ann')}`
    const response = await fetch(url!, { headers: { authorization } })
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest)
    expect(pages[0]).toContain(digest)
  })

  it('shows the query in words and an address that opens the same events', async () => {
    const filter = 'filter[type_start_any][]=audit:&filter[username_eq]=ann'
    const page = await open(`?range=24h&${filter}`)
    await rowsOf(page).first().waitFor()
    await page.keyboard.press('e')
    const sheet = page.getByRole('dialog', { name: 'Export' })
    await sheet.getByRole('button', { name: 'Report' }).click()
    await report(page).getByRole('table').waitFor()
    const { Address: address, Query: words, 'Time range': range } = await facts(page)
    expect(words).toBe('level is audit and user is ann')
    expect(range).toMatch(/^Last 24 hours: .+ to .+/)
    const ids = idsIn([await report(page).getByRole('table').innerText()])
    expect(ids.length).toBeGreaterThan(3)
    await page.keyboard.press('Escape')
    await report(page).waitFor({ state: 'detached' })
    await host.audit.record('audit:steps:approve', {}, { username: 'ann' })
    await page.goto(address!)
    const shown = async () => ({
      first: (await rowIds(page)).slice(0, 8),
      // The header is a row too.
      rows: Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1,
    })
    const expected = { first: ids.toReversed().slice(0, 8), rows: ids.length }
    await expect.poll(shown, WAIT).toEqual(expected)
  })

  it('says how many events are still open', async () => {
    const live = await host.audit.recordLive('info:template_version:fetch', { progress: '' })
    const page = await open('?range=all&filter[type_eq]=info:template_version:fetch')
    await rowsOf(page).first().waitFor()
    await page.keyboard.press('p')
    await report(page).getByText('1 event is still open and may change').waitFor()
    await live.close()
  })
})

describe('a report of more than 5,000 events', () => {
  it('is refused with their number', async () => {
    const events = [0, 1, 2].flatMap((day) => dayOfEvents(newest() - day * 86_400_000_000))
    const host = await servePage({ events: events.toSorted(byTime) })
    onTestFinished(() => host.close())
    const page = await openPage(`${host.page}?range=all`, { user: 'ann', tolerates: /422/ })
    await rowsOf(page).first().waitFor()
    await page.keyboard.press('p')
    const number = events.length.toLocaleString('en-US')
    await report(page)
      .getByText(`A report has at most 5,000 events, and ${number} match.`)
      .waitFor()
    expect(await report(page).getByRole('button', { name: 'Print' }).isDisabled()).toBe(true)
  })
})

const byTime = (one: { created_at: string }, other: { created_at: string }): number =>
  one.created_at < other.created_at ? -1 : 1

describe('the printed list', () => {
  it('has the loaded rows and the open event, and printing does not change the list', async () => {
    const host = await servePage({ events: dayOfEvents(newest()) })
    onTestFinished(() => host.close())
    const event = await host.audit.record(
      'api:projects:update',
      { name: 'print-me', project_path: '/projects/acme' },
      { username: 'ann' },
    )
    const page = await openPage(`${host.page}?range=all`, { user: 'ann' })
    const total = (await host.audit.count()).total.toLocaleString('en-US')
    await page.getByRole('heading', { level: 1, name: `${total} events` }).waitFor()
    await rowsOf(page).first().click()
    await page.getByRole('complementary', { name: 'Event' }).getByText(event!.id).waitFor()
    const before = await rowIds(page)
    const pages = await printed(page)
    const { events } = await host.audit.list('limit=100')
    const [own, ...ids] = idsIn(pages)
    expect(own).toBe(event!.id)
    expect(ids).toEqual(events.toReversed().map(({ id }) => id))
    expect(pages[0]).toContain('"print-me"')
    // The paper shows no buttons, and no age of the event.
    expect(pages[0]).not.toMatch(/Show since|is not|History|copy|ago/)
    // A portrait page is as narrow as a phone, which always shows some buttons.
    const portrait = await page.pdf({ format: 'A4' })
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(portrait)))
    expect(text[0]).toContain('"print-me"')
    expect(text[0]).not.toMatch(/Show since|is not|History|copy|ago/)
    expect(pages.length).toBeLessThan(8)
    expect(pages.join(' ')).toContain(`100 events loaded, of ${total} events that match`)
    await expect.poll(() => rowIds(page), WAIT).toEqual(before)
  })
})
