import type { AuditEvent, JsonValue } from 'daybook'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { shareHost } from './shared-host.js'
import { copied, rowOf, WAIT } from './shown.js'

/* The history of a resource. */

const PROJECT = '0190b6a4-64a1-7000-8000-000000000001'
const SOURCE = `/api/projects/${PROJECT}`

const host = shareHost(servePage)
const events: AuditEvent[] = []

async function record(
  action: 'create' | 'update' | 'destroy',
  before: JsonValue,
  after: JsonValue,
  username: string,
): Promise<void> {
  const data = { project_id: PROJECT, name: 'acme' }
  const options = { data, username }
  events.push((await host.audit.recordChange(`api:projects:${action}`, before, after, options))!)
}

const FIRST = { description: 'Storefront', limits: { parallel: 4 }, token: 'a' }
const SECOND = { description: 'Storefront and returns', limits: { parallel: 4 }, token: 'b' }
const THIRD = { description: 'Storefront and returns', limits: { parallel: 0 }, token: 'b' }
const FOURTH = { ...THIRD, description: 'Returns' }

beforeAll(async () => {
  await record('create', null, FIRST, 'ann')
  await record('update', FIRST, SECOND, 'ann')
  await record('update', SECOND, THIRD, 'bob')
  await record('update', THIRD, FOURTH, 'eve')
})

const history = (page: Page) => page.getByRole('complementary', { name: 'History' })
const entries = (page: Page) => history(page).locator('.timeline > li')
const entryOf = (page: Page, { id }: AuditEvent) => history(page).locator(`[data-id="${id}"]`)
async function expectState(page: Page, title: RegExp, values: readonly string[]): Promise<void> {
  const state = history(page).getByRole('region', { name: title })
  await expect.poll(() => state.locator('dl > div').allTextContents(), WAIT).toEqual(values)
}

const expectEntries = (page: Page, expected: readonly AuditEvent[]) =>
  expect
    .poll(
      () => entries(page).evaluateAll((all) => all.map((one) => one.getAttribute('data-id'))),
      WAIT,
    )
    .toEqual(expected.map(({ id }) => id).toReversed())

const open = (address = `#history?source=${SOURCE}`): Promise<Page> =>
  host.visit(`${host.page}?range=all${address}`, { user: 'ann' })

const NOW = ['descriptionReturns', 'limits.parallel0', 'token[redacted]not stored']

it('opens from the panel of an event, and returns to it', async () => {
  const page = await open('')
  await rowOf(page, events[1]!.id).click()
  const panel = page.getByRole('complementary', { name: 'Event' })
  await panel.getByRole('definition').getByRole('button', { name: 'History' }).click()
  await history(page).getByRole('heading', { name: 'History of project acme' }).waitFor()
  await expectEntries(page, events)
  await expectState(page, /^As it is now/, NOW)
  expect(decodeURIComponent(new URL(page.url()).hash)).toBe(`#history?source=${SOURCE}`)
  await page.keyboard.press('Escape')
  await panel.getByText(events[1]!.id, { exact: true }).waitFor()
})

describe('a change in the history', () => {
  it('shows the changed values', async () => {
    const page = await open()
    const entry = entryOf(page, events[2]!)
    await entry.waitFor()
    expect(await entry.getByRole('heading').allTextContents()).toEqual(['limits.parallel'])
    expect(await entry.locator('.diff').textContent()).toMatch(/−before4\+after0/)
  })

  it('shows the state after it, at another address', async () => {
    const page = await open()
    await entryOf(page, events[1]!).getByRole('button', { name: 'As it was then' }).click()
    const then = [
      'descriptionStorefront and returns',
      'limits.parallel4',
      'token[redacted]not stored',
    ]
    await expectState(page, /^As it was at/, then)
    await expectEntries(page, events.slice(0, 2))
    await history(page).getByText('2 later changes are hidden.').waitFor()
    const link = await copied(page, () =>
      history(page).getByRole('button', { name: 'Copy link to this history' }).click(),
    )
    expect(link).toContain(`as_of=${events[1]!.created_at}`)
    const other = await openPage(link, { user: 'bob' })
    await expectState(other, /^As it was at/, then)
    await other.close()
    await history(page).getByRole('button', { name: 'Show all' }).click()
    await expectState(page, /^As it is now/, NOW)
    await page.goBack()
    await expectState(page, /^As it was at/, then)
  })

  it('lists the values that undoing it would change now, and the values that were changed again', async () => {
    const page = await open()
    const third = entryOf(page, events[2]!)
    await third.getByRole('button', { name: 'Undo?' }).click()
    const undo = third.locator('.undo')
    expect(await undo.locator('.diff').textContent()).toMatch(/limits\.parallel−before0\+after4/)
    expect(await undo.getByText('Changed again since').count()).toBe(0)
    const patch = await copied(page, () =>
      undo.getByRole('button', { name: 'Copy JSON Patch' }).click(),
    )
    expect(JSON.parse(patch)).toEqual([
      { op: 'test', path: '/limits/parallel', value: 0 },
      { op: 'replace', path: '/limits/parallel', value: 4 },
    ])
    const second = entryOf(page, events[1]!)
    await second.getByRole('button', { name: 'Undo?' }).click()
    await second.getByText('the old value of /token is redacted').waitFor()
    const first = entryOf(page, events[0]!)
    await first.getByRole('button', { name: 'Undo?' }).click()
    await expect.poll(() => first.getByText('Changed again since').count(), WAIT).toBe(2)
  })
})

describe('the time of the state', () => {
  it('is typed in the time zone of the page', async () => {
    const at = Date.parse(events[3]!.created_at) + 60_000
    const page = await open()
    const field = history(page).getByLabel('As it was at', { exact: true })
    await field.fill(new Date(at).toISOString().slice(0, 19))
    await page.keyboard.press('Enter')
    await expectState(page, /^As it was at/, NOW)
    expect(page.url()).toContain(`as_of=${new Date(at).toISOString().slice(0, 19)}Z`)
    await field.fill('2020-01-01T00:00:00')
    await page.keyboard.press('Enter')
    await history(page).getByText('Nothing was recorded of it until then.').waitFor()
    await history(page).getByText('4 later changes are hidden.').waitFor()
    await history(page).getByRole('button', { name: 'Now' }).click()
    await expectState(page, /^As it is now/, NOW)
  })
})

describe('a resource', () => {
  const orderAddress = (id: string): string => `#history?resource[order_id]=${id}`
  const recordOrder = async (action: string, data: object): Promise<AuditEvent> =>
    (await host.audit.recordSystem(`api:orders:${action}`, data, { username: 'ann' }))!

  it('identified by an attribute has a history too', async () => {
    const order_id = '50% off & more'
    const created = await recordOrder('create', { order_id, after: { total: 1 } })
    const page = await open(`#event=${created.id}`)
    await page.getByRole('button', { name: 'History' }).click()
    await history(page)
      .getByRole('heading', { name: `History of order_id ${order_id}` })
      .waitFor()
    await expectState(page, /^As it is now/, ['total1'])
    await page.reload()
    await expectState(page, /^As it is now/, ['total1'])
    await expectEntries(page, [created])
  })

  it('without a known state says so', async () => {
    const order_id = 'unknown'
    const change = (old_value: number, value: number) =>
      recordOrder('update', {
        order_id,
        changes: [{ op: 'replace', path: '/total', value, old_value }],
      })
    const first = await change(1, 2)
    await change(5, 6)
    const page = await open(orderAddress(order_id))
    const state = history(page).getByRole('region', { name: 'As it is now' })
    await state.getByText('The state is not known').waitFor()
    const entry = entryOf(page, first)
    await entry.getByText('The state after this change is not known.').waitFor()
    await entry.getByRole('button', { name: 'Undo?' }).click()
    await entry.getByText('may have been changed again since').waitFor()
  })

  it('that was deleted does not exist', async () => {
    const order_id = 'deleted'
    await recordOrder('create', { order_id, after: { total: 1 } })
    const last = await recordOrder('destroy', { order_id, before: { total: 1 } })
    const page = await open(orderAddress(order_id))
    await history(page).getByText('It does not exist: it was deleted.').waitFor()
    const entry = entryOf(page, last)
    await entry.getByText('Deleted: it does not exist after this change.').waitFor()
    expect(await entry.locator('.diff').textContent()).toMatch(/totalremoved−before1/)
  })

  it('without a recorded change says so', async () => {
    const page = await open(orderAddress('none'))
    await history(page).getByText('No change of this resource is recorded.').waitFor()
  })

  it('with many changes shows the latest ones first', async () => {
    const order_id = 'many'
    const all: AuditEvent[] = []
    for (let n = 0; n < 45; n++)
      all.push(await recordOrder('update', { order_id, before: { n }, after: { n: n + 1 } }))
    const page = await open(orderAddress(order_id))
    await expectEntries(page, all.slice(25))
    await history(page).getByRole('button', { name: 'Show earlier changes (25)' }).click()
    await expectEntries(page, all.slice(5))
    await history(page).getByRole('button', { name: 'Show earlier changes (5)' }).click()
    await expectEntries(page, all)
    await history(page)
      .getByRole('button', { name: /^Show earlier/ })
      .waitFor({ state: 'detached' })
  })
})

it('warns that changes may be missing if a user sees only a part of the log', async ({
  onTestFinished,
}) => {
  const restricted = await servePage({
    feed: { visible: () => ({ username_eq: 'ann' }) },
  })
  onTestFinished(() => restricted.close())
  const data = { project_id: PROJECT }
  for (const username of ['ann', 'bob'])
    await restricted.audit.recordChange(
      'api:projects:create',
      null,
      { username },
      {
        username,
        data,
      },
    )
  const page = await openPage(`${restricted.page}?range=all#history?source=${SOURCE}`, {
    user: 'eve',
  })
  await expectState(page, /^As it is now/, ['usernameann'])
  await history(page).getByText('Changes that you may not see are missing here').waitFor()
})
