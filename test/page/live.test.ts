import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OpenPageOptions } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { expectNewest, liveButton, openList, past, pill, record, TYPE } from './following.js'
import { firstIds } from './rows.js'
import { shareHost } from './shared-host.js'
import { rowIds, rowsOf, WAIT } from './shown.js'

/* Live updates of a log that grows with each test. */

const host = shareHost(() => servePage({ events: past }))

const open = (options: OpenPageOptions = {}): Promise<Page> => openList(host, options, host.visit)

const heading = (page: Page) =>
  page.getByRole('region', { name: 'Events over time' }).getByRole('heading')

/** Waits until the heading has the number of all events, and returns it. */
async function expectCounted(page: Page): Promise<number> {
  const { total } = await host.audit.count()
  await expect.poll(() => heading(page).innerText(), WAIT).toBe(`${total} events`)
  return total
}

const scrollDown = (page: Page): Promise<void> =>
  page.evaluate(`{ document.querySelector('#events').scrollTop = 1500 }`)

describe('at the top', () => {
  it('new events appear above the others, and are counted in the heading', async () => {
    const page = await open()
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Live')
    const total = await expectCounted(page)
    for (const names of [['one'], ['two', 'three', 'four'], ['five']]) {
      await record(host, ...names)
      await expectNewest(page, host)
    }
    expect(await pill(page).count()).toBe(0)
    const first = rowsOf(page).first()
    expect(await first.innerText()).toContain('five')
    expect(await expectCounted(page)).toBe(total + 5)
  })

  it('only matching events appear', async () => {
    const page = await host.visit(`${host.page}?range=24h&filter[username_eq]=eve`, { user: 'ann' })
    await page.getByRole('heading', { name: /No event/ }).waitFor()
    await host.audit.record(TYPE, { name: 'of bob' }, { username: 'bob' })
    const mine = await host.audit.record(TYPE, { name: 'of eve' }, { username: 'eve' })
    await expect.poll(() => rowIds(page), WAIT).toEqual([mine!.id])
  })
})

describe('while the user reads', () => {
  it('new events wait above a scrolled list, which does not move', async () => {
    const page = await open()
    // The chart has its height once it is drawn.
    await expectCounted(page)
    await scrollDown(page)
    await expect.poll(() => liveButton(page).getAttribute('class'), WAIT).toContain('held')
    const inView = `[...document.querySelectorAll('[data-id]')].map((row) => [
      row.dataset.id, Math.round(row.getBoundingClientRect().top)])`
    const before = await page.evaluate(inView)
    await record(host, 'one', 'two', 'three')
    await expect.poll(() => pill(page).innerText(), WAIT).toBe('3 new events')
    await expect.poll(() => liveButton(page).innerText(), WAIT).toMatch(/^Live\s*\+3$/)
    expect(await page.evaluate(inView)).toEqual(before)
    await pill(page).click()
    await expectNewest(page, host)
    await pill(page).waitFor({ state: 'detached' })
    const scrolled = () => page.evaluate(`document.querySelector('#events').scrollTop`)
    await expect.poll(scrolled, WAIT).toBe(0)
  })

  it('they wait while an event is open, until a key shows them', async () => {
    const page = await open()
    const before = await rowIds(page)
    await rowsOf(page).nth(3).click()
    await page.getByRole('complementary', { name: 'Event' }).waitFor()
    await page.mouse.move(0, 0)
    await record(host, 'one')
    await expect.poll(() => pill(page).innerText(), WAIT).toBe('1 new event')
    expect(await firstIds(page, 5)).toEqual(before.slice(0, 5))
    await page.keyboard.press('.')
    await expectNewest(page, host)
  })

  it('they wait while the pointer is on a row, and appear once it leaves', async () => {
    const page = await open()
    const before = await rowIds(page)
    await rowsOf(page).nth(4).hover()
    await record(host, 'one', 'two')
    await expect.poll(() => pill(page).innerText(), WAIT).toBe('2 new events')
    expect(await firstIds(page, 5)).toEqual(before.slice(0, 5))
    await page.mouse.move(0, 0)
    await expectNewest(page, host)
  })

  it('they appear on a phone, and wait on one that is scrolled', async () => {
    const page = await open({ viewport: { width: 390, height: 844 } })
    await record(host, 'one', 'two')
    await expectNewest(page, host)
    await page.evaluate('scrollTo(0, 2000)')
    await expect.poll(() => liveButton(page).getAttribute('class'), WAIT).toContain('held')
    await record(host, 'one', 'two')
    await pill(page).click()
    await expectNewest(page, host)
  })
})

describe('paused', () => {
  it('new events are counted, and only resuming shows them', async () => {
    const page = await open()
    const before = await firstIds(page, 10)
    await page.keyboard.press('l')
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Paused')
    await record(host, 'one', 'two')
    await expect.poll(() => liveButton(page).innerText(), WAIT).toMatch(/^Paused\s*\+2$/)
    await scrollDown(page)
    await page.evaluate(`{ document.querySelector('#events').scrollTop = 0 }`)
    await expect.poll(() => firstIds(page, 10), WAIT).toEqual(before)
    expect(await liveButton(page).innerText()).toMatch(/^Paused/)
    await liveButton(page).click()
    await page.mouse.move(0, 0)
    await expectNewest(page, host)
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Live')
  })

  it('waiting events can be shown, and it stays paused', async () => {
    const page = await open()
    await liveButton(page).click()
    await record(host, 'one')
    await pill(page).click()
    await expectNewest(page, host)
    await expect.poll(() => liveButton(page).innerText(), WAIT).toBe('Paused')
    await record(host, 'two')
    await expect.poll(() => pill(page).innerText(), WAIT).toBe('1 new event')
  })
})
