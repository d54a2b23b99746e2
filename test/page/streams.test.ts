import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import type { PageHost } from '../support/page-host.js'
import { expectNewest, record, servePast } from './following.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

/* The streams of the windows of one browser. All windows share six connections. */

interface Streams {
  readonly host: PageHost
  readonly open: ReadonlySet<object>
}

async function serve(): Promise<Streams> {
  const open = new Set<object>()
  const host = await servePast({
    inside: [
      async (ctx, next) => {
        if (ctx.path.endsWith('/stream')) {
          open.add(ctx.res)
          ctx.res.once('close', () => open.delete(ctx.res))
        }
        await next()
      },
    ],
  })
  return { host, open }
}

const expectStreams = ({ open }: Streams, count: number): Promise<void> =>
  expect.poll(() => open.size, WAIT).toBe(count)

const startFetch = (host: PageHost) =>
  host.audit.recordLive('info:template_version:fetch', {
    name: 'storefront@main',
    progress: 'Receiving objects:  30% (30/100)\r',
    project_path: '/projects/alone',
  })

/** Removes the locks. While `held` is a list, messages of other windows are kept in it. */
const HOLD_MESSAGES = `
  delete Navigator.prototype.locks
  globalThis.held = undefined
  globalThis.releaseMessages = () => {
    const handlers = held
    held = undefined
    handlers.forEach((handle) => handle())
  }
  const listen = BroadcastChannel.prototype.addEventListener
  BroadcastChannel.prototype.addEventListener = function (name, handle) {
    listen.call(this, name, (event) => held ? held.push(() => handle(event)) : handle(event))
  }
`

/** Lets windows without a stream poll often, instead of every 5 seconds. For windows without an open event. */
const POLL_OFTEN = `
  for (const name of ['setTimeout', 'setInterval']) {
    const start = globalThis[name]
    globalThis[name] = (handle, ms, ...rest) => start(handle, ms === 5000 ? 250 : ms, ...rest)
  }
`

/** Opens blank windows of one browser. */
async function openBlank(count: number): Promise<Page[]> {
  const first = await openPage('about:blank', { user: 'ann' })
  const pages = [first]
  while (pages.length < count) pages.push(await first.context().newPage())
  return pages
}

/** Opens the address in each of the windows, one after the other. */
async function openIn(pages: readonly Page[], url: string): Promise<void> {
  for (const page of pages) await page.goto(url)
  for (const page of pages) await rowsOf(page).first().waitFor()
}

/** True if a further request of the page is answered. */
const request = (page: Page): Promise<boolean> =>
  page.evaluate(`fetch('/api/events?limit=1', { cache: 'no-store' }).then(({ ok }) => ok)`)

const setHidden = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
     document.dispatchEvent(new Event('visibilitychange'))`,
  )

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Event' })

describe('of windows with an open live event', () => {
  it('three windows have a stream each, and a hidden window has none', async () => {
    const streams = await serve()
    const { host } = streams
    const live = await startFetch(host)
    const url = `${host.page}?range=all#event=${live.event!.id}`
    const pages = await openBlank(3)
    await openIn(pages, url)
    await expectStreams(streams, 3)
    for (const page of pages) expect(await request(page)).toBe(true)
    const [page] = pages
    await setHidden(page!, true)
    await expectStreams(streams, 2)
    await live.append('progress', 'Receiving objects:  60% (60/100)\r')
    await live.flush()
    await panelOf(pages[1]!).getByRole('img', { name: '60 %' }).waitFor()
    await setHidden(page!, false)
    await expectStreams(streams, 3)
    await live.append('progress', 'Receiving objects:  90% (90/100)\r')
    await panelOf(page!).getByRole('img', { name: '90 %' }).waitFor()
    await live.close()
    await panelOf(page!).getByText('still open').waitFor({ state: 'detached' })
  })

  it('four of six windows have a stream, the others poll, and one of them takes the place of a closed window', async () => {
    const streams = await serve()
    const { host } = streams
    const live = await startFetch(host)
    const [frame, ...pages] = await openBlank(6)
    for (const page of [frame!, ...pages]) await page.addInitScript(POLL_OFTEN)
    await openIn(pages, `${host.page}?range=all`)
    await frame!.goto(`${host.page}?resource=/api/projects/alone`)
    await frame!.getByRole('listitem').waitFor()
    await expectStreams(streams, 4)
    for (const page of pages) expect(await request(page)).toBe(true)
    await host.audit.record('api:changes:create', { project_path: '/projects/alone' })
    await record(host, ...Array.from({ length: 12 }, (_, n) => `new ${n}`))
    await live.append('progress', 'Receiving objects:  60% (60/100)\r')
    for (const page of pages) {
      await page.mouse.move(0, 0)
      await expectNewest(page, host)
      await expect.poll(() => rowOf(page, live.event!.id).innerText(), WAIT).toContain('60 %')
    }
    await expect.poll(() => frame!.getByRole('listitem').count(), WAIT).toBe(2)
    await expectStreams(streams, 4)
    await pages[1]!.close()
    await expectStreams(streams, 4)
    await live.close()
  })

  it('without TLS, four of five windows have a stream, also if a window answers late', async () => {
    const streams = await serve()
    const { host } = streams
    const pages = await openBlank(5)
    for (const [n, page] of pages.entries()) {
      await page.addInitScript(POLL_OFTEN + HOLD_MESSAGES)
      await page.goto(`${host.page}?range=all`)
      await rowsOf(page).first().waitFor()
      await expectStreams(streams, n + 1)
      if (n === 3) for (const other of pages.slice(0, 4)) await other.evaluate('held = []')
    }
    for (const page of pages.slice(0, 4)) await page.evaluate('releaseMessages()')
    await expectStreams(streams, 4)
    await record(host, ...Array.from({ length: 12 }, (_, n) => `new ${n}`))
    for (const page of pages) {
      await page.mouse.move(0, 0)
      await expectNewest(page, host)
    }
    await expectStreams(streams, 4)
  })

  it('the open event has a stream if the list has none', async () => {
    const streams = await serve()
    const { host } = streams
    const live = await startFetch(host)
    const hash = `#event=${live.event!.id}`
    const sorted = await openPage(`${host.page}?range=all&filter[sorts]=type${hash}`, {
      user: 'ann',
    })
    await expectStreams(streams, 1)
    await live.append('progress', 'Receiving objects:  60% (60/100)\r')
    await panelOf(sorted).getByRole('img', { name: '60 %' }).waitFor()
    await setHidden(sorted, true)
    await expectStreams(streams, 0)
    const other = await openPage(`${host.page}?range=all&filter[username_eq]=bob${hash}`, {
      user: 'ann',
    })
    await expectStreams(streams, 1)
    await live.append('progress', 'Receiving objects:  90% (90/100)\r')
    await panelOf(other).getByRole('img', { name: '90 %' }).waitFor()
    await expectStreams(streams, 1)
    await live.close()
    await panelOf(other).getByText('still open').waitFor({ state: 'detached' })
  })
})
