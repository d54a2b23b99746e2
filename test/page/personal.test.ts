import type { AuditEvent } from 'daybook'
import { memorySubjectKeys } from 'daybook/memory'
import { workflowEventTypes } from 'daybook/workflow'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { servePage } from '../support/page-host.js'
import { violationsOf } from './axe.js'
import { shareHost } from './shared-host.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

/* Encrypted and erased personal values on the page. */

const UPDATE = 'api:projects:update'
const PROJECT = '0190b6a4-64a1-7000-8000-000000000001'
const SOURCE = `/api/projects/${PROJECT}`

const types = {
  ...workflowEventTypes,
  [UPDATE]: {
    ...workflowEventTypes[UPDATE],
    sentence: 'changed the contact of **{name}**[ to {request_body_contact}]',
    personal: [
      {
        subject: { kind: 'user', from: '@username' },
        attributes: ['user_agent', 'request_body_contact', 'contact'],
      },
    ],
  },
}

const host = shareHost(() =>
  servePage({
    types,
    privacy: { keys: memorySubjectKeys() },
    feed: {
      authorize: ({ state }, action) => action !== 'personal' || state['username'] === 'ann',
    },
  }),
)

/** Records a change by the user, and returns its event. */
async function change(username: string, before: string, after: string): Promise<AuditEvent> {
  const data = {
    name: 'acme',
    project_id: PROJECT,
    user_agent: `Agent of ${username}`,
    request_body: { contact: after, plan: 'basic' },
  }
  const states = [before, after].map((contact) => ({ plan: 'basic', contact }))
  const event = await host.audit.recordChange(UPDATE, states[0]!, states[1]!, { data, username })
  return event!
}

let event: AuditEvent
let other: AuditEvent
let erased: AuditEvent
let refOfBob: string

const ERASED = /^Personal data erased on [A-Z][a-z]+ \d{1,2}, \d{4}/
const ENCRYPTED = 'Personal data, encrypted'

beforeAll(async () => {
  erased = await change('eve', 'eve@example.com', 'eve@example.org')
  await host.audit.erase({ user: 'eve' }, { reason: 'request 4711', username: 'dpo' })
  other = await change('ann', 'ann@example.com', 'ann@example.org')
  event = await change('bob', 'bob@example.com', 'bob@example.org')
  const [part] = event.attributes['personal'] as unknown as readonly { readonly subject: string }[]
  refOfBob = part!.subject
})

const panel = (page: Page) => page.getByRole('complementary', { name: 'Event' })
const row = (page: Page) => panel(page).locator('.personal')
const attributes = (page: Page) => panel(page).getByRole('tree', { name: 'Attributes' })
const rowIs = (page: Page) => expect.poll(() => row(page).innerText(), WAIT)

const open = async (
  { id }: AuditEvent,
  { user = 'ann', ...options }: OpenPageOptions = {},
): Promise<Page> => {
  const page = await openPage(`${host.page}?range=all#event=${id}`, { user, ...options })
  await rowOf(page, id).waitFor()
  return page
}

describe('a personal value', () => {
  it('is named as encrypted or erased in the list, as a column, and in the report', async () => {
    const page = await openPage(`${host.page}?range=all&columns=what,personal`, { user: 'bob' })
    const text = (of: AuditEvent) => expect.poll(() => rowOf(page, of.id).innerText(), WAIT)
    await text(event).toMatch(
      new RegExp(`changed the contact of acme\\s+${ENCRYPTED}\\s+${ENCRYPTED}$`),
    )
    await text(erased).toMatch(/changed the contact of acme\s+Personal data erased on /)
    await page.keyboard.press('p')
    const report = page.getByRole('dialog', { name: 'Report' })
    const printed = report.getByRole('row').filter({ hasText: event.id })
    await printed.waitFor()
    expect(await printed.innerText()).toContain(ENCRYPTED)
    const gone = report.getByRole('row').filter({ hasText: erased.id })
    expect(await gone.innerText()).toContain('Personal data erased on ')
    expect(await report.innerText()).not.toMatch(/@example|Agent of/)
  })

  it('is not in the panel, whose user may not see it', async () => {
    const page = await open(event, { user: 'bob' })
    await rowIs(page).toBe(`${ENCRYPTED}\nAll events of this person`)
    expect(await attributes(page).getByText('personal', { exact: true }).count()).toBe(0)
    const changes = panel(page).getByRole('region', { name: 'Changes' })
    expect(await changes.locator('.diff').innerText()).toMatch(/^contact\s*encrypted$/)
    expect(await panel(page).innerText()).not.toMatch(/@example|Agent of/)
  })

  it('is shown at its place on request, until another event is opened', async () => {
    const page = await open(event)
    await row(page).getByRole('button', { name: 'Show' }).click()
    await rowIs(page).toContain('Hide')
    const contact = attributes(page).getByRole('treeitem').filter({ hasText: 'bob@example.org' })
    expect(await contact.innerText()).toMatch(/^contact\s+"bob@example\.org"\s+personal/)
    // Nothing can be found by an encrypted value.
    expect(await contact.getByRole('button', { name: 'is', exact: true }).count()).toBe(0)
    const plan = attributes(page).getByRole('treeitem').filter({ hasText: 'plan' })
    expect(await plan.first().innerText()).not.toContain('personal')
    const changes = panel(page).getByRole('region', { name: 'Changes' })
    expect(await changes.innerText()).toMatch(/bob@example\.com[\s\S]*bob@example\.org/)
    expect(await panel(page).locator('.facts').innerText()).toContain('Agent of bob')
    await panel(page)
      .getByRole('heading', { name: /contact of acme to bob@example\.org/ })
      .waitFor()
    expect(await violationsOf(page, undefined, `'.panel'`)).toEqual([])

    await row(page).getByRole('button', { name: 'Hide' }).click()
    await rowIs(page).toContain(ENCRYPTED)
    await row(page).getByRole('button', { name: 'Show' }).click()
    await rowIs(page).toContain('Hide')
    await page.evaluate(`location.hash = '#event=${other.id}'`)
    await panel(page).getByText(other.id).waitFor()
    await page.evaluate(`location.hash = '#event=${event.id}'`)
    await panel(page).getByText(event.id).waitFor()
    await rowIs(page).toContain(ENCRYPTED)
    expect(await panel(page).innerText()).not.toContain('@example')
  })

  it('is named as erased, and cannot be shown', async () => {
    const page = await open(erased)
    await rowIs(page).toMatch(ERASED)
    expect(await row(page).getByRole('button', { name: 'Show' }).count()).toBe(0)
    const changes = panel(page).getByRole('region', { name: 'Changes' })
    expect(await changes.locator('.diff').innerText()).toMatch(/^contact\s*erased$/)
  })

  it.each([
    [503, 'KEYS_UNAVAILABLE', 'The keys cannot be reached'],
    [403, 'FORBIDDEN', 'Your role may not see personal data'],
    [500, 'INTERNAL', 'broken'],
  ])('that cannot be shown has a reason: %s %s', async (status, code, text) => {
    const page = await open(event, { tolerates: /personal=open|Failed to load/ })
    const problem = { status: String(status), code, title: '', detail: 'broken' }
    await page.route('**/*personal=open*', (route) =>
      route.fulfill({ status, json: { errors: [problem] } }),
    )
    await row(page).getByRole('button', { name: 'Show' }).click()
    await rowIs(page).toContain(text)
    await rowIs(page).toContain(ENCRYPTED)
  })

  it('leads to all events of the person', async () => {
    const page = await open(event)
    await change('bob', 'bob@example.org', 'bob@example.net')
    await row(page).getByRole('button', { name: 'All events of this person' }).click()
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2)
    expect(decodeURIComponent(page.url())).toContain(`filter[personal_subject_eq]=${refOfBob}`)
    await panel(page).getByRole('button', { name: 'Back to the earlier list' }).click()
    await expect.poll(() => rowsOf(page).count(), WAIT).toBeGreaterThan(3)
  })

  it('is left out of a query on request, because nothing is found by it', async () => {
    const query = 'filter[request_body_contact_cont]=bob&filter[type_start]=api'
    const page = await openPage(`${host.page}?range=all&${query}`, {
      user: 'ann',
      tolerates: /400 \(Bad Request\)/,
    })
    await page.getByRole('heading', { name: '“request_body_contact” is encrypted' }).waitFor()
    await page.getByRole('button', { name: 'Leave it out' }).click()
    await rowsOf(page).first().waitFor()
    expect(decodeURIComponent(page.url())).toContain('filter[type_start]=api')
    expect(page.url()).not.toContain('contact')
  })

  it('is missing in a history, which says so', async () => {
    const page = await openPage(`${host.page}?range=all#history?source=${SOURCE}`, { user: 'ann' })
    const history = page.getByRole('complementary', { name: 'History' })
    const entry = history.locator(`[data-id="${event.id}"]`)
    await entry.waitFor()
    expect(await entry.locator('.diff').innerText()).toMatch(/^contact\s*encrypted$/)
    const gone = history.locator(`[data-id="${erased.id}"]`)
    expect(await gone.locator('.diff').innerText()).toMatch(/^contact\s*erased$/)
    expect(await history.innerText()).toContain('personal values are missing here')
    expect(await history.innerText()).not.toContain('@example')
  })
})

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  it.each(['en-US', 'de-DE'])(
    'the notes have no violations of accessibility in %s',
    async (locale) => {
      for (const [of, text] of [
        [event, locale === 'de-DE' ? 'verschlüsselt' : 'encrypted'],
        [erased, locale === 'de-DE' ? 'gelöscht am' : 'erased on'],
      ] as const) {
        const page = await openPage(`${host.page}?range=all#event=${of.id}`, {
          user: 'ann',
          colorScheme,
          locale,
        })
        await expect.poll(() => page.locator('.facts .personal').innerText(), WAIT).toContain(text)
        await expect.poll(() => rowOf(page, of.id).innerText(), WAIT).toContain(text)
        expect(await violationsOf(page)).toEqual([])
      }
    },
  )
})
