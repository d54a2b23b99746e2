import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type OpenPage, openPage } from '../support/browser.js'
import { firstIds, newestFirst } from './rows.js'
import { shareHost } from './shared-host.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

const host = shareHost()

async function open(address = '', from: OpenPage = openPage): Promise<Page> {
  const page = await from(`${host.page}${address}`, {
    user: 'ann',
    viewport: { width: 1440, height: 900 },
  })
  await rowsOf(page).first().waitFor()
  await page
    .getByRole('complementary', { name: 'Facets' })
    .getByRole('checkbox', { name: /ann/ })
    .waitFor()
  return page
}

const panel = (page: Page) => page.getByRole('complementary', { name: 'Event' })

/** The event id of the focused row. */
const focusedId = (page: Page): Promise<string | null> =>
  page.evaluate(`document.activeElement.closest('[data-id]')?.dataset.id ?? null`)

const IN_PANEL = `document.activeElement.matches('aside h2')`

/** The landmark of the focused element, and true if the element or its frame shows the focus. */
const FOCUS = `(() => {
  const { activeElement } = document
  const landmark = activeElement.closest(
    'aside, section[aria-label], [role=region], [role=grid], header',
  )
  const isMarked = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
  }
  return {
    landmark: landmark?.getAttribute('aria-label') ?? landmark?.localName ?? activeElement.localName,
    text: activeElement.textContent,
    isSeen: isMarked(activeElement) || isMarked(activeElement.closest('.query') ?? activeElement),
  }
})()`

interface Focus {
  readonly landmark: string
  readonly text: string
  readonly isSeen: boolean
}

/** Maximum number of tab stops before the list. It would be 89 if each value of a facet were a stop. */
const MAX_STOPS = 36

describe('the Tab key', () => {
  it('goes from the skip link through bar, query, facets and chart to the list, then to the event', async () => {
    const page = await open()
    await page.getByRole('group', { name: /^Chart/ }).waitFor()
    const stops: Focus[] = []
    const walk = async (to: string): Promise<void> => {
      for (let n = 0; n < 250 && stops.at(-1)?.landmark !== to; n++) {
        await page.keyboard.press('Tab')
        stops.push(await page.evaluate<Focus>(FOCUS))
      }
    }
    await walk('Events, newest first')
    await page.keyboard.press('Enter')
    await panel(page).getByRole('heading', { name: 'Attributes' }).waitFor()
    await expect.poll(() => page.evaluate(IN_PANEL), WAIT).toBe(true)
    await walk('Event detail')
    const landmarks = stops.map(({ landmark }) => landmark)
    expect(landmarks.filter((name, i) => name !== landmarks[i - 1])).toEqual([
      'a',
      'header',
      'API query',
      'Facets',
      'Events over time',
      'Events, newest first',
      'Event detail',
    ])
    expect(stops[0]!.text).toBe('Skip to the events')
    // Each facet is one stop, plus one for its search field or its other values.
    const before = landmarks.indexOf('Events, newest first')
    expect(before).toBeLessThanOrEqual(MAX_STOPS)
    expect(landmarks.filter((name) => name === 'Events, newest first')).toHaveLength(1)
    expect(stops.filter(({ isSeen }) => !isSeen)).toEqual([])
  })

  it('skips to the list', async () => {
    const page = await open()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const inList = `document.activeElement.closest('#events') !== null`
    await expect.poll(() => page.evaluate(inList), WAIT).toBe(true)
    await page.keyboard.press('j')
    await expect.poll(() => focusedId(page), WAIT).not.toBeNull()
  })
})

/** The name of the element in focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.title')

describe('the arrow keys in a facet', () => {
  it('move between values and their actions, and Tab returns to the same value', async () => {
    const page = await open('', host.visit)
    const facet = page
      .getByRole('complementary', { name: 'Facets' })
      .locator('section')
      .filter({ has: page.getByRole('checkbox', { name: /ann/ }) })
    const values = facet.getByRole('checkbox')
    const [first, second] = await Promise.all(
      [0, 1].map(async (n) => (await values.nth(n).getAttribute('title'))!),
    )
    await values.first().focus()
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe(second)
    await page.keyboard.press('ArrowRight')
    expect(await focused(page)).toBe(`only ${second}`)
    await page.keyboard.press('Home')
    expect(await focused(page)).toBe(first)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe(second)
    await page.keyboard.press('Space')
    await expect.poll(() => new URL(page.url()).search, WAIT).toContain('username')
    expect(await focused(page)).toBe(second)
  })
})

describe('the menu of commands', () => {
  it('has every command without another control, and returns the focus', async () => {
    const page = await open('', host.visit)
    const more = page.getByRole('button', { name: 'More commands' })
    await more.focus()
    await page.keyboard.press('Enter')
    const menu = page.getByRole('dialog', { name: 'Commands' })
    await menu.waitFor()
    const names = await menu.getByRole('button').allTextContents()
    expect(names.map((name) => name.replace(/[bpycul?]$/, ''))).toEqual([
      'Filter builder',
      'Report',
      'Copy link',
      'Copy as curl',
      'Time zone: UTC',
      'Pause live',
      'Light or dark colours',
      'Keyboard shortcuts',
    ])
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page), WAIT).toBe('More commands')
    await page.keyboard.press('Enter')
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  })
})

describe('the keyboard', () => {
  it('moves through the list, opens an event, goes to the next, and returns to its row', async () => {
    const page = await open()
    const ids = await newestFirst(host.audit)
    for (const n of [0, 1, 2]) {
      await page.keyboard.press('j')
      await expect.poll(() => focusedId(page), WAIT).toBe(ids[n])
    }
    await page.keyboard.press('k')
    await expect.poll(() => focusedId(page), WAIT).toBe(ids[1])
    await page.keyboard.press('Enter')
    await panel(page).waitFor()
    await expect.poll(() => page.evaluate(IN_PANEL), WAIT).toBe(true)
    const shownId = async () => decodeURIComponent(new URL(page.url()).hash.slice('#event='.length))
    expect(await shownId()).toBe(ids[1])
    for (const n of [2, 3]) {
      await page.keyboard.press('j')
      await expect.poll(shownId, WAIT).toBe(ids[n])
      await expect.poll(() => panel(page).innerText(), WAIT).toContain(ids[n]!)
    }
    await page.keyboard.press('k')
    await expect.poll(() => panel(page).innerText(), WAIT).toContain(ids[2]!)
    expect(await rowOf(page, ids[2]!).getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Escape')
    await expect.poll(() => focusedId(page), WAIT).toBe(ids[2])
    expect(await panel(page).count()).toBe(0)
  })

  it('returns to the row of the last event, before it is painted', async () => {
    const page = await open()
    const ids = await newestFirst(host.audit)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await panel(page).waitFor()
    await expect.poll(() => page.evaluate(IN_PANEL), WAIT).toBe(true)
    // Only microtasks run between the two keys.
    await page.evaluate(`(async () => {
      for (const key of ['j', 'Escape']) {
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
        for (let i = 0; i < 10; i++) await null
      }
    })()`)
    await expect.poll(() => focusedId(page), WAIT).toBe(ids[1])
  })

  it('keeps the focus on a row that is scrolled out of view', async () => {
    const page = await open('?range=all')
    await page.keyboard.press('j')
    await expect.poll(() => focusedId(page), WAIT).not.toBeNull()
    const id = await focusedId(page)
    await page.evaluate(`{ document.querySelector('#events').scrollTop = 2500 }`)
    // 34 px a row.
    const row = () => rowsOf(page).nth(12).getAttribute('aria-rowindex')
    await expect.poll(async () => Number(await row()), WAIT).toBeGreaterThan(60)
    expect(await firstIds(page, 1)).toEqual([id])
    expect(await focusedId(page)).toBe(id)
    await page.keyboard.press('j')
    const [first, second] = await newestFirst(host.audit)
    expect(first).toBe(id)
    await expect.poll(() => focusedId(page), WAIT).toBe(second)
  })

  it('closes one thing at a time with Escape', async () => {
    const page = await open()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await panel(page).waitFor()
    await page.keyboard.press('b')
    const builder = page.getByRole('dialog', { name: 'Filter builder' })
    const choices = builder.getByRole('listbox')
    await choices.waitFor()
    await page.keyboard.press('Escape')
    await choices.waitFor({ state: 'detached' })
    expect(await builder.count()).toBe(1)
    await page.keyboard.press('Escape')
    await builder.waitFor({ state: 'detached' })
    expect(await panel(page).count()).toBe(1)
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'detached' })
    expect(new URL(page.url()).hash).toBe('')
  })

  it('has no single-letter shortcuts if they are turned off', async () => {
    const page = await open()
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard' })
    await sheet.getByRole('switch').uncheck()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    for (const key of ['j', 'b', 'l', 'e', '?']) await page.keyboard.press(key)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await focusedId(page)).toBeNull()
    expect(await page.getByRole('button', { name: /^Live/ }).count()).toBe(1)
    // Arrows and Enter are not letters.
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await panel(page).waitFor()
  })
})
