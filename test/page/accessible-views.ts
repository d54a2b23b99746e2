import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createViews } from '../../src/views/views.js'
import { openPage } from '../support/browser.js'
import { type PageHost, serveStory } from '../support/page-host.js'
import { webhookKind } from '../support/webhook-kind.js'
import { ALL, RULES, violationsOf } from './axe.js'
import { shareHost, type SharedHost } from './shared-host.js'
import { rowsOf, WAIT } from './shown.js'

/* The views of the page that axe checks. */

/** Serves the story with everything that the views need. */
export function shareAccessible(): SharedHost {
  const host = shareHost(() =>
    serveStory({
      subscriptions: {
        channels: {
          search: { deliver: () => {} },
          mirror: { deliver: () => Promise.reject(new Error('the mirror is away')) },
        },
        subscriptions: {
          everything: { channel: 'search' },
          errors: { channel: 'mirror', filter: 'filter[type_start]=error:', from: 'beginning' },
        },
        kinds: { webhook: webhookKind, note: webhookKind },
      },
      management: { authorize: () => 'all' },
      feed: {
        authorize: ({ state }, action) =>
          state['username'] !== 'eve' || (action !== 'count' && action !== 'export'),
      },
      views: { authorize: () => true },
    }),
  )
  beforeAll(async () => {
    const views = createViews(host.audit)
    const saved = { query: '', range: '24h', display: {}, shared: true }
    await views.create({ ...saved, name: 'All events of a day' }, 'ann')
    await views.create({ ...saved, name: 'Of bob', query: 'filter[username_eq]=bob' }, 'bob')
    await host.audit.record('error:api:controller:unhandled', { error: 'boom' })
  })
  return host
}

const GROUP =
  '?range=24h&filter[type_start_any][]=error:&filter[type_start_any][]=warn:&filter[type_start_any][]=warning:' +
  '&filter[g][0][m]=or&filter[g][0][project_code_eq]=globex&filter[g][0][change_name_cont]=nightly'

interface View {
  /** The query string and hash. */
  readonly address?: string | ((audit: PageHost['audit']) => Promise<string>)
  readonly prepare: (page: Page) => Promise<void>
  /** Views that differ in the rows of events. In the other views axe checks the first rows. */
  readonly checksRows?: boolean
  /** Views that a page shows only after a load. */
  readonly isLoaded?: boolean
  /** Views that differ little from another one. Only `npm run test:release` checks them. */
  readonly isSimilar?: boolean
}

export const list = (page: Page): Promise<void> => rowsOf(page).first().waitFor()

/** Opens the page with the newest event of a type. */
const event = (type: string, part: string): View => ({
  address: async (audit) => {
    const { events } = await audit.list(`filter[type_eq]=${type}&limit=1`)
    return `#event=${events[0]!.id}`
  },
  prepare: async (page) => {
    const panel = page.getByRole('complementary', { name: 'Event' })
    await panel.getByRole('heading', { name: part, exact: true }).waitFor()
  },
})

const byKey = (key: string, title: string): View => ({
  address: GROUP,
  prepare: async (page) => {
    await list(page)
    await page.keyboard.press(key)
    await page.getByRole('dialog', { name: title }).waitFor()
  },
})

/** A page of the panel of subscriptions. */
const managed = (hash: string, text: RegExp): View => ({
  address: hash,
  prepare: (page) =>
    page
      .getByRole('complementary', { name: 'Subscriptions and channels' })
      .getByText(text)
      .first()
      .waitFor(),
})

export const VIEWS: Readonly<Record<string, View>> = {
  list: { prepare: list, checksRows: true },
  'a query': { address: GROUP, prepare: list },
  changes: event('api:projects:update', 'Changes'),
  error: { ...event('error:step:action', 'Error'), isSimilar: true },
  log: { ...event('info:template_version:fetch', 'Log'), isSimilar: true },
  builder: byKey('b', 'Filter builder'),
  export: { ...byKey('e', 'Export'), isSimilar: true },
  keys: { ...byKey('?', 'Keyboard'), isSimilar: true },
  'chosen columns': {
    address: '?range=24h&columns=who,what,response_status:90,@occurred_at',
    prepare: async (page) => {
      await list(page)
      await page.getByRole('columnheader', { name: 'response_status' }).waitFor()
    },
    checksRows: true,
  },
  'the choice of columns': {
    prepare: async (page) => {
      await list(page)
      await page.getByRole('button', { name: 'Columns', exact: true }).click()
      await page.getByRole('dialog', { name: 'Columns' }).waitFor()
    },
    isSimilar: true,
  },
  'found text': {
    address: '?range=24h&q="warm ca" timed actions/',
    prepare: (page) => page.locator('.row mark').first().waitFor(),
    checksRows: true,
  },
  'typed conditions': {
    prepare: async (page) => {
      await list(page)
      await page.getByRole('combobox', { name: 'Add a filter' }).fill('colour > 5 yesterday')
      await page.getByRole('option').first().waitFor()
    },
    isSimilar: true,
  },
  range: {
    prepare: async (page) => {
      await list(page)
      await page.getByRole('button', { name: 'Last 24 hours' }).first().click()
      await page.getByRole('textbox', { name: 'Typed time' }).fill('tomorrow')
      await page.getByText('Not a time.').waitFor()
    },
  },
  'time zones': {
    prepare: async (page) => {
      await list(page)
      await page.getByRole('button', { name: 'Times in UTC' }).click()
      const zones = page.getByRole('listbox', { name: 'Time zone' })
      await zones.getByRole('option').first().waitFor()
    },
    isSimilar: true,
  },
  groups: {
    address: '?range=24h&groups=type,username&numbers=response_status',
    prepare: (page) => page.getByRole('table', { name: 'Groups' }).waitFor(),
    isLoaded: true,
  },
  report: {
    address: GROUP,
    prepare: async (page) => {
      await list(page)
      await page.keyboard.press('p')
      await page.getByRole('dialog', { name: 'Report' }).getByRole('table').waitFor()
    },
  },
  history: {
    address: '#history?source=/api/projects/acme',
    prepare: async (page) => {
      const panel = page.getByRole('complementary', { name: 'History' })
      await panel.getByRole('button', { name: 'Undo?' }).click()
      await panel.getByText('JSON Patch (RFC 6902)').waitFor()
    },
  },
  comparison: {
    address: async (audit) => {
      const { events } = await audit.list('filter[type_eq]=error:step:action&limit=2')
      return `#compare=${events.map(({ id }) => id).join()}`
    },
    prepare: async (page) => {
      const panel = page.getByRole('complementary', { name: 'Comparison' })
      await panel.getByRole('button', { name: /^Show \d+ equal/ }).click()
    },
  },
  subscriptions: { ...managed('#subscriptions', /error in the function/), isSimilar: true },
  'a subscription': {
    address: async (audit) => {
      const all = await audit.subscriptions.list()
      return `#subscriptions=${all.find(({ name }) => name === 'errors')!.id}`
    },
    prepare: (page) => page.getByText('No parked events.').waitFor(),
  },
  'a new subscription': { ...managed('#subscriptions=new', /^Begin with$/), isSimilar: true },
  'a new channel': { ...managed('#channels=new', /^Kind$/), isSimilar: true },
  'a resource': {
    address: '?resource=%2Fapi%2Fsteps%2F0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77',
    prepare: (page) => page.locator('summary').first().click(),
    isLoaded: true,
    isSimilar: true,
  },
  views: {
    address: '#views',
    prepare: (page) =>
      page.getByRole('complementary', { name: 'Views' }).getByText('shared by bob').waitFor(),
    isSimilar: true,
  },
  empty: {
    address: '?range=24h&filter[username_eq]=nobody',
    prepare: (page) =>
      page
        .locator('#events')
        .getByRole('heading', { name: /^No event/ })
        .waitFor(),
    isLoaded: true,
  },
  'bad query': {
    address: '?filter[username_equals]=ann',
    prepare: (page) => page.getByRole('heading', { name: /is not a known comparison/ }).waitFor(),
    isLoaded: true,
    isSimilar: true,
  },
}

/** Opens a view, and waits for its counts. */
export async function show(
  host: SharedHost,
  { address = '', prepare, isLoaded }: View,
): Promise<Page> {
  const path = typeof address === 'string' ? address : await address(host.audit)
  const open = isLoaded ? openPage : host.visit
  const page = await open(host.page + path, { user: 'ann', viewport: DESK })
  await prepare(page)
  await page
    .getByRole('region', { name: 'Events over time' })
    .getByRole('heading', { name: /\d/ })
    .or(page.getByRole('heading', { name: /is not a known comparison|^History of/ }))
    .first()
    .waitFor()
  return page
}

/** The rules that depend on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Leaves out most rows, which take half of the time of axe. */
export const FIRST_ROWS = `{ exclude: [['[role=grid] [data-id] ~ [data-id] ~ [data-id] ~ [data-id]']] }`
/** The rules that are checked in each colour scheme. */
export const SCHEMES = [
  ['light', RULES],
  ['dark', COLOUR_RULES],
] as const
/** Widths: the narrowest, the widest, and both sides of each width at which the layout changes. */
const WIDTHS = [320, 760, 761, 1100, 1101, 3840]

/** Elements that overflow sideways. */
const TOO_WIDE = `['html', '#events', 'main', '.panel-body', '[role=dialog]', 'dialog', '.bar']
  .flatMap((part) => [...document.querySelectorAll(part)])
  .filter((part) => part.scrollWidth > part.clientWidth + 1)
  .map((part) => part.localName + '.' + part.className + ' ' + part.scrollWidth)`

/** Runs axe in these colour schemes. */
export async function expectNoViolations(
  page: Page,
  checked = ALL,
  schemes: readonly (typeof SCHEMES)[number][] = SCHEMES,
): Promise<void> {
  for (const [colorScheme, rules] of schemes) {
    await page.emulateMedia({ colorScheme })
    expect(await violationsOf(page, rules, checked), colorScheme).toEqual([])
  }
}

/** The colours of a view do not depend on its width. */
export const LIGHT = SCHEMES.slice(0, 1)

/** Resizes the page, and waits until it has been laid out. */
export async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
}

const DESK = { width: 1440, height: 900 }

/** The views that axe also checks on a phone. The other views differ in text, not in layout. */
const PHONE_VIEWS = new Set([
  'list',
  'changes',
  'history',
  'comparison',
  'builder',
  'a subscription',
  'empty',
])

/** Defines the tests of the views that differ, or of those that are similar to one of them. */
export function checkViews(host: SharedHost, areSimilar: boolean): void {
  describe('passes axe in light and dark, and does not scroll sideways at any width', () => {
    const views = Object.entries(VIEWS).filter(
      ([, view]) => (view.isSimilar ?? false) === areSimilar,
    )
    it.each(views)('%s', async (name, view) => {
      const page = await show(host, view)
      const checked = view.checksRows ? ALL : FIRST_ROWS
      await expectNoViolations(page, checked)
      for (const width of WIDTHS) {
        await resize(page, width, 800)
        // Some parts are drawn again for the new width.
        await expect.poll(() => page.evaluate(TOO_WIDE), WAIT).toEqual([])
      }
      if (!PHONE_VIEWS.has(name)) return
      await resize(page, 390, 844)
      await expectNoViolations(page, checked, LIGHT)
    })
  })
}
