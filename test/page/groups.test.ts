import type { EventGroups } from 'daybook'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { watchRequests } from '../http/clients/requests.js'
import { openPage } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { requestEvents } from './requests.js'
import { shareHost } from './shared-host.js'
import { expectShown, rowsOf, WAIT } from './shown.js'

const events = requestEvents(
  Array.from({ length: 90 }, (_, n) => ({
    path: `/api/r${n % 7}`,
    status: n % 10 === 0 ? 500 : 200,
    ms: n,
    username: n % 4 === 0 ? null : 'bob',
  })),
)

const host = shareHost(() => servePage({ events }))

const table = (page: Page) => page.getByRole('table', { name: 'Groups' })

/** The cells of the table without the charts, by row. */
const cellsOf = (page: Page): Promise<string[][]> =>
  table(page)
    .locator('tbody tr')
    .evaluateAll((rows: readonly { readonly children: Iterable<{ textContent: string }> }[]) =>
      rows.map((row) => Array.from(row.children, ({ textContent }) => textContent)),
    )

const open = async (search: string): Promise<Page> => {
  const page = await host.visit(`${host.page}?${search}`, { user: 'ann', tolerates: /stream/ })
  await table(page).waitFor()
  return page
}

describe('the table of groups', () => {
  it('shows the groups that the address names, with counts and percentiles', async () => {
    const page = await open('range=all&groups=request_path,response_status&numbers=duration_ms')
    const { groups } = await host.audit.groups('', {
      by: ['request_path', 'response_status'],
      numbers: ['duration_ms'],
    })
    const expected = groups.map(({ values, count, numbers }) => {
      const { p50, p95, p99 } = numbers['duration_ms']!
      return [...values, count, '', p50.value, p95.value, p99.value].map(String)
    })
    await expect.poll(() => cellsOf(page), WAIT).toEqual(expected)
    await page.getByText(`${groups.length} groups of 90 events.`).first().waitFor()
  })

  it('shows the events of a group after a click on its row, and goes back to the table', async () => {
    const page = await open('range=all&groups=username,response_status')
    const row = table(page)
      .locator('tbody tr')
      .filter({ hasText: 'no value' })
      .filter({ hasText: '500' })
    await row.getByRole('cell').nth(1).click()
    await expectShown(page, host.audit, 'filter[username_null]=1&filter[response_status_eq]=500')
    await page.goBack()
    await table(page).waitFor()
    expect(new URL(page.url()).searchParams.get('groups')).toBe('username,response_status')
  })

  it('groups by the typed attributes, and its button goes back to the list', async () => {
    const page = await openPage(`${host.page}?range=all`, { user: 'ann', tolerates: /stream/ })
    await rowsOf(page).first().waitFor()
    await page.getByRole('button', { name: 'Group', exact: true }).click()
    await table(page).getByText('api:projects:show').waitFor()
    await page.getByRole('combobox', { name: 'Group by' }).fill('level')
    await page.getByRole('combobox', { name: 'and by' }).fill('username')
    await page.keyboard.press('Enter')
    await expect
      .poll(async () => (await cellsOf(page)).map((cells) => cells.slice(0, 3)), WAIT)
      .toEqual(
        [
          ['api', 'bob', String(countOf('api', 'bob'))],
          ['api', 'no value', String(countOf('api', null))],
          ['error', 'bob', String(countOf('error', 'bob'))],
          ['error', 'no value', String(countOf('error', null))],
        ].toSorted((a, b) => Number(b[2]) - Number(a[2])),
      )
    expect(new URL(page.url()).searchParams.get('groups')).toBe('level,username')
    await page.getByRole('button', { name: 'Back to the list' }).click()
    await rowsOf(page).first().waitFor()
    expect(new URL(page.url()).searchParams.has('groups')).toBe(false)
  })

  it('selects events of a level by the level', async () => {
    const page = await open('range=all&groups=level')
    await table(page)
      .getByRole('button', { name: /: error$/ })
      .click()
    await expectShown(page, host.audit, 'filter[type_start_any][]=error:')
  })

  it('describes the bars of a group in words', async () => {
    const page = await open('range=all&groups=response_status')
    const chart = table(page).getByRole('img').first()
    expect(await chart.getAttribute('aria-label')).toMatch(/^Most: \d+ from /)
    const bars = await chart.locator('rect').count()
    expect(bars).toBeGreaterThan(10)
  })

  it('marks estimates, with their errors', async () => {
    const estimated: EventGroups = {
      by: ['type'],
      groups: [
        {
          values: ['api:projects:show'],
          count: 1200,
          exact: false,
          error: 90,
          buckets: undefined,
          numbers: {
            duration_ms: {
              exact: false,
              read: 50,
              p50: { value: 10, low: 8, high: 12 },
              p95: { value: 30, low: 20, high: null },
              p99: { value: 40, low: 30, high: null },
            },
          },
        },
      ],
      distinct: 1,
      total: 2400,
      exact: { total: true, groups: false },
      read: 300,
      buckets: undefined,
      took_ms: 2000,
    }
    const other = await servePage({ events })
    onTestFinished(() => other.close())
    other.audit.groups = async () => estimated
    const page = await openPage(`${other.page}?range=all&groups=type&numbers=duration_ms`, {
      user: 'ann',
    })
    await expect
      .poll(() => cellsOf(page), WAIT)
      .toEqual([['api:projects:show', '≈1,200± 90', '≈108 to 12', '≈3020 to ?', '≈4030 to ?']])
    await page
      .getByText(/At least 1 group of 2,400 events\. 300 events were read\. .*estimates/)
      .first()
      .waitFor()
  })

  it('names the fault of the attributes in the address', async () => {
    const page = await openPage(`${host.page}?range=all&groups=id`, {
      user: 'ann',
      tolerates: /400/,
    })
    await page.getByRole('alert').getByText('by cannot have id').waitFor()
  })

  it('is loaded again after new events', async () => {
    const requests = watchRequests()
    const other = await servePage({ events, inside: [requests.middleware] })
    onTestFinished(() => other.close())
    const follows = requests.next('/stream')
    const page = await openPage(`${other.page}?range=all&groups=type`, { user: 'ann' })
    await table(page).waitFor()
    // Once the page follows the log, it counts again after new events.
    await follows
    await other.audit.recordCustom('new:type', {})
    await table(page).getByText('new:type').waitFor()
  })
})

function countOf(level: string, username: string | null): number {
  return events.filter((event) => event.type.startsWith(`${level}:`) && event.username === username)
    .length
}
