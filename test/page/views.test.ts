import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createViews, type Views } from '../../src/views/views.js'
import { openPage } from '../support/browser.js'
import { servePage, serveStory } from '../support/page-host.js'
import { shareHost } from './shared-host.js'
import { addressed, expectShown, matching, rowIds, rowsOf, WAIT } from './shown.js'

/* Named views on the page. */

const host = shareHost(() =>
  serveStory({
    // `eve` only reads, `bob` may not share.
    views: {
      authorize: ({ state }, action) =>
        action === 'views:list' ||
        action === 'views:read' ||
        state['username'] === 'ann' ||
        (state['username'] === 'bob' && action !== 'views:share'),
    },
  }),
)
let stored: Views

beforeAll(async () => {
  stored = createViews(host.audit)
})

const panelOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Views' })
const button = (inside: Page | Locator, name: string | RegExp): Locator =>
  inside.getByRole('button', { name, exact: true })
const itemOf = (page: Page, name: string): Locator =>
  panelOf(page)
    .getByRole('listitem')
    .filter({ has: button(page, name) })

const open = (address: string, user = 'ann'): Promise<Page> =>
  host.visit(`${host.page}${address}`, { user })

/** Loads the page. It then knows the views that were stored before. */
const load = (address: string, user = 'ann'): Promise<Page> =>
  openPage(`${host.page}${address}`, { user })

/** The view with this name, as the service has it. */
const find = async (name: string) => (await stored.list()).find((view) => view.name === name)

/** Stores a view of a user. */
const make = (name: string, given: object = {}, owner = 'ann') =>
  stored.create({ name, query: '', range: null, display: {}, shared: false, ...given }, owner)

describe('saving', () => {
  it('reports only that the view is saved', async () => {
    const page = await load('?range=7d')
    await button(page, 'Views').click()
    await page.evaluate(`globalThis.notes = []
      new MutationObserver(() => {
        const text = document.querySelector('.note')?.textContent
        if (text && !notes.includes(text)) notes.push(text)
      }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
    for (const name of ['First of all', 'Second']) {
      await panelOf(page).getByLabel('Name').fill(name)
      await page.keyboard.press('Enter')
      await panelOf(page).getByRole('heading', { name }).waitFor()
      await button(page, name).first().waitFor()
    }
    await expect
      .poll(() => page.evaluate('notes'), WAIT)
      .toEqual(['Saved: First of all', 'Saved: Second'])
  })

  it('keeps filters, order, range and facets, and the view opens the same', async () => {
    const filter = 'filter[username_eq]=bob&filter[sorts][]=type%20asc'
    const page = await open(`?range=7d&${filter}&facets=system`)
    await button(page, 'Views').click()
    await panelOf(page).getByLabel('Name').fill('Of bob')
    await page.keyboard.press('Enter')
    await panelOf(page).getByRole('heading', { name: 'Of bob' }).waitFor()
    await panelOf(page).getByText('As saved', { exact: true }).waitFor()
    const { id, ...view } = (await find('Of bob'))!
    expect(view).toMatchObject({
      owner: 'ann',
      shared: false,
      query: filter,
      range: '7d',
      display: { facets: 'system' },
    })
    const other = await open('?range=1h&facets=type')
    await button(other, 'Views').click()
    await button(itemOf(other, 'Of bob'), 'Of bob').click()
    await panelOf(other).waitFor({ state: 'detached' })
    await expectShown(other, host.audit, filter)
    const { searchParams } = new URL(other.url())
    expect(['range', 'view', 'facets'].map((name) => searchParams.get(name))).toEqual([
      '7d',
      id,
      'system',
    ])
    await other.goBack()
    await button(other, 'Last hour').waitFor()
  })

  it('says that the view has changed, and saves or drops the change', async () => {
    const { id } = await make('By type', { query: 'filter[type_start]=api:', range: '7d' })
    const page = await load(`?range=7d&filter[type_start]=api:&view=${id}`)
    await button(page, 'By type').waitFor()
    await button(page, 'Remove filter type starts with api:').click()
    await button(page, 'By type · changed').click()
    await panelOf(page).getByText('Changed since it was saved').waitFor()
    await button(panelOf(page), 'Show as saved').click()
    await expectShown(page, host.audit, 'filter[type_start]=api:')
    await button(page, 'By type').waitFor()
    await button(page, 'Remove filter type starts with api:').click()
    await button(page, 'By type · changed').click()
    await button(panelOf(page), 'Save').click()
    await panelOf(page).getByText('As saved', { exact: true }).waitFor()
    expect(await find('By type')).toMatchObject({ id, query: '', range: '7d' })
  })

  it('writes an absolute range into the query', async () => {
    const bounds =
      'filter[created_at_gteq]=2020-01-01T00%3A00%3A00Z&filter[created_at_lt]=2099-01-01T00%3A00%3A00Z'
    const page = await open(`?${bounds}#views`)
    await panelOf(page).getByText('The time range is fixed.').waitFor()
    await panelOf(page).getByLabel('Name').fill('Fixed')
    await page.keyboard.press('Enter')
    await panelOf(page).getByRole('heading', { name: 'Fixed' }).waitFor()
    expect(await find('Fixed')).toMatchObject({ query: bounds, range: null })
  })

  it('shows the objection of the service', async () => {
    const page = await openPage(`${host.page}#views`, { user: 'ann', tolerates: /422/ })
    await panelOf(page).getByLabel('Name').fill(' ')
    await button(panelOf(page), 'Save view').click()
    await panelOf(page).getByRole('alert').getByText('name must be a text').waitFor()
    await expect
      .poll(() => panelOf(page).getByLabel('Name').getAttribute('aria-invalid'), WAIT)
      .toBe('true')
  })
})

describe('the list', () => {
  it('renames, shares and deletes views of the user', async () => {
    await make('Mine')
    const page = await open('#views')
    await button(itemOf(page, 'Mine'), 'Rename').click()
    await panelOf(page).getByLabel('New name of Mine').fill('Ours')
    await page.keyboard.press('Enter')
    await button(itemOf(page, 'Ours'), 'Share').click()
    await itemOf(page, 'Ours').getByText('shared by you').waitFor()
    expect(await find('Ours')).toMatchObject({ shared: true })
    const reader = await open('#views', 'eve')
    await itemOf(reader, 'Ours').getByText('shared by ann').waitFor()
    await button(itemOf(page, 'Ours'), 'Stop sharing').click()
    await itemOf(page, 'Ours').getByText('only you').waitFor()
    await button(itemOf(page, 'Ours'), 'Delete').click()
    await page.getByText('Delete Ours?').waitFor()
    await page.keyboard.press('Escape')
    expect(await find('Ours')).toMatchObject({ shared: false })
    await button(itemOf(page, 'Ours'), 'Delete').click()
    await button(panelOf(page).getByRole('group', { name: 'Delete' }), 'Delete').click()
    await itemOf(page, 'Ours').waitFor({ state: 'detached' })
    expect(await find('Ours')).toBeUndefined()
  })

  it('finds views by a part of the name', async () => {
    for (let i = 0; i < 105; i++) await make(`found ${i}`, { shared: true }, i % 2 ? 'ann' : 'bob')
    const page = await open('#views')
    const items = panelOf(page).getByRole('listitem')
    await panelOf(page)
      .getByText(/more: type to find them/)
      .waitFor()
    expect(await items.count()).toBe(100)
    await panelOf(page).getByRole('searchbox').fill('FOUND 104')
    await expect.poll(() => items.count(), WAIT).toBe(1)
    await panelOf(page).getByRole('searchbox').fill('nowhere')
    await panelOf(page).getByText('No view contains nowhere').waitFor()
  })

  it('shows hostile names as text', async () => {
    const name = '<img src=x onerror=alert(1)>\u202Egpj.exe "quoted" & more'
    const { id } = await make(name, { shared: true })
    const page = await load(`?range=7d&view=${id}#views`, 'eve')
    await itemOf(page, name).waitFor()
    await panelOf(page).getByRole('heading', { name }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
  })
})

describe('rights', () => {
  it('decide which actions are offered', async () => {
    await make('Of bob', {}, 'bob')
    await make('Shared by bob', { shared: true }, 'bob')
    const reader = await open('#views', 'eve')
    await itemOf(reader, 'Shared by bob').waitFor()
    for (const name of ['Rename', 'Share', 'Stop sharing', 'Delete', 'Save view'])
      expect(await button(panelOf(reader), name).count(), name).toBe(0)
    const bob = await open('#views', 'bob')
    await button(itemOf(bob, 'Of bob'), 'Rename').waitFor()
    expect(await button(itemOf(bob, 'Of bob'), 'Share').count()).toBe(0)
    // The owner may end the sharing, but not change shared content.
    await button(itemOf(bob, 'Shared by bob'), 'Stop sharing').waitFor()
    expect(await button(itemOf(bob, 'Shared by bob'), 'Rename').count()).toBe(0)
    expect(await panelOf(bob).getByLabel('Share with all readers').count()).toBe(0)
  })

  it('to read events are the rights of the reader, not of the user who has shared the view', async () => {
    const limited = await serveStory({
      feed: {
        visible: ({ state }) => (state['username'] === 'eve' ? { username_eq: 'bob' } : 'all'),
      },
      views: { authorize: () => true },
    })
    onTestFinished(() => limited.close())
    const query = 'filter[username_in][]=ann&filter[username_in][]=bob'
    const { id } = await createViews(limited.audit).create(
      { name: 'Of both', query, range: '7d', display: {}, shared: true },
      'ann',
    )
    const page = await openPage(`${limited.page}?view=${id}`, { user: 'eve' })
    await button(page, 'Of both').waitFor()
    const ids = await matching(limited.audit, 'filter[username_eq]=bob')
    await expect
      .poll(() => rowIds(page).then((all) => all.slice(0, 5)), WAIT)
      .toEqual(ids.slice(0, 5))
    // The header is a row too. The number is known once the events are counted.
    await expect
      .poll(() => page.getByRole('grid').getAttribute('aria-rowcount'), WAIT)
      .toBe(String(ids.length + 1))
  })

  it('are not shown if the service has no views', async () => {
    const without = await servePage()
    onTestFinished(() => without.close())
    const page = await openPage(`${without.page}#views`, { user: 'ann' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await button(page, 'Views').count()).toBe(0)
    expect(await panelOf(page).count()).toBe(0)
  })
})

describe('an address', () => {
  it('that names only a view shows the view', async () => {
    const query = 'filter[username_eq]=ann'
    const { id } = await make('Of ann', { query, range: '7d', shared: true })
    const page = await load(`?view=${id}`, 'eve')
    await expectShown(page, host.audit, query)
    await button(page, 'Of ann').waitFor()
    expect(new URL(page.url()).searchParams.get('range')).toBe('7d')
  })

  it('that names a view and more shows the rest, as a change', async () => {
    const { id } = await make('Day', { range: '24h' })
    const page = await load(`?range=1h&filter[username_eq]=ann&view=${id}`)
    await button(page, 'Day · changed').waitFor()
    expect(addressed(page).where?.conditions).toHaveLength(1)
  })

  it('that says more about the display than the view is a change', async () => {
    const { id } = await make('Plain', { range: '7d' })
    const page = await load(`?range=7d&view=${id}&facets=system`)
    await button(page, 'Plain · changed').click()
    await button(panelOf(page), 'Show as saved').click()
    await button(page, 'Plain').waitFor()
    expect(new URL(page.url()).search).toBe(`?range=7d&view=${id}`)
  })

  it('that names a view of another user reports that the view is missing', async () => {
    const { id } = await make('Private', {}, 'bob')
    const page = await load(`?range=7d&view=${id}`)
    await rowsOf(page).first().waitFor()
    await page.getByText('There is no such view, or you may not see it').first().waitFor()
    await button(page, 'Views').waitFor()
  })
})
