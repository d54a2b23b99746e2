import type { AuditEvent } from 'daybook'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { shareHost } from './shared-host.js'
import { addressed, copied, expectShown, matching, rowOf, WAIT } from './shown.js'

/* The panel of one event. */

const UPDATE = 'filter[type_eq]=api:projects:update'
const FAILURE = 'filter[attempt_eq]=3'
const PHONE = { viewport: { width: 390, height: 844 } } as const

const host = shareHost()
let update: AuditEvent
let failure: AuditEvent
beforeAll(async () => {
  ;[update] = (await host.audit.list(UPDATE)).events as [AuditEvent]
  ;[failure] = (await host.audit.list(FAILURE)).events as [AuditEvent]
})

const panel = (page: Page) => page.getByRole('complementary', { name: 'Event' })
const heading = (page: Page) => panel(page).getByRole('heading', { level: 2 }).first()
const section = (page: Page, name: string) => panel(page).getByRole('region', { name, exact: true })
const headingIs = (page: Page) => expect.poll(() => heading(page).textContent(), WAIT)
const focusIs = (page: Page) => expect.poll(() => page.locator(':focus').textContent(), WAIT)

/** Opens an event by clicking its row. */
async function open({ id }: AuditEvent, options: OpenPageOptions = {}): Promise<Page> {
  const page = await host.visit(`${host.page}?range=all`, { user: 'ann', ...options })
  await rowOf(page, id).click()
  await heading(page).waitFor()
  const inPanel = `document.activeElement.matches('aside h2')`
  await expect.poll(() => page.evaluate(inPanel), WAIT).toBe(true)
  return page
}

describe('the facts', () => {
  it('show when, who, the request and the source', async () => {
    const page = await open(update, { timezoneId: 'Asia/Kathmandu' })
    await headingIs(page).toContain('ann changed 4 fields of project acme')
    const facts = await panel(page).getByRole('definition').allTextContents()
    const local = new Date(Date.parse(update.created_at) + 20_700_000).toISOString()
    expect(facts[0]).toContain(local.slice(11, 23))
    expect(facts[0]).toContain(update.created_at)
    expect(facts[0]).toMatch(/\d+m ago/)
    expect(facts.slice(1).map((text) => text.replace(/is not|is$/g, ''))).toEqual([
      'annis',
      'PATCH /api/projects/acme 200',
      'project acme History',
      update.id,
    ])
    const source = panel(page).getByRole('link', { name: 'project acme' })
    expect(await source.getAttribute('href')).toBe('/api/projects/acme')
  })

  it('filter by the user', async () => {
    const page = await open(update)
    await panel(page).getByRole('definition').nth(1).hover()
    await panel(page).getByRole('definition').nth(1).getByRole('button', { name: 'is not' }).click()
    await expectShown(page, host.audit, 'filter[username_not_eq]=ann')
    expect(page.url()).toContain(update.id)
  })
})

describe('changes', () => {
  it('are shown before and after, or as JSON Patch', async () => {
    const page = await open(update)
    const changes = section(page, 'Changes')
    expect(await changes.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      'description',
      'limits.parallel_changes',
      'requires_approval_from[1]added',
      'contactremoved',
    ])
    expect(await changes.locator('del').allTextContents()).not.toEqual([])
    expect(await changes.getByText('after', { exact: true }).count()).toBe(3)
    const text = await changes.textContent()
    expect(text).toMatch(/−before4\+after8/)
    expect(text).toMatch(/\+after"release-leads"/)
    expect(text).toMatch(/−before"ops@acme\.dev"/)
    await changes.getByRole('button', { name: 'JSON Patch' }).click()
    const patch = await changes.locator('pre').textContent()
    expect(JSON.parse(patch!)).toEqual(update.attributes['changes'])
  })
})

describe('an error', () => {
  it('starts with its reason, and folds library frames', async () => {
    const page = await open(failure)
    const error = section(page, 'Error')
    const backtrace = failure.attributes['backtrace'] as string[]
    const frames = error.getByRole('listitem')
    expect(await error.getByRole('paragraph').textContent()).toBe(failure.attributes['error'])
    expect(await frames.allTextContents()).toEqual([
      backtrace[0],
      backtrace[1],
      '… 9 library frames',
      backtrace[11],
      '… 14 library frames',
    ])
    await error.getByRole('button', { name: 'All 26 frames' }).click()
    await expect.poll(() => frames.allTextContents(), WAIT).toEqual(backtrace)
  })
})

describe('the attributes', () => {
  const item = (page: Page, name: RegExp) =>
    section(page, 'Attributes').getByRole('treeitem', { name })

  it('are navigated with the arrow keys', async () => {
    const page = await open(update)
    await item(page, /^name/).focus()
    await page.keyboard.press('ArrowDown')
    await focusIs(page).toMatch(/^changes\[ 4 \]/)
    const changes = item(page, /^changes/)
    expect(await changes.getAttribute('aria-expanded')).toBe('false')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => changes.getAttribute('aria-expanded'), WAIT).toBe('true')
    await page.keyboard.press('ArrowRight')
    await focusIs(page).toMatch(/^0/)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await focusIs(page).toMatch(/^changes/)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => changes.getAttribute('aria-expanded'), WAIT).toBe('false')
    await page.keyboard.press('End')
    await focusIs(page).toMatch(/^system/)
    await page.keyboard.press('Home')
    await focusIs(page).toMatch(/^name/)
  })

  it('become filters, by keys and by buttons, even if they are nested', async () => {
    const page = await open(update)
    const inner = item(page, /^parallel_changes/)
    await item(page, /^limits/).click()
    await inner.focus()
    await page.keyboard.press('i')
    const eight = 'filter[request_body_limits_parallel_changes_eq]=8'
    await expectShown(page, host.audit, eight)
    await item(page, /^response_status/).hover()
    await item(page, /^response_status/)
      .getByRole('button', { name: 'is', exact: true })
      .click()
    await expectShown(page, host.audit, `${eight}&filter[response_status_eq]=200`)
  })

  it('are copied one by one', async () => {
    const page = await open(update)
    const copy = async (name: RegExp) => {
      await item(page, name).hover()
      return copied(page, () => item(page, name).getByRole('button', { name: 'copy' }).click())
    }
    expect(await copy(/^request_id/)).toBe('req-8f21c')
    expect(JSON.parse(await copy(/^request_body/))).toEqual(update.attributes['request_body'])
  })
})

describe('the JSON view', () => {
  it('shows and copies the event, and stays open for the next event', async () => {
    const page = await open(update)
    await page.keyboard.press('d')
    const json = section(page, 'JSON')
    expect(JSON.parse((await json.locator('pre').textContent())!)).toEqual(update)
    const text = await copied(page, () => json.getByRole('button', { name: 'Copy' }).click())
    expect(JSON.parse(text)).toEqual(update)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      json.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`event-${update.id}.json`)
    await page.keyboard.press('k')
    await expect.poll(() => json.locator('pre').textContent(), WAIT).not.toContain(update.id)
    await page.keyboard.press('d')
    await json.waitFor({ state: 'detached' })
    await section(page, 'Attributes').waitFor()
  })
})

describe('related events', () => {
  it("have the server's counts, and are shown in the list", async () => {
    const page = await open(failure)
    const around = section(page, 'Related events')
    const { change_id: change, step_id: step } = failure.attributes as Record<string, string>
    const at = Date.parse(failure.created_at)
    const [from, to] = [at - 300_000, at + 300_000].map((time) => new Date(time).toISOString())
    for (const [name, filter] of [
      ['Same change', `filter[change_id_eq]=${change}`],
      ['Same step', `filter[step_id_eq]=${step}`],
      ['± 5 min', `filter[created_at_gteq]=${from}&filter[created_at_lt]=${to}`],
      ['Same type', 'filter[type_eq]=error:step:action'],
    ] as const) {
      const { total } = await host.audit.count(filter)
      const tab = around.getByRole('button', { name })
      await expect
        .poll(() => tab.textContent(), WAIT)
        .toBe(`${name} ${total.toLocaleString('en-US')}`)
    }
    await page.keyboard.press('n')
    await around.getByRole('listitem').nth(5).waitFor()
    const ids = await matching(host.audit, `filter[change_id_eq]=${change}`)
    const place = ids.indexOf(failure.id)
    const links = await around
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')!.replace(/.*#event=/, '')))
    expect(links).toEqual(ids.slice(place - 2, place + 3).toReversed())
    await around.getByRole('link').last().click()
    const next = ids[place - 2]!
    await expect.poll(() => panel(page).getByText(next, { exact: true }).count(), WAIT).toBe(1)
    expect(page.url()).toContain(`#event=${next}`)
    await around.getByRole('button', { name: 'Show in list' }).click()
    await expectShown(page, host.audit, `filter[change_id_eq]=${change}`)
    expect(page.url()).toContain(`#event=${next}`)
  })

  it('are shown in the list with the open event in view, also if it is far down', async () => {
    const oldest = (
      await host.audit.list('filter[type_eq]=api:steps:start&filter[sorts]=created_at')
    ).events[0]!
    const page = await host.visit(`${host.page}?range=all#event=${oldest.id}`, { user: 'ann' })
    const around = section(page, 'Related events')
    await around.getByRole('button', { name: 'Same type' }).click()
    await around.getByRole('button', { name: 'Show in list' }).click()
    await expect
      .poll(() => decodeURIComponent(page.url()), WAIT)
      .toContain('filter[type_eq]=api:steps:start')
    const isInSight = (): Promise<boolean> =>
      page.evaluate(`(() => {
        const list = document.getElementById('events')
        const row = list?.querySelector('[data-id="${oldest.id}"]')
        if (!row || list.querySelectorAll('[data-id]').length === 1) return false
        const [inner, outer] = [row.getBoundingClientRect(), list.getBoundingClientRect()]
        return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1
      })()`)
    // Waits until all rows belong to the new query. The old list may also have shown the row.
    const types = async () => new Set(await page.locator('#events .type').allInnerTexts())
    await expect.poll(types, WAIT).toEqual(new Set(['api:steps:start']))
    await expect.poll(isInSight, WAIT).toBe(true)
  })
})

describe('the way back from related events', () => {
  it('leads back to the query before', async () => {
    const filter = 'filter[attempt_eq]=3'
    const page = await host.visit(`${host.page}?range=24h&${filter}`, { user: 'ann' })
    await rowOf(page, failure.id).click()
    const related = section(page, 'Related events')
    await related.getByRole('button', { name: /^Same step/ }).click()
    const back = related.getByRole('button', { name: 'Back to the earlier list' })
    expect(await back.count()).toBe(0)
    await related.getByRole('button', { name: 'Show in list' }).click()
    const { step_id: step } = failure.attributes as Record<string, string>
    await expectShown(page, host.audit, `filter[step_id_eq]=${step}`)
    expect(page.url()).toContain('range=all')
    await back.click()
    await expectShown(page, host.audit, filter)
    expect(page.url()).toContain('range=24h')
    await back.waitFor({ state: 'detached' })
  })
})

describe('the same session', () => {
  it('is a relation of events with a session', async () => {
    const session_id = 'session-17'
    const record = async (username: string) =>
      (await host.audit.recordCustom('deploy:note', { session_id }, { username }))!
    const [first, second] = [await record('ann'), await record('bob')]
    const page = await host.visit(`${host.page}?range=all#event=${first.id}`, { user: 'ann' })
    const related = section(page, 'Related events')
    await related.getByRole('button', { name: /^Same session 2$/ }).click()
    await related.getByRole('button', { name: 'Show in list' }).click()
    await expectShown(page, host.audit, `filter[session_id_eq]=${session_id}`)
    await rowOf(page, second.id).waitFor()
  })
})

describe('navigation between events', () => {
  it('starts at a link with any query', async () => {
    const [old] = (await host.audit.list('filter[sorts]=created_at&filter[username_eq]=ann')).events
    const url = `${host.page}?range=15m&filter[username_eq]=bob#event=${old!.id}`
    const page = await openPage(url, { user: 'ann' })
    await expect.poll(() => panel(page).getByText(old!.id).count(), WAIT).toBe(1)
    await headingIs(page).toMatch(/^ann /)
    const link = await copied(page, () => page.keyboard.press('y'))
    expect(new URL(link).hash).toBe(new URL(url).hash)
    const other = await openPage(link, { user: 'bob' })
    await expect.poll(() => panel(other).getByText(old!.id).count(), WAIT).toBe(1)
    expect(addressed(other).where?.conditions.map(({ attributes }) => attributes[0])).toEqual([
      'created_at',
      'created_at',
      'username',
    ])
  })

  it.each([
    ['does not exist', '0199f1a6-02cc-7d14-9a55-000000000000'],
    ['has an address that cannot be decoded', '%zz'],
  ])('says that an event is missing that %s', async (_what, id) => {
    const page = await host.visit(`${host.page}?range=all#event=${id}`, {
      user: 'ann',
      tolerates: new RegExp(`404.*${encodeURIComponent(id)}`),
    })
    await headingIs(page).toBe('No such event')
    expect(await section(page, 'Attributes').count()).toBe(0)
    await page.keyboard.press('Escape')
    await expectShown(page, host.audit, '')
  })
})

describe('on a phone', () => {
  it('is a sheet over the list, and Back returns to the row', async () => {
    const page = await open(update, PHONE)
    const box = await panel(page).boundingBox()
    expect([box!.x, box!.width]).toEqual([0, 390])
    expect(box!.height).toBeGreaterThan(600)
    await panel(page).getByRole('button', { name: 'Back to the list' }).click()
    await panel(page).waitFor({ state: 'detached' })
    await rowOf(page, update.id).click()
    await headingIs(page).toContain('changed 4 fields')
    await page.goBack()
    await panel(page).waitFor({ state: 'detached' })
    await rowOf(page, update.id).waitFor()
  })
})
