import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { shareHost } from './shared-host.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

/* No part may cover, cut or move another part. */

const host = shareHost()

const open = async (address: string, width: number): Promise<Page> => {
  const page = await host.visit(`${host.page}${address}`, {
    user: 'ann',
    viewport: { width, height: 900 },
    tolerates: /stream/,
  })
  await rowsOf(page).first().waitFor()
  return page
}

const box = async (part: Locator) => (await part.boundingBox())!

const chart = (page: Page): Locator => page.getByRole('region', { name: 'Events over time' })

describe('the chart', () => {
  it('has the number of its scale beside the bars', async () => {
    const page = await open('', 1440)
    await chart(page).locator('.bar-segment').first().waitFor()
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const [bars, label, region] = [
        await box(chart(page).getByRole('img')),
        await box(chart(page).locator('.ymax')),
        await box(chart(page)),
      ]
      expect(label.x).toBeGreaterThanOrEqual(bars.x + bars.width)
      expect(label.x + label.width).toBeLessThanOrEqual(region.x + region.width)
    }
  })

  it('keeps the words of its legend beside an open event', async () => {
    const page = await open('', 1440)
    await rowsOf(page).first().click()
    await page.getByRole('complementary', { name: 'Event' }).waitFor()
    const legend = chart(page).getByRole('group', { name: 'Levels' })
    for (const width of [1440, 1366, 1280, 1101, 1000]) {
      await page.setViewportSize({ width, height: 900 })
      const words = await legend
        .locator('.word')
        .evaluateAll((all) =>
          all.map((word) => [word.textContent, word.getBoundingClientRect().width > 0]),
        )
      expect(words, String(width)).toEqual(
        ['error', 'warn', 'audit', 'info', 'api', 'custom'].map((word) => [word, true]),
      )
      const [inner, outer] = [await box(legend), await box(chart(page))]
      expect(inner.x + inner.width, String(width)).toBeLessThanOrEqual(outer.x + outer.width)
    }
  })
})

describe('the filter bar', () => {
  it.each([390, 1440])('shows the whole value of each filter at %d pixels', async (width) => {
    const word = 'w'.repeat(120)
    const filters = ['response_status_gteq=500', `name_not_cont=${word}`, `${word}_eq=12345`]
    const query = filters.map((filter) => `filter[${filter.replace('=', ']=')}`).join('&')
    const page = await host.visit(`${host.page}?range=24h&${query}`, {
      user: 'ann',
      viewport: { width, height: 900 },
    })
    await page.locator('.chip').nth(2).waitFor()
    /** The values that are cut by their chip, or by the list of chips. */
    const cut = await page.evaluate(`(() => {
      const list = document.querySelector('[aria-label=Filters]').getBoundingClientRect()
      return [...document.querySelectorAll('[aria-label=Filters] .chip b')].filter((value) => {
        const chip = value.closest('.chip-body').getBoundingClientRect()
        const range = document.createRange()
        range.selectNodeContents(value)
        return [...range.getClientRects()].some(
          ({ left, right }) => right > Math.min(chip.right, list.right) + 1 || left < list.left)
      }).map((value) => value.textContent)
    })()`)
    expect(cut).toEqual([])
  })

  it('has no line without chips, at any width', async () => {
    const filters = [
      'filter[type_start_any][]=api:',
      'filter[username_not_eq]=bob',
      'filter[system_true]=1',
      'filter[id_not_null]=1',
      'filter[created_at_not_null]=1',
    ]
    const page = await open(`?range=24h&${filters.join('&')}`, 1440)
    const chips = page.getByRole('list', { name: 'Filters' }).locator('.chip')
    await expect.poll(() => chips.count(), WAIT).toBe(filters.length)
    /** The tops of the field and of the last chip, and the width of the field. */
    const places = (): Promise<readonly [number, number, number]> =>
      page.evaluate(`(() => {
        const field = document.querySelector('search [role=combobox]').getBoundingClientRect()
        const chip = [...document.querySelectorAll('[aria-label=Filters] .chip')].at(-1)
        return [field.top, chip.getBoundingClientRect().top, field.width]
      })()`)
    const lines = new Set<number>()
    for (let width = 1440; width >= 1110; width -= 6) {
      await page.setViewportSize({ width, height: 900 })
      const [y, chip, room] = await places()
      expect(y, String(width)).toBe(chip)
      expect(room, String(width)).toBeGreaterThan(20)
      lines.add(y)
    }
    // At some of these widths the chips have two lines.
    expect(lines.size).toBeGreaterThan(1)
  })
})

describe('a row', () => {
  it('has its buttons beside the name under the pointer', async () => {
    const page = await open('?range=24h', 1440)
    for (const column of ['.who', '.type']) {
      const cell = page.locator(`.row ${column}`).nth(2)
      await cell.hover()
      const buttons = cell.locator('.quick')
      await buttons.waitFor()
      const [name, place] = [await box(cell.locator('bdi').first()), await box(buttons)]
      expect(place.x, column).toBeGreaterThanOrEqual(name.x + name.width)
    }
  })

  it('shows the reason of an error after a long route', async () => {
    const event = await host.audit.recordSystem(
      'error:api:controller:unhandled',
      {
        request_method: 'PATCH',
        request_path: '/api/projects/acme/environments/production/assets/web-frontend',
        url_params: { project: 'acme', environment: 'production', asset: 'web-frontend' },
        error: 'connection to the database was reset while the asset was written',
      },
      { username: 'ann' },
    )
    const page = await open('', 1440)
    const row = rowOf(page, event!.id)
    await row.click()
    await page.getByRole('complementary', { name: 'Event' }).waitFor()
    const cell = await box(row.locator('.what'))
    const reason = row.locator('.why')
    await expect.poll(async () => (await box(reason)).width, WAIT).toBeGreaterThan(120)
    const { x, width } = await box(reason)
    expect(x + width).toBeLessThanOrEqual(cell.x + cell.width + 1)
    expect(await row.innerText()).toContain('/environments/:environment/')
  })
})
