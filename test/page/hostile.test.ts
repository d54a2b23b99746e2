import type { AuditEvent } from 'daybook'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OpenPageOptions } from '../support/browser.js'
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
import { servePage } from '../support/page-host.js'
import { shareHost } from './shared-host.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

const host = shareHost(serveHostile)

const open = (address?: string, options?: OpenPageOptions): Promise<Page> =>
  openWatched(host, address, options)

const panel = (page: Page) => page.getByRole('complementary', { name: 'Event' })
const tree = (page: Page) => panel(page).getByRole('tree')

async function openEvent(name: Name): Promise<Page> {
  const page = await open(`?range=all#event=${EVENTS[name].id}`)
  await tree(page).waitFor()
  return page
}

describe('the list', () => {
  it('shows markup as text, on a phone too', async () => {
    const page = await open()
    await rowsOf(page).first().waitFor()
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 })
      const text = await rowOf(page, EVENTS.system.id).textContent()
      for (const part of [IMAGE, BOLD, SCRIPT]) expect(text).toContain(part)
      await expectNoHarm(page)
    }
  })

  it('writes out hidden characters, and links only to paths of its own host', async () => {
    const page = await open()
    await rowsOf(page).first().waitFor()
    await expect
      .poll(() => rowOf(page, EVENTS.turned.id).textContent(), WAIT)
      .toContain('annU+202Etxt.exe')
    await expect.poll(() => rowOf(page, EVENTS.lines.id).textContent(), WAIT).toContain(EMOJI)
    await expectNoHarm(page)
    const linked = Object.values(EVENTS).map(({ id }) => rowOf(page, id).getByRole('link').count())
    expect((await Promise.all(linked)).map(Boolean)).toEqual(
      Object.keys(EVENTS).map((name) => name === 'markup'),
    )
  })
})

/** Markup in the panels of events. */
const MARKUP: Readonly<Partial<Record<Name, readonly string[]>>> = {
  markup: [IMAGE, SCRIPT, BOLD],
  changes: [IMAGE, SCRIPT, BOLD],
  log: [IMAGE, SCRIPT],
}

/** Hidden characters are shown as codes. Keys with special names are shown like other keys. */
const IN_TREE: Readonly<Partial<Record<Name, readonly string[]>>> = {
  turned: ['annU+202Etxt.exe', 'anU+200BnU+2066x'],
  prototype: ['__proto__', 'constructor', 'polluted', 'toString'],
}

describe('text from right to left', () => {
  const HEBREW = 'שלום'
  const rtl = shareHost(() =>
    servePage({
      events: [
        {
          ...EVENTS.lines,
          username: HEBREW,
          source: null,
          attributes: { request_method: 'GET', request_path: `/${HEBREW}`, response_status: 200 },
        },
      ],
    }),
  )

  it('keeps its neighbours where they are', async () => {
    const page = await rtl.visit(`${rtl.page}?range=all#event=${EVENTS.lines.id}`, { user: 'ann' })
    await tree(page).waitFor()
    /** The edges of a text, in the first element with it. */
    const places = await page.evaluate<readonly [number, number, number, number]>(`(() => {
      const [path, status] = [...document.querySelectorAll('.facts dd')]
        .find((fact) => fact.textContent.startsWith('GET')).children
      const related = [...document.querySelectorAll('.related-tabs button')]
        .find((tab) => tab.textContent.includes('${HEBREW}'))
      const [text] = related.childNodes
      const at = (from, to) => {
        const range = document.createRange()
        range.setStart(text, from)
        range.setEnd(text, to)
        return range.getBoundingClientRect().left
      }
      const name = text.data.indexOf('${HEBREW}')
      const five = text.data.indexOf('5')
      return [path.getBoundingClientRect().right, status.getBoundingClientRect().left,
        at(name, name + 1), at(five, five + 1)]
    })()`)
    expect(places[1]).toBeGreaterThanOrEqual(places[0])
    expect(places[3]).toBeGreaterThan(places[2])
    expect(await rowOf(page, EVENTS.lines.id).locator('.who bdi').innerText()).toBe(HEBREW)
  })
})

describe('the panel', () => {
  it('shows each event as tree and as JSON, safely', async () => {
    const page = await openEvent('markup')
    for (const [name, { id }] of Object.entries(EVENTS) as [Name, AuditEvent][]) {
      // The same page opens the next event.
      await page.goto(`${host.page}?range=all#event=${id}`)
      await expect.poll(() => panel(page).locator('dl').innerText(), WAIT).toContain(id)
      await expectNoHarm(page)
      for (const part of MARKUP[name] ?? [])
        expect(await panel(page).textContent(), name).toContain(part)
      for (const part of IN_TREE[name] ?? [])
        expect(await tree(page).textContent(), name).toContain(part)
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
