import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenPageOptions } from '../support/browser.js'
import type { PageHost } from '../support/page-host.js'
import {
  BOLD,
  EMOJI,
  EVENTS,
  expectNoHarm,
  IMAGE,
  type Name,
  openWatched,
  SCRIPT,
  serveHostile,
} from './hostile.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

let host: PageHost
beforeAll(async () => {
  host = await serveHostile()
})
afterAll(() => host.close())

const open = (address?: string, options?: OpenPageOptions): Promise<Page> =>
  openWatched(host, address, options)

const panel = (page: Page) => page.getByRole('complementary', { name: 'Event' })
const tree = (page: Page) => panel(page).getByRole('tree')

async function openEvent(name: Name): Promise<Page> {
  const page = await open(`?range=all#event=${EVENTS[name].id}`)
  await tree(page).waitFor()
  return page
}

const PHONE = { viewport: { width: 390, height: 844 } }

describe('the list', () => {
  it.each([{}, PHONE])('shows markup as text (%o)', async (options) => {
    const page = await open('?range=all', options)
    await rowsOf(page).first().waitFor()
    const row = rowOf(page, EVENTS.system.id)
    const text = await row.textContent()
    for (const part of [IMAGE, BOLD, SCRIPT]) expect(text).toContain(part)
    await expectNoHarm(page)
  })

  it('writes out invisible and bidirectional characters', async () => {
    const page = await open()
    const row = rowOf(page, EVENTS.turned.id)
    await row.waitFor()
    expect(await row.textContent()).toContain('annU+202Etxt.exe')
    expect(await rowOf(page, EVENTS.lines.id).textContent()).toContain(EMOJI)
    await expectNoHarm(page)
  })

  it('links only to paths of its own host', async () => {
    const page = await open()
    await rowsOf(page).first().waitFor()
    const linked = Object.values(EVENTS).map(({ id }) => rowOf(page, id).getByRole('link').count())
    expect((await Promise.all(linked)).map(Boolean)).toEqual(
      Object.keys(EVENTS).map((name) => name === 'markup'),
    )
  })
})

describe('the panel', () => {
  it('shows each event as tree and as JSON, safely', async () => {
    const page = await openEvent('markup')
    for (const [name, { id }] of Object.entries(EVENTS)) {
      // The same page opens the next event.
      await page.goto(`${host.page}?range=all#event=${id}`)
      await expect.poll(() => panel(page).locator('dl').innerText(), WAIT).toContain(id)
      await expectNoHarm(page)
      const links = await panel(page)
        .getByRole('link')
        .evaluateAll((all: readonly { readonly href: string }[]) => all.map(({ href }) => href))
      expect(links).toEqual(name === 'markup' ? [`${host.url}/api/projects/acme`] : [])
      await page.keyboard.press('d')
      const json = panel(page).getByRole('region', { name: 'JSON' })
      await expect.poll(() => json.textContent(), WAIT).toContain(id)
      await expectNoHarm(page)
      const { length } = await page.evaluate<string>('document.body.textContent')
      expect(length).toBeLessThan(500_000)
      await page.keyboard.press('d')
    }
  })

  it('shows markup in each of its parts as text', async () => {
    for (const [name, parts] of [
      ['markup', [IMAGE, SCRIPT, BOLD]],
      ['changes', [IMAGE, SCRIPT, BOLD]],
      ['log', [IMAGE, SCRIPT]],
    ] as const) {
      const page = await openEvent(name)
      const text = await panel(page).textContent()
      for (const part of parts) expect(text).toContain(part)
    }
  })

  it('writes out invisible characters in names and values', async () => {
    const page = await openEvent('turned')
    const text = await tree(page).textContent()
    for (const part of ['annU+202Etxt.exe', 'anU+200BnU+2066x']) expect(text).toContain(part)
  })

  it('shows keys such as constructor like any other', async () => {
    const page = await openEvent('prototype')
    const text = await tree(page).textContent()
    for (const part of ['__proto__', 'constructor', 'polluted', 'toString'])
      expect(text).toContain(part)
    await expectNoHarm(page)
  })

  it('shows many keys in steps', async () => {
    const page = await openEvent('wide')
    const items = tree(page).getByRole('treeitem')
    expect(await items.count()).toBeLessThan(120)
    await items.filter({ hasText: /^Show 100 of/ }).click()
    await expect.poll(() => items.count(), WAIT).toBeGreaterThan(190)
    expect(await tree(page).textContent()).toContain('key_150')
  })

  it('folds a text of a megabyte, and copies it whole', async () => {
    const page = await openEvent('large')
    expect(await tree(page).innerText()).toMatch(/1 MB of text/)
    await page.evaluate(
      `navigator.clipboard.writeText = (text) => (globalThis.copied = text.length, Promise.resolve())`,
    )
    await tree(page).getByRole('button', { name: 'copy' }).first().click()
    await expect.poll(() => page.evaluate('globalThis.copied'), WAIT).toBe(1_000_000)
  })

  it('opens to the deepest value', async () => {
    const page = await openEvent('deep')
    await tree(page).getByRole('treeitem').first().focus()
    // The first Right opens the node, the second moves to its first child.
    for (let n = 0; n < 110; n++) await page.keyboard.press('ArrowRight')
    await expect.poll(() => tree(page).textContent(), WAIT).toContain('bottom')
    await expectNoHarm(page)
  })
})
