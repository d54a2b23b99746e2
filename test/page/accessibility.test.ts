import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createViews } from '../../src/views/views.js'
import { openPage } from '../support/browser.js'
import { serveStory } from '../support/page-host.js'
import { webhookKind } from '../support/webhook-kind.js'
import { ALL, RULES, violationsOf } from './axe.js'
import { shareHost } from './shared-host.js'
import { rowsOf, WAIT } from './shown.js'

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

const GROUP =
  '?range=24h&filter[type_start_any][]=error:&filter[type_start_any][]=warn:&filter[type_start_any][]=warning:' +
  '&filter[g][0][m]=or&filter[g][0][project_code_eq]=globex&filter[g][0][change_name_cont]=nightly'

interface View {
  /** The query string and hash. */
  readonly address?: string | (() => Promise<string>)
  readonly prepare: (page: Page) => Promise<void>
  /** Views that differ in the rows of events. In the other views axe checks the first rows. */
  readonly checksRows?: boolean
  /** Views that a page shows only after a load. */
  readonly isLoaded?: boolean
}

const list = (page: Page): Promise<void> => rowsOf(page).first().waitFor()

/** Opens the page with the newest event of a type. */
const event = (type: string, part: string): View => ({
  address: async () => {
    const { events } = await host.audit.list(`filter[type_eq]=${type}&limit=1`)
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

const VIEWS: Readonly<Record<string, View>> = {
  list: { prepare: list, checksRows: true },
  'a query': { address: GROUP, prepare: list },
  changes: event('api:projects:update', 'Changes'),
  error: event('error:step:action', 'Error'),
  log: event('info:template_version:fetch', 'Log'),
  builder: byKey('b', 'Filter builder'),
  export: byKey('e', 'Export'),
  keys: byKey('?', 'Keyboard'),
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
    address: async () => {
      const { events } = await host.audit.list('filter[type_eq]=error:step:action&limit=2')
      return `#compare=${events.map(({ id }) => id).join()}`
    },
    prepare: async (page) => {
      const panel = page.getByRole('complementary', { name: 'Comparison' })
      await panel.getByRole('button', { name: /^Show \d+ equal/ }).click()
    },
  },
  subscriptions: managed('#subscriptions', /error in the function/),
  'a subscription': {
    address: async () => {
      const all = await host.audit.subscriptions.list()
      return `#subscriptions=${all.find(({ name }) => name === 'errors')!.id}`
    },
    prepare: (page) => page.getByText('No parked events.').waitFor(),
  },
  'a new subscription': managed('#subscriptions=new', /^Begin with$/),
  'a new channel': managed('#channels=new', /^Kind$/),
  'a resource': {
    address: '?resource=%2Fapi%2Fsteps%2F0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77',
    prepare: (page) => page.locator('summary').first().click(),
    isLoaded: true,
  },
  views: {
    address: '#views',
    prepare: (page) =>
      page.getByRole('complementary', { name: 'Views' }).getByText('shared by bob').waitFor(),
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
  },
}

/** Opens a view, and waits for its counts. */
async function show({ address = '', prepare, isLoaded }: View): Promise<Page> {
  const path = typeof address === 'string' ? address : await address()
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
const FIRST_ROWS = `{ exclude: [['[role=grid] [data-id] ~ [data-id] ~ [data-id] ~ [data-id]']] }`
/** The rules that are checked in each colour scheme. */
const SCHEMES = [
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
async function expectNoViolations(
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
const LIGHT = SCHEMES.slice(0, 1)

/** Resizes the page, and waits until it has been laid out. */
async function resize(page: Page, width: number, height: number): Promise<void> {
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

describe('passes axe in light and dark, and does not scroll sideways at any width', () => {
  it.each(Object.entries(VIEWS))('%s', async (name, view) => {
    const page = await show(view)
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

it('passes axe for a user who may neither count nor export', async () => {
  const page = await openPage(host.page, { user: 'eve', tolerates: /403/ })
  await list(page)
  await page.getByText('You may not count events').waitFor()
  await expectNoViolations(page, FIRST_ROWS)
  for (const width of [1000, 390]) {
    await resize(page, width, 800)
    await expectNoViolations(page, FIRST_ROWS, LIGHT)
  }
})

it('would find text in pale grey', async () => {
  const page = await show(VIEWS['list']!)
  const colour = (value: string) =>
    page.evaluate(`document.querySelector('h1').style.color = '${value}'`)
  await colour('#bbb')
  await page.emulateMedia({ colorScheme: 'light' })
  for (const [, rules] of SCHEMES)
    expect((await violationsOf(page, rules)).join()).toContain('color-contrast: h1')
  await colour('')
})

const MOVING = 'document.getAnimations().filter(({ playState }) => playState === "running").length'

describe('motion', () => {
  it("respects the user's preference", async () => {
    const moving = await openPage(host.page, { user: 'ann', reducedMotion: 'no-preference' })
    await list(moving)
    await expect.poll(() => moving.evaluate(MOVING)).toBeGreaterThan(0)
    const still = await host.visit(host.page, { user: 'ann' })
    await list(still)
    expect(await still.evaluate(MOVING)).toBe(0)
    await rowsOf(still).nth(2).click()
    await still.getByRole('complementary', { name: 'Event' }).waitFor()
    expect(await still.evaluate(MOVING)).toBe(0)
  })
})
