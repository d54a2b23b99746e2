import type { AuditEvent } from 'daybook'
import { checkProof } from 'daybook/ledger'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { send } from '../support/http.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../support/ledger-key.js'
import { type PageHost, serveStory } from '../support/page-host.js'
import { violationsOf } from './axe.js'
import { readDownload } from './downloads.js'
import { rowOf, rowsOf, WAIT } from './shown.js'

/* The seal of an event, and the state of the ledger. */

let key: LedgerKey
let host: PageHost
let event: AuditEvent
const kept: string[] = []
beforeAll(async () => {
  key = await ledgerKey()
  const publish = async (note: string) => kept.push(note)
  host = await serveStory({
    ledger: {
      origin: ORIGIN,
      signer: key.signer,
      anchors: [{ anchor: { name: 'worm', publish }, every: { seconds: 1 } }],
    },
    feed: {
      visible: ({ state }) => (state['username'] === 'eve' ? { username_eq: 'bob' } : 'all'),
    },
  })
  event = (await host.audit.record('api:projects:create', { name: 'tour' }))!
  await host.audit.ledger.checkpoint()
  await vi.waitFor(() => expect(kept.length).toBeGreaterThan(0), WAIT)
})
afterAll(async () => {
  await host.close()
  key.remove()
})

const LEDGER = '**/api/events/ledger'
const PROOF = '**/api/events/*/proof'

const panel = (page: Page) => page.getByRole('complementary', { name: 'Event' })
const seal = (page: Page) => panel(page).locator('.seal')
const sealIs = (page: Page) => expect.poll(() => seal(page).innerText(), WAIT)
const button = (page: Page, name: string) => seal(page).getByRole('button', { name })
const sheet = (page: Page) => page.getByRole('dialog', { name: 'Ledger' })

const open = (options: OpenPageOptions = {}): Promise<Page> =>
  openPage(`${host.page}?range=24h#event=${event.id}`, { user: 'ann', ...options })

/** Answers requests for the ledger with these attributes in place of the real ones. */
async function pretend(page: Page, attributes: object): Promise<void> {
  await page.route(LEDGER, async (route) => {
    const response = await route.fetch()
    const document = (await response.json()) as { data: { attributes: object } }
    Object.assign(document.data.attributes, attributes)
    await route.fulfill({ response, json: document })
  })
}

/** The URLs of requests for the ledger. */
function watch(page: Page): readonly string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (/\/(?:ledger|proof|checkpoint)$/.test(url)) asked.push(url)
  })
  return asked
}

const notSealed = { status: '503', code: 'NOT_SEALED', title: '', detail: '' }

/** Answers to a request for a proof, what the page says, and the number of requests. */
const FAILURES: readonly (readonly [
  answer: Parameters<Route['fulfill']>[0] | undefined,
  text: string,
  requests: number,
])[] = [
  [
    { status: 503, headers: { 'retry-after': '1' }, json: { errors: [notSealed] } },
    'Not sealed so far. The event was stored late, or before the ledger began.',
    2,
  ],
  [
    { status: 503, json: { errors: [{ ...notSealed, code: 'STORE_BUSY', detail: 'busy' }] } },
    'busy',
    1,
  ],
  [
    { status: 500, json: { errors: [{ ...notSealed, status: '500', code: 'DAMAGED' }] } },
    'This event is not the one that was sealed.',
    1,
  ],
  [{ status: 404, json: {} }, 'The event was removed, or you may not see its proof.', 1],
  [{ status: 200, body: '<!doctype html>' }, 'The answer is no proof.', 1],
  [undefined, 'could not be reached', 1],
]

describe('the seal of an event', () => {
  it('has a proof, which is saved as a file that can be checked, or says why there is none', async () => {
    const page = await open({ tolerates: /proof|ERR_FAILED/ })
    await sealIs(page).toMatch(/^The log is sealed until .*\d\d:\d\d/)
    for (const [answer, text, requests] of FAILURES) {
      let count = 0
      await page.route(PROOF, (route) => {
        count++
        return answer ? route.fulfill(answer) : route.abort()
      })
      await button(page, 'Proof').click()
      await sealIs(page).toContain(text)
      expect(count).toBe(requests)
      await page.unroute(PROOF)
    }
    expect(await violationsOf(page, undefined, `'.panel'`)).toEqual([])

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(page, 'Proof').click(),
    ])
    expect(download.suggestedFilename()).toBe(`event-${event.id}.tlog-proof`)
    const line = await send(host.url, `/api/events/export?filter[id_eq]=${event.id}`)
    const proof = await readDownload(download)
    const { index, size } = await checkProof({ proof, event: line.body, policy: key.vkey })
    const [at, of] = [index, size].map((count) => count.toLocaleString('en-US'))
    await sealIs(page).toContain(`Sealed as leaf ${at}, in a tree of ${of} leaves`)
  })

  it('is asked for when an event is opened, once for all events that are sealed', async () => {
    const page = await openPage('about:blank', { user: 'ann' })
    const asked = watch(page)
    await page.goto(`${host.page}?range=24h`)
    await rowsOf(page).first().waitFor()
    await page.getByRole('region', { name: 'Events over time' }).getByRole('heading').waitFor()
    expect(asked).toEqual([])
    await rowOf(page, event.id).click()
    await sealIs(page).toContain('The log is sealed until')
    const { events } = await host.audit.list('filter[type_eq]=api:changes:create&limit=2')
    for (const { id } of events) {
      await page.evaluate(`location.hash = '#event=${id}'`)
      await panel(page).getByText(id).waitFor()
      await sealIs(page).toContain('The log is sealed until')
    }
    expect(asked).toEqual([`${host.url}/api/events/ledger`])
  })

  it('is asked for again until the event is sealed, and after a failure', async () => {
    const page = await openPage('about:blank', { user: 'ann', tolerates: /ledger/ })
    const asked = watch(page)
    await page.route(LEDGER, (route) => route.fulfill({ status: 403, json: { errors: [] } }))
    await page.goto(`${host.page}?range=24h#event=${event.id}`)
    await button(page, 'Try again').waitFor()
    await page.unroute(LEDGER)
    await pretend(page, { sealed_until: '2026-01-01T00:00:00.000000Z' })
    await button(page, 'Try again').click()
    await sealIs(page).toBe('Not sealed yet\nLedger')
    await page.unroute(LEDGER)
    await sealIs(page).toContain('The log is sealed until')
    expect(asked.length).toBeLessThan(10)

    const live = await host.audit.recordLive('info:template_version:fetch', { name: 'open' })
    await page.evaluate(`location.hash = '#event=${live.event!.id}'`)
    await sealIs(page).toContain('Not sealed: the event is sealed when it closes')
    await live.close()
    await sealIs(page).toContain('The log is sealed until')
  })
})

describe('the state of the ledger', () => {
  it('is in a sheet of the menu of commands, with a warning for each fault', async () => {
    await host.audit.ledger.verify()
    const page = await open()
    await button(page, 'Proof').waitFor()
    await page.getByRole('button', { name: 'More commands' }).first().click()
    await page
      .getByRole('dialog', { name: 'Commands' })
      .getByRole('button', { name: 'Ledger' })
      .click()
    await sheet(page).getByText('No fault is known.').waitFor()
    const facts = await sheet(page).locator('dl').innerText()
    expect(facts).toContain('this process seals the log')
    expect(facts).toMatch(/Last verified\n.*\n\s*intact, [\d,]+ events\n/)
    expect(facts).toMatch(/Anchors\nworm\s*\n.*, [\d,]+ leaves\n/)
    expect(facts).toContain(key.vkey)
    expect(await violationsOf(page, undefined, `'dialog'`)).toEqual([])
    await page.keyboard.press('Escape')
    await sheet(page).waitFor({ state: 'detached' })

    await pretend(page, {
      state: 'diverged',
      waiting: 10_000,
      waiting_since: '2026-01-01T00:00:00.000000Z',
      verification: {
        at: '2026-01-02T00:00:00.000000Z',
        result: 'tampered',
        event_count: 7,
        finding_count: 2,
      },
      anchors: [{ name: 'far\u202Eaway', size: 0, at: null, error: 'no right' }],
    })
    await button(page, 'Ledger').click()
    await expect.poll(() => sheet(page).getByRole('listitem').count(), WAIT).toBe(4)
    const faults = await sheet(page).getByRole('listitem').allInnerTexts()
    expect(faults.map((text) => text.trim().replaceAll(/[\u2068\u2069]/g, ''))).toEqual([
      expect.stringContaining('are not those that were signed'),
      expect.stringMatching(/The verification of .* found that the log was changed. Findings: 2/),
      'The anchor farU+202Eaway has no new head: no right',
      expect.stringContaining('Events have waited to be sealed since'),
    ])
    expect(await sheet(page).getByRole('definition').allInnerTexts()).toContain('10,000+')
    expect(await violationsOf(page, undefined, `'dialog'`)).toEqual([])
    await page.keyboard.press('Escape')
    await button(page, 'The ledger needs attention').waitFor()
  })

  it('is not shown to a reader of a part of the log', async () => {
    const own = await host.audit.record('api:projects:create', { name: 'b' }, { username: 'bob' })
    const page = await openPage('about:blank', { user: 'eve' })
    const asked = watch(page)
    await page.goto(`${host.page}?range=24h#event=${own!.id}`)
    await panel(page).getByText(own!.id).waitFor()
    await page.locator('.notice.plain').waitFor()
    expect(await seal(page).count()).toBe(0)
    await page.getByRole('button', { name: 'More commands' }).first().click()
    const menu = page.getByRole('dialog', { name: 'Commands' })
    expect(await menu.getByRole('button').allInnerTexts()).not.toContain('Ledger')
    expect(asked).toEqual([])
  })
})
