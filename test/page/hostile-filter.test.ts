import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OpenPageOptions } from '../support/browser.js'
import { EVENTS, expectNoHarm, IMAGE, openWatched, serveHostile } from './hostile.js'
import { shareHost } from './shared-host.js'
import { rowsOf, WAIT } from './shown.js'

const host = shareHost(serveHostile)

const open = (address?: string, options?: OpenPageOptions): Promise<Page> =>
  openWatched(host, address, options)

describe('a filter', () => {
  it('by a hostile value is text in facet, chip, query, builder and export', async () => {
    const page = await open()
    const facets = page.getByRole('complementary', { name: 'Facets' })
    await facets.getByRole('checkbox', { name: `${IMAGE} 1`, exact: true }).click()
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(1)
    expect(await rowsOf(page).first().getAttribute('data-id')).toBe(EVENTS.system.id)
    await expect.poll(() => page.getByRole('search').textContent(), WAIT).toContain(IMAGE)
    await expectNoHarm(page)
    await page.keyboard.press('b')
    const builder = page.getByRole('dialog', { name: 'Filter builder' })
    await builder.waitFor()
    await expect.poll(() => builder.textContent(), WAIT).toContain(IMAGE)
    await expectNoHarm(page)
    while ((await builder.count()) > 0) await page.keyboard.press('Escape')
    await page.keyboard.press('e')
    const sheet = page.getByRole('dialog', { name: 'Export' })
    await expect.poll(() => sheet.textContent(), WAIT).toContain('username_eq')
    await expectNoHarm(page)
    await page.reload()
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(1)
    await expectNoHarm(page)
  })

  it('by a value with hidden characters shows them in facet and chip', async () => {
    const page = await open()
    const facets = page.getByRole('complementary', { name: 'Facets' })
    const value = facets.getByRole('checkbox', { name: 'annU+202Etxt.exe' })
    await value.click()
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(1)
    expect(await rowsOf(page).first().getAttribute('data-id')).toBe(EVENTS.turned.id)
    await expect
      .poll(() => page.getByRole('search').textContent(), WAIT)
      .toContain('annU+202Etxt.exe')
    await expectNoHarm(page)
  })

  it('suggests hostile values as text', async () => {
    const page = await open()
    await rowsOf(page).first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('img')
    const options = page.getByRole('listbox', { name: 'Suggestions' })
    await expect.poll(() => options.textContent(), WAIT).toContain(IMAGE)
    await expectNoHarm(page)
  })

  it('is a facet by any name', async () => {
    const page = await open()
    const facets = page.getByRole('complementary', { name: 'Facets' })
    for (const name of ['__proto__', 'constructor', 'toString', IMAGE]) {
      await facets.getByRole('button', { name: '+ Facet by any attribute' }).click()
      const field = facets.getByRole('combobox', { name: 'Name of an attribute' })
      await field.fill(name)
      await field.press('Enter')
      const { missing, distinct } = (await host.audit.count('', { facets: [name] })).facets[name]!
      if (distinct === 0) {
        await facets.getByText(`None of these events has “${name}”.`).waitFor()
        await facets.getByRole('button', { name: 'Add anyway' }).click()
      }
      const section = facets
        .locator('section')
        .filter({ has: page.locator('code', { hasText: name }) })
      await expect.poll(() => section.textContent(), WAIT).toContain(`not set${missing}`)
      await expectNoHarm(page)
    }
  })

  it.each([
    ['a value', `?range=all&filter[username_eq]=${encodeURIComponent(IMAGE)}`],
    ['a name', `?range=all&filter[${encodeURIComponent(IMAGE)}_eq]=1`],
    ['a predicate', `?range=all&filter[username_${encodeURIComponent(IMAGE)}]=1`],
    ['a range', `?range=${encodeURIComponent(IMAGE)}`],
    ['a birth right', '?range=all&filter[__proto___eq]=1&filter[constructor_eq]=1'],
    ['an event', `?range=all#event=${encodeURIComponent(IMAGE)}`],
    ['a script', `?range=all&filter[username_eq]=javascript:pwned=1#event=javascript:pwned=1`],
  ])('in an address that was sent, with %s', async (_name, address) => {
    const page = await open(address, { tolerates: /404/ })
    await page.getByRole('main').waitFor()
    await expect
      .poll(() => page.evaluate<string>('document.body.innerText'), WAIT)
      .toMatch(/img|javascript|__proto__/)
    await expectNoHarm(page)
  })
})
