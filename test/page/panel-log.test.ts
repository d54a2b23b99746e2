import { randomUUID } from 'node:crypto'
import type { LiveEvent } from 'daybook'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { FETCH_LOG } from '../support/story.js'
import { shareHost } from './shared-host.js'
import { rowOf, WAIT } from './shown.js'

/* The log of a live event, in the panel. */

const host = shareHost(servePage)

const panel = (page: Page) => page.getByRole('complementary', { name: 'Event' })
const log = (page: Page) => panel(page).getByRole('log', { name: 'Log' })
const heading = (page: Page) => panel(page).getByRole('heading', { level: 2 }).first()

interface Fetch {
  readonly live: LiveEvent
  readonly id: string
  /** The attribute that leads to the event with the result. */
  readonly version: string
  readonly page: Page
}

/** Records a fetch with some output, and opens it by its row. */
async function openFetch(options: OpenPageOptions = {}): Promise<Fetch> {
  const version = randomUUID()
  const live = await host.audit.recordLive('info:template_version:fetch', {
    name: 'shop@main',
    template_version_id: version,
    progress: '',
  })
  await live.append('progress', FETCH_LOG)
  await live.flush()
  const { id } = live.event!
  const page = await host.visit(`${host.page}?range=all`, { user: 'ann', ...options })
  await rowOf(page, id).click()
  await log(page).waitFor()
  return { live, id, version, page }
}

const atEnd = (box: Locator) =>
  expect.poll(
    () => box.evaluate((pre) => pre.scrollHeight - pre.scrollTop - pre.clientHeight < 2),
    WAIT,
  )

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, n) => `\nline ${from + n}`).join('')

describe('a log', () => {
  it('looks as on a terminal, with its newest percentage', async () => {
    const { live, page } = await openFetch()
    const kept = FETCH_LOG.split('\n').map((line) => line.split('\r').at(-1))
    await expect.poll(() => log(page).textContent(), WAIT).toBe(kept.join('\n'))
    await expect
      .poll(() => heading(page).textContent(), WAIT)
      .toMatch(/shop@main is being fetched, 62 %$/)
    await panel(page).getByRole('img', { name: '62 %' }).waitFor()
    await live.append('progress', '\rReceiving objects:  87% (4194/4821)')
    await panel(page).getByRole('img', { name: '87 %' }).waitFor()
    await expect.poll(() => log(page).textContent(), WAIT).toMatch(/deltas.*|87% \(4194\/4821\)$/)
    expect(await log(page).textContent()).not.toContain('62%')
    await panel(page).getByRole('button', { name: 'show all 10' }).click()
    await expect.poll(() => log(page).textContent(), WAIT).toMatch(/62%.*\n.*87%/)
    await live.close()
  })

  it('grows in place and is followed until the user scrolls up', async () => {
    const { live, page } = await openFetch()
    await live.append('progress', lines(1, 200))
    await expect.poll(() => log(page).textContent(), WAIT).toMatch(/line 200$/)
    await atEnd(log(page)).toBe(true)
    await log(page).hover()
    const topOf = () => log(page).evaluate((pre) => Math.round(pre.scrollTop))
    const end = await topOf()
    await page.mouse.wheel(0, -600)
    await expect.poll(topOf, WAIT).toBe(end - 600)
    const follow = panel(page).getByRole('button', { name: 'Follow' })
    await expect.poll(() => follow.getAttribute('aria-pressed'), WAIT).toBe('false')
    await live.append('progress', lines(201, 204))
    const unseen = panel(page).getByRole('button', { name: '4 new lines' })
    await unseen.waitFor()
    expect(await topOf()).toBe(end - 600)
    await unseen.click()
    await atEnd(log(page)).toBe(true)
    await live.append('progress', lines(205, 230))
    await expect.poll(() => log(page).textContent(), WAIT).toMatch(/line 230$/)
    await atEnd(log(page)).toBe(true)
    await live.close()
  })

  it('grows even if the list does not contain it', async () => {
    const { live, id } = await openFetch()
    const page = await openPage(`${host.page}?range=15m&filter[username_eq]=bob#event=${id}`, {
      user: 'ann',
    })
    await log(page).waitFor()
    await live.append('progress', '\nResolving deltas')
    await expect.poll(() => log(page).textContent(), WAIT).toMatch(/Resolving deltas$/)
    await live.close()
    await panel(page).getByText('still open').waitFor({ state: 'detached' })
  })

  it('is announced only if following was chosen', async () => {
    const { live, page } = await openFetch()
    expect(await log(page).getAttribute('aria-live')).toBe('off')
    const follow = panel(page).getByRole('button', { name: 'Follow' })
    await follow.click()
    await follow.click()
    await expect.poll(() => log(page).getAttribute('aria-live'), WAIT).toBe('polite')
    await live.close()
  })

  it.each([
    ['before it is closed', true],
    ['after it is closed', false],
  ])('links to the event that reports the result, recorded %s', async (_when, isBefore) => {
    const { live, version, page } = await openFetch()
    await panel(page).getByText('still open').waitFor()
    const end = () =>
      host.audit.recordSystem('info:template_version:fetch_complete', {
        name: 'shop@main',
        template_version_id: version,
        success: true,
      })
    if (isBefore) await end()
    await live.close()
    if (!isBefore) await end()
    await expect
      .poll(() => heading(page).textContent(), WAIT)
      .toMatch(/^fetch of .*shop@main started$/)
    await panel(page).getByText('still open').waitFor({ state: 'detached' })
    await panel(page)
      .getByRole('link', { name: /shop@main fetched$/ })
      .click()
    await expect.poll(() => heading(page).textContent(), WAIT).toMatch(/shop@main fetched$/)
  })

  it('says that it is unfinished', async () => {
    const { live, page } = await openFetch({ viewport: { width: 390, height: 844 } })
    await panel(page).getByText('still open').waitFor()
    await live[Symbol.asyncDispose]()
    await panel(page).getByText('Unfinished: the process ended').waitFor()
  })
})
