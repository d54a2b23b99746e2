import { type AuditLog, parseQuery, type Subscription } from 'daybook'
import type { SubscriptionsAction } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { addToParkedCount, changeStates, keyOf, parkedKey } from '../../src/subscriptions/states.js'
import { keepPages, openPage } from '../support/browser.js'
import { type PageHost, servePage } from '../support/page-host.js'
import { closeReceivers, receive, type Receiver } from '../support/receiver.js'
import { dayOfEvents } from '../support/story.js'
import { webhookKind } from '../support/webhook-kind.js'
import { copied, rowsOf, WAIT } from './shown.js'

/* Subscriptions and channels on the page. */

const READING = /:(?:list|read|parked|describe)$/

/** `eve` only reads, `bob` may do nothing. */
const authorize = (
  { state }: { readonly state: Readonly<Record<string, unknown>> },
  action: SubscriptionsAction,
): boolean | 'all' => {
  const user = state['username']
  return (user === 'ann' || (user === 'eve' && READING.test(action))) && 'all'
}

const visit = keepPages()
const store = memoryStore()
let host: PageHost
let receiver: Receiver

beforeAll(async () => {
  receiver = await receive((received, response) =>
    response.writeHead(received.path === '/full' ? 507 : 204).end(),
  )
  host = await servePage({
    store,
    events: dayOfEvents(Date.now() * 1000 - 2_000_000),
    subscriptions: {
      channels: { search: { deliver: () => {} } },
      subscriptions: { everything: { channel: 'search' } },
      kinds: { webhook: webhookKind, note: webhookKind },
      secretsKey: Buffer.alloc(32, 1).toString('base64'),
    },
    management: { authorize },
  })
})
afterAll(async () => {
  await host.close()
  await closeReceivers()
})

const hook = (path = '/hook'): string => `http://127.0.0.1:${receiver.port}${path}`

const managed = (): AuditLog['subscriptions'] => host.audit.subscriptions

const panelOf = (page: Page): Locator =>
  page.getByRole('complementary', { name: 'Subscriptions and channels' })
const button = (inside: Page | Locator, name: string): Locator =>
  inside.getByRole('button', { name, exact: true })
const headed = (page: Page, name: string): Promise<void> =>
  panelOf(page).getByRole('heading', { name, level: 2, exact: true }).waitFor()

const open = (address: string, user = 'ann', tolerates?: RegExp): Promise<Page> =>
  visit(`${host.page}${address}`, { user, ...(tolerates && { tolerates }) })

/** The subscription with this name; `undefined` if there is none. */
const find = async (name: string): Promise<Subscription | undefined> =>
  (await managed().list()).find((one) => one.name === name)
const statusOf = async (name: string) =>
  (await managed().status()).find((one) => one.name === name)!

/** A channel that posts to a path of the receiver, and a subscription to it. */
async function subscribed(name: string, filter: string, path = `/${name}`): Promise<Subscription> {
  const config = { url: hook(path) }
  await managed().channels.create({ name: `to-${name}`, kind: 'webhook', config })
  return managed().create({ name, channel: `to-${name}`, filter })
}

const receivedAt = (path: string): number =>
  receiver.requests.filter((request) => request.path === path).length

describe('the links', () => {
  it('are shown where subscriptions can be managed, if the user has the right', async () => {
    const page = await open('')
    await button(page, 'Alert me').waitFor()
    await button(page, 'Subscriptions').waitFor()
    const reader = await open('#subscriptions', 'eve')
    await button(panelOf(reader), 'everything').click()
    await headed(reader, 'everything')
    await panelOf(reader).getByText('No parked events.').waitFor()
    await expect.poll(() => button(reader, 'Subscriptions').count(), WAIT).toBe(2)
    for (const name of ['Alert me', 'Subscribe', 'Pause', 'Test', 'Replay', 'Delete'])
      expect(await button(reader, name).count(), name).toBe(0)
  })

  it('are missing where subscriptions cannot be managed', async () => {
    const rights = '/api/subscriptions/me'
    const page = await openPage('about:blank', { user: 'bob' })
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith(rights)),
      page.goto(host.page),
    ])
    expect(answer.status()).toBe(200)
    await rowsOf(page).first().waitFor()
    expect(await button(page, 'Subscriptions').count()).toBe(0)

    const without = await servePage({ events: dayOfEvents(Date.now() * 1000 - 2_000_000) })
    onTestFinished(() => without.close())
    const plain = await openPage(`${without.page}#subscriptions`, { user: 'ann' })
    await plain.getByRole('heading', { level: 1, name: /events$/ }).waitFor()
    expect(await button(plain, 'Subscriptions').count()).toBe(0)
    expect(await panelOf(plain).count()).toBe(0)
  })
})

describe('Alert me', () => {
  it('delivers new events of the shown filter to a new channel, and shows its secret once', async () => {
    const page = await open('?range=1h&filter[username_eq]=ann&filter[sorts][]=type+desc')
    await button(page, 'Alert me').click()
    await headed(page, 'New subscription')
    const form = panelOf(page)
    await form.getByText('user is ann').waitFor()
    await form.getByLabel('Name', { exact: true }).fill('of-ann')
    await form.getByLabel('Channel', { exact: true }).selectOption('New channel: webhook')
    await form.getByLabel('Name of the channel').fill('hook-of-ann')
    await form.getByLabel('URL').fill(hook('/of-ann'))
    await button(form, 'Subscribe').click()
    await headed(page, 'of-ann')
    const secret = form.getByRole('region', { name: 'Secret of hook-of-ann' })
    const text = await copied(page, () => button(secret, 'Copy the secret').click())
    expect(text).toMatch(/^whsec_/)
    await button(secret, 'I have stored it').click()
    await secret.waitFor({ state: 'detached' })

    const made = (await find('of-ann'))!
    expect(made).toMatchObject({ channel: 'hook-of-ann', owner: 'ann', whenStuck: 'park' })
    expect(parseQuery(made.filter)).toEqual(parseQuery('filter[username_eq]=ann'))
    await host.audit.recordCustom('unseen', {}, { username: 'bob' })
    await host.audit.recordCustom('seen', {}, { username: 'ann' })
    const received = (): string =>
      receiver.requests.map(({ path, body }) => (path === '/of-ann' ? body : '')).join()
    await expect.poll(received, WAIT).toContain('"type":"seen"')
    expect(received()).not.toContain('unseen')
    await form.getByText(/^\d+ events?$/).waitFor(WAIT)
    const { events } = await host.audit.list('filter[type_eq]=api:subscriptions:create')
    expect(events.map(({ username }) => username)).toContain('ann')
  })

  it('begins at a time that the user chooses', async () => {
    await host.audit.recordCustom('past')
    await host.audit.recordCustom('past')
    const page = await open('?range=24h&filter[type_eq]=past')
    await button(page, 'Alert me').click()
    const form = panelOf(page)
    await form.getByLabel('Name', { exact: true }).fill('of-past')
    await form.getByLabel('Channel', { exact: true }).selectOption('search')
    await form.getByLabel('The first event').check()
    await button(form, 'Subscribe').click()
    await headed(page, 'of-past')
    await expect.poll(async () => (await statusOf('of-past')).delivered, WAIT).toBe(2)
  })

  it('shows the objection of the service, and focuses the field', async () => {
    await subscribed('taken', '')
    const page = await open('#subscriptions=new', 'ann', /subscriptions|channels/)
    const form = panelOf(page)
    await form.getByLabel('Name', { exact: true }).fill('taken')
    await form.getByLabel('Channel', { exact: true }).selectOption('search')
    await button(form, 'Subscribe').click()
    await form
      .getByRole('alert')
      .getByText(/taken already/)
      .waitFor()
    const focused = () => page.evaluate<string>('document.activeElement.name')
    await expect.poll(focused, WAIT).toBe('name')
    await form.getByLabel('Channel', { exact: true }).selectOption('New channel: note')
    await form.getByLabel('Name of the channel').fill('noted')
    await form.getByLabel('Settings').fill('{')
    await button(form, 'Subscribe').click()
    await form.getByText('This is not a JSON object.').waitFor()
    expect(await managed().channels.list()).not.toContainEqual(
      expect.objectContaining({ name: 'noted' }),
    )
  })
})

describe('a subscription', () => {
  it('can be found in the list, paused, resumed and tested', async () => {
    await subscribed('pausing', 'filter[type_eq]=pausing')
    const page = await open('?range=24h')
    await button(page, 'Subscriptions').click()
    await headed(page, 'Subscriptions')
    await button(panelOf(page), 'pausing').click()
    await headed(page, 'pausing')
    const panel = panelOf(page)
    await button(panel, 'Pause').click()
    await button(panel, 'Resume').waitFor()
    expect((await find('pausing'))!.paused).toBe(true)
    await panel.getByText('paused', { exact: true }).waitFor()
    await button(panel, 'Resume').click()
    await button(panel, 'Pause').waitFor()
    expect((await find('pausing'))!.paused).toBe(false)
    await button(panel, 'Test').click()
    await panel.getByText(/^The channel accepted a test event in /).waitFor()
    const request = receiver.requests.find(({ path }) => path === '/pausing')
    expect(request!.body).toContain('daybook:test')
    await page.goBack()
    await headed(page, 'Subscriptions')
  })

  it('says why a test failed', async () => {
    const { id } = await subscribed('refused', 'filter[type_eq]=none', '/full')
    const page = await open(`#subscriptions=${id}`)
    await button(panelOf(page), 'Test').click()
    await panelOf(page).getByText('The test event was not accepted: refused, status 507.').waitFor()
  })

  it('is replayed from the part of the chart that is shown', async () => {
    const { id } = await subscribed('replayed', 'filter[type_eq]=replayed')
    await host.audit.recordCustom('replayed')
    await expect.poll(() => receivedAt('/replayed'), WAIT).toBe(1)
    const page = await open(`?range=1h&filter[type_eq]=replayed#subscriptions=${id}`)
    await page.getByRole('heading', { level: 1, name: '1 event' }).waitFor()
    await headed(page, 'replayed')
    // Opening the panel moves the focus to its heading.
    await expect.poll(() => page.evaluate('document.activeElement.localName'), WAIT).toBe('h2')
    await page.getByRole('group', { name: /^Chart/ }).focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    const shownFrom = () => new URL(page.url()).searchParams.get('filter[created_at_gteq]')
    await expect.poll(shownFrom, WAIT).not.toBeNull()
    const panel = panelOf(page)
    await panel.getByLabel(/^The chart: /).check()
    const [request] = await Promise.all([
      page.waitForRequest('**/replay'),
      button(panel, 'Replay').click(),
    ])
    const { meta } = request.postDataJSON() as { meta: { from: string } }
    expect(Date.parse(meta.from)).toBe(Date.parse(shownFrom()!))
    await expect.poll(() => receivedAt('/replayed'), WAIT).toBe(2)
  })

  it('is replayed from a time if the chart is empty', async () => {
    const { id } = (await find('everything'))!
    const page = await open(`?range=1h&filter[username_eq]=nobody#subscriptions=${id}`)
    const replay = panelOf(page).getByRole('region', { name: 'Replay' })
    await replay.getByRole('radio', { name: 'A time', checked: true }).waitFor()
    expect(await replay.getByRole('radio', { name: /^The chart/ }).count()).toBe(0)
    await replay.getByLabel('A time').last().fill('2026-01-02T03:04:05')
    const [request] = await Promise.all([
      page.waitForRequest('**/replay'),
      button(replay, 'Replay').click(),
    ])
    expect(request.postDataJSON()).toEqual({ meta: { from: '2026-01-02T03:04:05Z' } })
  })

  it('shows parked events, which are delivered again or discarded', async () => {
    const { id } = await subscribed('parking', 'filter[type_eq]=none')
    const { events } = await host.audit.list('limit=3')
    for (const { id: event_id, created_at } of events) {
      const last_error = { at: created_at, kind: 'status', status: 422 } as const
      const parked = { event_id, created_at, parked_at: created_at, attempts: 3, error: 'too long' }
      const key = parkedKey(id, created_at)
      await changeStates(store, [key, keyOf('parkedCount', id)], (all) => {
        all.set(key, { ...parked, last_error })
        addToParkedCount(all, id, 1)
      })
    }
    const page = await open(`#subscriptions=${id}`)
    const parked = panelOf(page).getByRole('region', { name: 'Parked events' })
    const items = parked.getByRole('listitem')
    await expect.poll(() => items.count(), WAIT).toBe(3)
    await items.first().getByText('too long').waitFor()
    await button(items.first(), 'Deliver again').click()
    await expect.poll(() => items.count(), WAIT).toBe(2)
    expect(receivedAt('/parking')).toBe(1)
    await button(parked, 'Discard all').click()
    await parked.getByText(/^Discard 2 events\?/).waitFor()
    await button(parked, 'Discard all').click()
    await parked.getByText('No parked events.').waitFor(WAIT)
    expect(await managed().parked(id)).toEqual([])
    expect(receivedAt('/parking')).toBe(1)
  })

  it('is edited, and deleted after a question', async () => {
    const { id } = await subscribed('edited', 'filter[type_eq]=none')
    const page = await open(`?range=24h&filter[username_eq]=eve#subscriptions=${id}`)
    const panel = panelOf(page)
    await button(panel, 'Edit').click()
    await panel.getByLabel('Name', { exact: true }).fill('edited-too')
    await button(panel, 'Use the filter of the list').click()
    await panel.getByLabel('stops the deliveries').check()
    await button(panel, 'Save').click()
    await headed(page, 'edited-too')
    expect(await find('edited-too')).toMatchObject({ id, whenStuck: 'hold', channel: 'to-edited' })
    expect((await find('edited-too'))!.filter).toContain('username_eq')

    await button(panel, 'Delete').click()
    await panel.getByText(/^Delete edited-too\?/).waitFor()
    await page.keyboard.press('Escape')
    expect(await find('edited-too')).toBeDefined()
    await button(panel, 'Delete').click()
    await button(panel, 'Delete').click()
    await headed(page, 'Subscriptions')
    expect(await find('edited-too')).toBeUndefined()
  })

  it('in code is marked, and cannot be edited', async () => {
    const { id } = (await find('everything'))!
    const page = await open(`#subscriptions=${id}`)
    await panelOf(page)
      .getByText(/^Part of the code of the service/)
      .waitFor()
    await button(panelOf(page), 'Pause').waitFor()
    expect(await button(panelOf(page), 'Edit').count()).toBe(0)
  })

  it('that is missing is reported', async () => {
    const page = await open('#subscriptions=00000000-0000-4000-8000-000000000000')
    await headed(page, 'No such subscription')
  })
})

describe('a channel', () => {
  it('is created, changed, given a new secret, disabled, enabled and deleted', async () => {
    const page = await open('#channels', 'ann', /channels/)
    const panel = panelOf(page)
    await headed(page, 'Channels')
    await button(panel, 'New channel').click()
    await panel.getByLabel('Name of the channel').fill('siem')
    await panel.getByLabel('URL').fill(hook('/siem'))
    await button(panel, 'New channel').click()
    await headed(page, 'siem')
    const secret = panel.getByRole('region', { name: 'Secret of siem' })
    const first = await secret.locator('code').textContent()
    const channel = async () =>
      (await managed().channels.list()).find(({ name }) => name === 'siem')
    const { id } = (await channel())!
    await managed().create({ name: 'uses-siem', channel: 'siem', filter: 'filter[type_eq]=none' })

    await button(panel, 'New secret').click()
    await button(panel, 'New secret').click()
    await expect.poll(() => secret.locator('code').textContent(), WAIT).not.toBe(first)
    await button(secret, 'I have stored it').click()

    await button(panel, 'Edit').click()
    await panel.getByLabel('URL').fill(hook('/siem-2'))
    await button(panel, 'Save').click()
    await panel.getByText(hook('/siem-2')).waitFor()
    expect((await channel())!.config).toEqual({ url: hook('/siem-2') })

    await button(panel, 'Disable').click()
    await button(panel, 'Disable').click()
    await panel.getByText('disabled', { exact: true }).waitFor()
    expect((await channel())!.enabled).toBe(false)
    await button(panel, 'Enable').click()
    await panel.getByText('enabled', { exact: true }).waitFor()
    await button(panel, 'Test').click()
    await panel.getByText(/^The channel accepted a test event/).waitFor()

    await button(panel, 'Delete').click()
    await button(panel, 'Delete').click()
    await panel.getByRole('alert').waitFor()
    expect(await managed().channels.get(id)).toBeDefined()
    await managed().remove((await find('uses-siem'))!.id)
    await button(panel, 'Delete').click()
    await button(panel, 'Delete').click()
    await headed(page, 'Channels')
    expect(await managed().channels.get(id)).toBeUndefined()
  })
})

describe('the panel', () => {
  it('is used with the keyboard, and returns the focus', async () => {
    const page = await open('?range=24h')
    await button(page, 'Subscriptions').focus()
    await page.keyboard.press('Enter')
    await headed(page, 'Subscriptions')
    expect(new URL(page.url()).hash).toBe('#subscriptions')
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    await expect.poll(focused, WAIT).toBe('Subscriptions')
    await page.keyboard.press('Escape')
    await panelOf(page).waitFor({ state: 'detached' })
    expect(new URL(page.url()).hash).toBe('')
    await expect.poll(focused, WAIT).toBe('Subscriptions')
    expect(await page.evaluate('document.activeElement.localName')).toBe('button')
  })

  it('gives way to an event, and comes back', async () => {
    const page = await open('?range=24h#subscriptions')
    await headed(page, 'Subscriptions')
    await rowsOf(page).nth(1).click()
    await page.getByRole('complementary', { name: 'Event' }).waitFor()
    await panelOf(page).waitFor({ state: 'detached' })
    await page.goBack()
    await headed(page, 'Subscriptions')
  })

  it('reports that the service does not answer, and retries', async () => {
    const page = await openPage('about:blank', { user: 'ann', tolerates: /503|subscriptions/ })
    let isDown = true
    await page.route('**/api/subscriptions', (route) =>
      isDown ? route.fulfill({ status: 503, body: '' }) : route.continue(),
    )
    await page.goto(`${host.page}#subscriptions`)
    await panelOf(page)
      .getByRole('alert')
      .getByText(/answered with 503/)
      .waitFor()
    isDown = false
    await button(panelOf(page), 'Try again').click()
    await button(panelOf(page), 'everything').waitFor()
    await panelOf(page).getByRole('alert').waitFor({ state: 'detached' })
  })

  it('fills a phone, without scrolling sideways', async () => {
    const viewport = { width: 360, height: 740 }
    const page = await openPage(`${host.page}?range=24h`, { user: 'ann', viewport })
    await button(page, 'Alert me').click()
    await headed(page, 'New subscription')
    await panelOf(page).getByLabel('Channel', { exact: true }).selectOption('New channel: note')
    const tooWide = () =>
      page.evaluate<number>(
        `[...document.querySelectorAll('html, .panel-body')].filter((part) => part.scrollWidth > part.clientWidth + 1).length`,
      )
    await expect.poll(tooWide, WAIT).toBe(0)
    await button(panelOf(page), 'Cancel').click()
    await headed(page, 'Subscriptions')
    await button(panelOf(page), 'Back to the list').click()
    await panelOf(page).waitFor({ state: 'detached' })
  })
})
