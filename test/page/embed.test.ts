import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { type PageHost, servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { WAIT } from './shown.js'

/* The page in frames of other sites, and the element that shows it on those sites. */

const STEP = '/api/steps/0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77'

/** A site of another origin with one document. */
async function site(): Promise<{ origin: string; show(document: string): void }> {
  let document = ''
  const server = http.createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    // A strict policy: it allows no inline script, and only frames of the service.
    response.setHeader(
      'content-security-policy',
      `default-src 'none'; script-src ${host.url}; frame-src ${host.url}`,
    )
    response.end(
      `<!doctype html><html lang="en"><title>Admin</title><main>${document}</main></html>`,
    )
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, show: (text) => (document = text) }
}

const closing: (() => void)[] = []
const frameAncestors: string[] = []
const streams = new Set<object>()
let host: PageHost
let admin: Awaited<ReturnType<typeof site>>
let stranger: Awaited<ReturnType<typeof site>>

beforeAll(async () => {
  // The page reads the list when it is mounted, so the sites have to listen first.
  const early = { url: '' } as PageHost
  host = early
  admin = await site()
  stranger = await site()
  frameAncestors.push(admin.origin)
  host = await servePage({
    inside: [
      async (ctx, next) => {
        if (ctx.path.endsWith('/stream')) {
          streams.add(ctx.res)
          ctx.res.once('close', () => streams.delete(ctx.res))
        }
        await next()
      },
    ],
    events: dayOfEvents(Date.now() * 1000 - 2_000_000),
    page: {
      frameAncestors,
      title: 'Ledger',
      theme: { accent: { light: '#7a1fa2', dark: '#e1bee7' } },
    },
  })
})
afterAll(async () => {
  for (const close of closing) close()
  await host.close()
})

const element = (attributes: string): string =>
  `<script src="${host.page}/daybook-page.js" defer></script><daybook-page ${attributes}></daybook-page>`

/** The frame of the page; shadow roots hide it from selectors. */
async function frameOf(page: Page): Promise<Frame> {
  const frames = () => page.frames().filter((frame) => frame.url().startsWith(host.page))
  await expect.poll(() => frames().length, WAIT).toBe(1)
  return frames()[0]!
}

async function embed(attributes: string): Promise<{ page: Page; frame: Frame }> {
  admin.show(element(attributes))
  const page = await openPage(admin.origin, { user: 'ann' })
  return { page, frame: await frameOf(page) }
}

describe('<daybook-page>', () => {
  it('shows the page with a query, its title and its colours', async () => {
    const { frame } = await embed('query="range=all&filter[username_eq]=bob" label="Audit of acme"')
    const rows = frame.getByRole('grid').getByRole('row')
    await expect.poll(() => rows.count(), WAIT).toBeGreaterThan(2)
    expect(await frame.locator('.brand-name').textContent()).toBe('Ledger')
    expect(await frame.title()).toBe('Ledger · acme workflows')
    const accent = await frame.evaluate(
      'getComputedStyle(document.documentElement).getPropertyValue("--accent")',
    )
    expect(accent).toBe('light-dark(#7a1fa2, #e1bee7)')
  })

  it('is refused by the browser on a site that is not allowed', async () => {
    stranger.show(element(''))
    const page = await openPage(stranger.origin, { user: 'ann', tolerates: /frame-ancestors/ })
    const refusal = page.waitForEvent('console', (message) =>
      /frame-ancestors/.test(message.text()),
    )
    await page.reload()
    await refusal
    const texts = await Promise.all(
      page.frames().map((frame) =>
        frame
          .locator('.brand-name')
          .count()
          .catch(() => 0),
      ),
    )
    expect(texts.every((count) => count === 0)).toBe(true)
  })

  it('shows the events of one resource, and takes their height', async () => {
    const { page, frame } = await embed(`resource="${STEP}" height="4000"`)
    const { events } = await host.audit.list(`filter[source_eq]=${STEP}`)
    expect(events.length).toBeGreaterThan(1)
    const items = frame.locator('li')
    await expect.poll(() => items.count(), WAIT).toBe(events.length)
    const height = (): Promise<number> =>
      page.evaluate('document.querySelector("daybook-page").getBoundingClientRect().height')
    const content = (): Promise<number> =>
      frame.evaluate('document.querySelector("main").scrollHeight')
    await expect.poll(async () => (await height()) - (await content()), WAIT).toBe(0)
    const before = await height()
    await items.first().locator('summary').click()
    await expect.poll(height, WAIT).toBeGreaterThan(before)
  })

  it('says which event the reader opened', async () => {
    const { page, frame } = await embed(`resource="${STEP}"`)
    await page.evaluate(
      'addEventListener("daybook:open", ({ detail }) => { globalThis.opened = detail.id })',
    )
    await frame.locator('summary').first().click()
    const { events } = await host.audit.list(`filter[source_eq]=${STEP}`)
    await expect.poll(() => page.evaluate('globalThis.opened'), WAIT).toBe(events.at(-1)!.id)
  })

  it('shows a new event of the resource', async () => {
    const step_id = '0199f09d-5b1e-7c41-8d20-6a4f3e9b1c78'
    const { page, frame } = await embed(`resource="/api/steps/${step_id}"`)
    await frame.getByText('No event is recorded for this resource.').waitFor(WAIT)
    await host.audit.record('api:steps:success', { name: 'Deploy', step_id })
    await expect.poll(() => frame.locator('li').count(), WAIT).toBe(1)
    await expect.poll(() => streams.size, WAIT).toBe(1)
    // Out of sight it needs no stream.
    await page.evaluate('document.body.style.paddingTop = "5000px"')
    await expect.poll(() => streams.size, WAIT).toBe(0)
    await host.audit.record('api:steps:success', { name: 'Deploy again', step_id })
    await page.evaluate('document.body.style.paddingTop = 0')
    await expect.poll(() => frame.locator('li').count(), WAIT).toBe(2)
    await expect.poll(() => streams.size, WAIT).toBe(1)
  })

  it.each([
    ['resource="javascript:alert(1)"', 'The resource must be a path such as /api/orders/1.'],
    ['resource="//example.com"', 'The resource must be a path such as /api/orders/1.'],
  ])('refuses %s', async (attributes, text) => {
    const { frame } = await embed(attributes)
    await frame.getByText(text).waitFor(WAIT)
  })

  it('ignores messages of other windows', async () => {
    const { page } = await embed('height="300"')
    await page.evaluate('postMessage({ type: "daybook:size", height: 10 }, "*")')
    await page.evaluate('new Promise(requestAnimationFrame)')
    expect(
      await page.evaluate('document.querySelector("daybook-page").getBoundingClientRect().height'),
    ).toBe(300)
  })
})

it('the address of a resource works without a frame too', async () => {
  const page = await openPage(`${host.page}?resource=${encodeURIComponent(STEP)}`, { user: 'ann' })
  await expect.poll(() => page.locator('li').count(), WAIT).toBeGreaterThan(1)
  const link = page.getByRole('link', { name: 'Open in the audit page' })
  expect(await link.getAttribute('href')).toContain('filter[source_eq]=')
})
