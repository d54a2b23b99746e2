import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { DeliveryError } from 'daybook'
import { chromium, type Page } from 'playwright-core'
import { type PageHost, serveStory } from './page-host.js'
import { startBrowser } from './start-browser.js'

/*
 * Takes the screenshots of the documentation, with the events of the story: `npm run screenshots [folder]`.
 */
const folder =
  process.argv[2] ?? fileURLToPath(new URL('../../examples/screenshots', import.meta.url))

interface Shot {
  readonly file: string
  readonly dark?: true
  readonly phone?: true
  /** The query string of the page. */
  readonly address?: string
  readonly prepare?: (page: Page) => Promise<void>
  /** Set if the service has subscriptions. */
  readonly withSubscriptions?: true
}

const QUERY =
  '?range=24h&filter[type_not_start]=info:api_autoscaler:&filter[type_not_eq]=api:agent:started'

const GROUP =
  '?range=24h&filter[type_not_start]=info:api_autoscaler:&filter[type_start_any][]=error:&filter[type_start_any][]=warn:&filter[type_start_any][]=warning:' +
  '&filter[g][0][m]=or&filter[g][0][project_code_eq]=globex&filter[g][0][change_name_cont]=nightly'

async function openRow(page: Page, text: string): Promise<void> {
  await page.getByRole('row').filter({ hasText: text }).first().click()
  await page.getByRole('complementary', { name: 'Event' }).getByRole('heading').first().waitFor()
}

const openBuilder = async (page: Page): Promise<void> => {
  await page.keyboard.press('b')
  await page.getByRole('dialog').waitFor()
}

const SHOTS: readonly Shot[] = [
  { file: 'list' },
  { file: 'dark', dark: true, prepare: (page) => openRow(page, 'Warm cache') },
  { file: 'event', prepare: (page) => openRow(page, 'changed 4 fields') },
  { file: 'builder', address: GROUP, prepare: openBuilder },
  { file: 'phone', phone: true },
  {
    file: 'subscriptions',
    address: `${QUERY}#subscriptions`,
    withSubscriptions: true,
    prepare: (page) => page.getByText('refused, status 503').first().waitFor(),
  },
]

/** A service with subscriptions in several states. */
async function serveSubscriptions(): Promise<PageHost> {
  const host = await serveStory({
    subscriptions: {
      channels: {
        search: { deliver: () => {} },
        siem: {
          kind: 'webhook',
          deliver: () => Promise.reject(new DeliveryError('status', 'status 503', { status: 503 })),
        },
      },
      subscriptions: { 'search-index': { channel: 'search', from: 'beginning' } },
    },
    management: { authorize: () => 'all' },
  })
  const { subscriptions } = host.audit
  // Imported events are not delivered.
  await host.audit.record('error:api:controller:unhandled', { error: 'the disk is full' })
  const filter = 'filter[type_start]=error:'
  await subscriptions.create({ name: 'errors', channel: 'siem', filter, from: 'beginning' })
  const approvals = 'filter[type_start]=audit:'
  const { id } = await subscriptions.create({
    name: 'approvals',
    channel: 'search',
    filter: approvals,
  })
  await subscriptions.pause(id)
  return host
}

fs.mkdirSync(folder, { recursive: true })
const host = await serveStory()
const subscriptionsHost = await serveSubscriptions()
const server = await startBrowser()
const browser = await chromium.connect(server.wsEndpoint())
try {
  for (const { file, dark, phone, address = QUERY, prepare, withSubscriptions } of SHOTS) {
    const context = await browser.newContext({
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      viewport: phone ? { width: 390, height: 844 } : { width: 1440, height: 900 },
      deviceScaleFactor: phone ? 2 : 1,
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      httpCredentials: { username: 'eve', password: 'eve' },
    })
    const page = await context.newPage()
    page.on('console', (message) => console.log(`${file}: ${message.text()}`))
    page.on('pageerror', (error) => console.log(`${file}: ${String(error)}`))
    await page.goto(`${(withSubscriptions ? subscriptionsHost : host).page}${address}`)
    await page.getByRole('grid').waitFor()
    await page.waitForLoadState('networkidle').catch(() => undefined)
    await page.waitForTimeout(800)
    await prepare?.(page)
    await page.waitForTimeout(800)
    await page.screenshot({ path: path.join(folder, `${file}.png`) })
    await context.close()
  }
} finally {
  await browser.close()
  await server.close()
  await host.close()
  await subscriptionsHost.close()
}
