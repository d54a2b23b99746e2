import type { AuditEvent } from 'daybook'
import type { Page } from 'playwright-core'
import { extractText, getDocumentProxy } from 'unpdf'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPage } from '../support/browser.js'
import { parseCsv } from '../support/csv.js'
import { type PageHost, type PageHostOptions, servePage, serveStory } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { auditor } from './auditor.js'
import { readDownload } from './downloads.js'
import { requestEvents } from './requests.js'
import { shareHost } from './shared-host.js'
import { copied, matching, rowIds, rowOf, rowsOf, WAIT } from './shown.js'

/* Tasks of people who read the log, each in a few actions. */

/** The log of the story. Tasks add events to it. */
const host = shareHost()

/** Another log, for one test. */
async function serveOther(options: PageHostOptions = {}, serve = servePage): Promise<PageHost> {
  const other = await serve(options)
  onTestFinished(() => other.close())
  return other
}

const addFilter = (page: Page) => page.getByRole('combobox', { name: 'Add a filter' })
const eventPanel = (page: Page) => page.getByRole('complementary', { name: 'Event' })

/** Opens the list of the story. */
async function open(search = ''): Promise<Page> {
  const page = await host.visit(`${host.page}${search}`, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  return page
}

/** The ids of the matching events of the story, newest first. */
const found = (filter: string): Promise<string[]> => matching(host.audit, filter)

it('finds the route with the most failures of the service, and their requests', async () => {
  const paths = ['/api/orders', '/api/users', '/api/search']
  const events = requestEvents(
    Array.from({ length: 60 }, (_, n) => ({
      path: paths[n % 3]!,
      status: n % 5 === 0 || n % 12 === 1 ? 503 : 200,
    })),
  )
  const failed = (path: string): readonly string[] =>
    events
      .filter(
        ({ attributes }) =>
          attributes['request_path'] === path && Number(attributes['response_status']) >= 500,
      )
      .map(({ id }) => id)
      .toReversed()
  const other = await serveOther({ events })
  const page = await openPage(other.page, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  const { click, type, sees } = auditor(page)
  await type('response_status is at least 500', addFilter(page))
  await click(page.getByRole('button', { name: 'Group', exact: true }))
  await type('request_path', page.getByRole('combobox', { name: 'Group by' }))
  const first = page.getByRole('region', { name: 'Groups' }).getByRole('row').nth(1)
  const worst = paths.toSorted((a, b) => failed(b).length - failed(a).length)[0]!
  // The groups of the query before may be shown first.
  await expect
    .poll(() => first.getByRole('cell').first().textContent(), WAIT)
    .toBe(String(failed(worst).length))
  await first.getByText(worst).waitFor()
  await click(first.getByRole('button'))
  await sees(failed(worst))
  await expect.poll(() => rowsOf(page).count(), WAIT).toBe(failed(worst).length)
})

it('finds what happened yesterday between 9 and 18 o’clock in the zone of a colleague', async () => {
  // Kathmandu is 5 h 45 min ahead of UTC, all year.
  const AHEAD_MS = 345 * 60_000
  const DAY_MS = 86_400_000
  const today = Math.floor((Date.now() + AHEAD_MS) / DAY_MS) * DAY_MS - AHEAD_MS
  const at = (hours: number): string => new Date(today + hours * 3_600_000).toISOString()
  // The complete previous day in Kathmandu, at any hour of the test.
  const other = await serveOther({ events: dayOfEvents(today * 1000) })
  const filter = `filter[created_at_gteq]=${at(9 - 24)}&filter[created_at_lt]=${at(18 - 24)}`
  const ids = await matching(other.audit, filter)
  expect(ids.length).toBeGreaterThan(20)

  const page = await openPage(other.page, { user: 'ann' })
  const { click, type, sees } = auditor(page)
  await click(page.getByRole('button', { name: 'Times in UTC' }))
  await type('kathm', page.getByRole('combobox', { name: 'Find a city or a zone' }))
  await type('yesterday 9:00-18:00', addFilter(page))
  await sees(ids.slice(0, 8))
  const header = page.getByRole('columnheader', { name: /^Time/ })
  expect(await header.innerText()).toContain('UTC+5:45')
  const newest = (await other.audit.get(ids[0]!))!
  const clock = new Date(Date.parse(newest.created_at) + AHEAD_MS)
  expect(await rowsOf(page).first().innerText()).toContain(clock.toISOString().slice(11, 19))

  const link = await copied(page, () =>
    page.getByRole('button', { name: 'Link', exact: true }).click(),
  )
  const colleague = await openPage(link, { user: 'bob' })
  await auditor(colleague).sees(ids.slice(0, 8))
  await colleague.getByRole('button', { name: /^Times in Asia\/Kat/ }).waitFor()
})

it('compares the failed deployment with the one that worked', async () => {
  const deploy = async (version: string, error?: string) =>
    (await host.audit.recordCustom('deploy:done', {
      name: `frontend ${version}`,
      region: 'eu',
      settings: { replicas: error === undefined ? 4 : 0, image: `frontend:${version}` },
      ...(error !== undefined && { error }),
    }))!
  const worked = await deploy('4.17.0')
  const failed = await deploy('4.18.0', 'no replica became ready')
  const page = await open('?range=all&filter[type_eq]=deploy:done')
  const task = auditor(page)
  await task.click(rowOf(page, worked.id))
  await task.click(page.getByRole('button', { name: 'Compare with…' }))
  await task.click(rowOf(page, failed.id))
  const comparison = page.getByRole('complementary', { name: 'Comparison' })
  await expect
    .poll(() => comparison.locator('tbody th bdi').allTextContents(), WAIT)
    .toEqual(['name', 'settings.replicas', 'settings.image', 'error'])
  expect(new URL(page.url()).hash).toBe(`#compare=${worked.id},${failed.id}`)
})

it('finds the events with a phrase, and its place in each', async () => {
  const phrase = "warm_cache.rb:41:in 'connect'"
  const ids = await found('filter[backtrace_cont]=warm_cache.rb:41')
  expect(ids.length).toBeGreaterThan(0)
  const page = await open()
  const { click, type, sees } = auditor(page)
  await type(`"${phrase}"`, addFilter(page))
  await sees(ids.slice(0, 8))
  const row = rowOf(page, ids[0]!)
  await expect.poll(() => row.locator('mark').allTextContents(), WAIT).toEqual([phrase])
  expect(await row.innerText()).toContain(`backtrace.0: actions/${phrase}`)
  await click(row)
  const marked = eventPanel(page).getByRole('tree').locator('mark')
  await expect.poll(() => marked.allTextContents(), WAIT).toEqual([phrase])
  const line = page.getByRole('textbox', { name: 'Query', exact: true })
  await expect.poll(() => line.textContent(), WAIT).toContain('q=')
})

it('finds who changed the limit of a project, and the limit before', async () => {
  const change = async (project: string, [before, after]: readonly number[], username: string) =>
    (await host.audit.recordChange(
      'api:projects:update',
      { limit: before },
      { limit: after },
      { username, data: { project_id: project, name: project } },
    ))!
  const ids: string[] = []
  for (let limit = 1; limit <= 4; limit++) {
    await change('project-2', [limit * 10, limit * 10 + 10], 'mira')
    const { id } = await change('project-1', [limit, limit + 1], limit === 2 ? 'eve' : 'ann')
    ids.push(id)
  }
  const page = await open('?range=all&filter[project_id_start]=project-')
  const task = auditor(page)
  await task.click(rowOf(page, ids.at(-1)!))
  await page.getByRole('region', { name: 'Related events' }).waitFor()
  await task.press('h')
  const history = page.getByRole('complementary', { name: 'History' })
  const entries = history.locator('.timeline > li')
  await expect
    .poll(() => entries.evaluateAll((all) => all.map((one) => one.getAttribute('data-id'))), WAIT)
    .toEqual(ids.toReversed())
  const byEve = history.locator(`[data-id="${ids[1]}"]`)
  expect(await byEve.locator('.entry-head').textContent()).toContain('eve')
  expect(await byEve.locator('.diff').textContent()).toMatch(/limit−before2\+after3/)
})

it('follows an incident from one error to its cause', async () => {
  const { audit, page: address } = await serveOther()
  const project_id = '0190b6a4-64a1-7000-8000-000000000001'
  const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736'
  const limit = (before: number, after: number, username: string) =>
    audit.recordChange(
      'api:projects:update',
      { slots: before },
      { slots: after },
      { username, data: { project_id, name: 'acme', session_id: `session of ${username}` } },
    )
  const noise = async (): Promise<void> => {
    for (let n = 0; n < 30; n++) await audit.recordCustom('deploy:note', { n }, { username: 'ci' })
  }
  await limit(4, 8, 'ann')
  await noise()
  const cause = (await limit(8, 0, 'bob'))!
  await noise()
  const full = (await audit.record('warn:resource_slot_pool:full', {
    cluster: 'eu',
    pool: 'runners',
    project_id,
    trace_id,
  }))!
  await noise()
  const error = (await audit.record('error:step:action', {
    name: 'Deploy',
    error: 'no slot became free',
    trace_id,
  }))!

  // The list shows only errors, so the related events are not in it.
  const page = await openPage(`${address}?range=15m&filter[type_start]=error:`, { user: 'ann' })
  const task = auditor(page)
  const panel = eventPanel(page)
  const related = panel.getByRole('region', { name: 'Related events' })
  await task.click(rowOf(page, error.id))
  await task.click(related.getByRole('button', { name: /^Same trace 2$/ }))
  await task.click(related.getByRole('button', { name: 'Show in list' }))
  await task.sees([error.id, full.id])
  await task.click(rowOf(page, full.id))
  await task.click(panel.getByRole('definition').getByRole('button', { name: 'History' }))
  const newest = page.locator('.timeline > li').first()
  await expect.poll(() => newest.getAttribute('data-id'), WAIT).toBe(cause.id)
  expect(await newest.textContent()).toMatch(/bob.*slots−before8\+after0/)
})

it('filters, opens the newest event, and returns to its row, by keys only', async () => {
  const page = await openPage(host.page, { user: 'ann', viewport: { width: 1440, height: 900 } })
  await rowsOf(page).first().waitFor()
  const { press, type, sees } = auditor(page)
  const ids = await found('filter[username_eq]=bob')
  await press('/')
  await type('user:bob')
  await sees(ids.slice(0, 5))
  await press('Escape')
  await press('j')
  await press('Enter')
  const openId = (): string => decodeURIComponent(new URL(page.url()).hash)
  await expect.poll(openId, WAIT).toBe(`#event=${ids[0]}`)
  await expect.poll(() => eventPanel(page).innerText(), WAIT).toContain(ids[0]!)
  await press('Escape')
  const focused = (): Promise<string | null> =>
    page.evaluate('document.activeElement.dataset.id ?? null')
  await expect.poll(focused, WAIT).toBe(ids[0])
})

describe('on a phone', () => {
  const PHONE = {
    user: 'ann',
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  }

  it('finds an action that bob was denied, and reads the event', async () => {
    const page = await host.visit(`${host.page}?range=all`, PHONE)
    await rowsOf(page).first().waitFor()
    const { click, sees } = auditor(page)
    const ids = await found('filter[username_eq]=bob')
    await click(page.getByRole('button', { name: /^Filters/ }).last())
    const sheet = page.getByRole('dialog', { name: 'Filters' })
    await click(sheet.getByRole('checkbox', { name: /^bob/ }))
    const { total } = await host.audit.count('filter[username_eq]=bob')
    await click(sheet.getByRole('button', { name: `Show ${total} events` }))
    await sees(ids.slice(0, 3))
    await click(rowOf(page, ids[0]!))
    await expect.poll(() => eventPanel(page).innerText(), WAIT).toContain(ids[0]!)
  })

  it('offers the filters of a row after a long press, and does not open the event', async () => {
    const page = await host.visit(host.page, PHONE)
    // The chart moves the rows when it is drawn.
    await page.getByRole('heading', { level: 1, name: /events$/ }).waitFor()
    const box = (await rowsOf(page).nth(2).boundingBox())!
    const [x, y] = [120, box.y + box.height / 2]
    const touches = await page.context().newCDPSession(page)
    await touches.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] })
    const menu = page.getByRole('dialog', { name: 'This event' })
    await menu.waitFor()
    await touches.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    const filter = menu.getByRole('button', { name: /^Filter: type is (?!not)/ })
    const type = (await filter.textContent())!.replace('Filter: type is ', '')
    await filter.click()
    await auditor(page).sees((await found(`filter[type_eq]=${type}`)).slice(0, 1))
    expect(new URL(page.url()).hash).toBe('')
  })

  it.each([
    [390, 844],
    [412, 915],
  ])('has the list in three quarters of the height of %d by %d', async (width, height) => {
    const page = await host.visit(host.page, { ...PHONE, viewport: { width, height } })
    await rowsOf(page).first().waitFor()
    const room = (): Promise<number> =>
      page.evaluate(`(() => {
        const rows = document.querySelector('.rows').getBoundingClientRect()
        const bottom = document.querySelector('.mobile-toolbar')?.getBoundingClientRect().top ?? innerHeight
        return (Math.min(bottom, innerHeight) - Math.max(0, rows.top)) / innerHeight
      })()`)
    await expect.poll(room, WAIT).toBeGreaterThan(0.75)
    await page.getByRole('region', { name: 'Events over time' }).getByText('UTC').waitFor()
  })
})

it('prints everything that bob was not allowed to do', async () => {
  const page = await openPage(host.page, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  await page.evaluate('globalThis.print = () => { globalThis.isPrinted = true }')
  const { click, press, sees, type } = auditor(page)
  await type('type ends with :denied', addFilter(page))
  const denied = await found('filter[type_end]=:denied')
  await sees(denied.slice(0, 3))
  await press('Escape')
  await press('p')
  await page.getByRole('heading', { name: 'Audit report: acme workflows' }).waitFor()
  await type('Denied approvals', page.getByRole('textbox', { name: 'Title of the report' }))
  await click(page.getByRole('button', { name: 'Print' }))
  await expect.poll(() => page.evaluate('globalThis.isPrinted'), WAIT).toBe(true)

  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true })
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)))
  const ids = text.join(' ').match(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g)
  expect(denied.length).toBeGreaterThan(0)
  expect(ids).toEqual(denied.toReversed())
})

it('saves a query under a name, and gets alerts of its events', async () => {
  const delivered: AuditEvent[] = []
  const channels = { oncall: { deliver: (events: AuditEvent[]) => void delivered.push(...events) } }
  const authorize = (): boolean => true
  const options = { subscriptions: { channels }, management: { authorize }, views: { authorize } }
  const { audit, page: address } = await serveOther(options, serveStory)
  const page = await openPage(`${address}?range=7d&filter[sorts][]=type+asc`, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  const ann = auditor(page)
  await ann.click(page.getByRole('checkbox', { name: /^error/ }))
  await ann.click(page.getByRole('button', { name: 'Views', exact: true }))
  await ann.type('Errors of the night', page.getByLabel('Name', { exact: true }))
  await page.getByRole('heading', { name: 'Errors of the night' }).waitFor()
  const views = page.getByRole('complementary', { name: 'Views' })
  await ann.click(views.getByRole('button', { name: 'Alert me' }))
  await page.getByText('The order and the time range of the list are dropped').waitFor()
  // The only channel is chosen once the channels are loaded.
  const channel = page.getByLabel('Channel', { exact: true })
  await expect.poll(() => channel.inputValue(), WAIT).toBe('oncall')
  await ann.click(page.getByRole('button', { name: 'Subscribe', exact: true }))
  await page.getByRole('heading', { name: 'errors-of-the-night' }).waitFor()

  const [subscription] = await audit.subscriptions.list()
  expect(subscription).toMatchObject({ owner: 'ann', channel: 'oncall' })
  expect(subscription!.filter).not.toMatch(/sorts|created_at/)
  const error = await audit.record('error:api:controller:unhandled', { error: 'boom' })
  await audit.record('api:changes:create', { name: 'fine' })
  const last = await audit.record('error:api:controller:unhandled', { error: 'again' })
  await expect.poll(() => delivered.map(({ id }) => id), WAIT).toEqual([error!.id, last!.id])
})

it('shows a colleague exactly the same events', async () => {
  const page = await open('?range=24h&zone=Asia/Tokyo')
  const ann = auditor(page)
  await ann.click(page.getByRole('checkbox', { name: /^bob/ }))
  const ids = await found('filter[username_eq]=bob&filter[sorts]=type')
  await ann.click(page.getByRole('columnheader', { name: /^Type/ }).getByRole('button'))
  await ann.sees(ids.slice(0, 4))
  const opened = ids[2]!
  await ann.click(rowOf(page, opened))
  const link = await copied(page, () => ann.press('y'))
  const shown = (await rowIds(page)).slice(0, 8)

  // The link does not show events that are recorded later.
  await host.audit.record('api:changes:create', { name: 'later' }, { username: 'bob' })
  const colleague = await openPage(link, { user: 'eve' })
  expect(shown.length).toBeGreaterThan(3)
  await expect.poll(async () => (await rowIds(colleague)).slice(0, 8), WAIT).toEqual(shown)
  // Times are in the zone of the sender, also for a colleague in another zone.
  const firstTime = (of: Page): Promise<string | null> =>
    rowsOf(of).first().getByRole('gridcell').first().textContent()
  expect(await firstTime(colleague)).toBe(await firstTime(page))
  await eventPanel(colleague).getByText(opened).first().waitFor()
})

it('exports everything that bob did between two times as CSV', async () => {
  const { events: all } = await host.audit.list('filter[username_eq]=bob&limit=1000')
  const minuteAt = (part: number): string =>
    all[Math.floor(all.length * part)]!.created_at.slice(0, 16)
  const [from, to] = [minuteAt(1 / 4), minuteAt(1 / 2)]
  const ids = all
    .filter(({ created_at }) => created_at.slice(0, 16) >= from && created_at.slice(0, 16) < to)
    .map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(10)

  const page = await openPage(host.page, { user: 'ann' })
  const { click, press, type, sees } = auditor(page)
  await type(`user:bob ${from.replace('T', ' ')} - ${to.replace('T', ' ')}`, addFilter(page))
  await sees(ids.toReversed().slice(0, 8))
  await press('Escape')
  await click(page.getByRole('button', { name: 'Export', exact: true }))
  const sheet = page.getByRole('dialog', { name: 'Export' })
  await click(sheet.getByRole('button', { name: 'CSV', exact: true }))
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    click(sheet.getByRole('button', { name: 'Export CSV' })),
  ])
  const [head, ...rows] = parseCsv(await readDownload(download))
  const id = head!.indexOf('id')
  expect(rows.map((row) => row[id])).toEqual(ids)
})

it('sees each denied approval when it happens', async () => {
  const type = 'audit:steps:approve:denied'
  const page = await open('?range=24h')
  const ann = auditor(page)
  await ann.click(page.getByRole('button', { name: /^All \d+ types$/ }))
  await ann.type('denied', page.getByRole('textbox', { name: /^Find in \d+ types$/ }))
  await ann.click(page.getByRole('checkbox', { name: new RegExp(`^${type}`) }))
  const before = await found(`filter[type_eq]=${type}`)
  await ann.sees(before)
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()

  // Nothing more has to be done when it happens.
  const step = { name: 'Deploy to production' }
  await host.audit.record('audit:steps:approve', step, { username: 'ann' })
  const denied = await host.audit.record(type, step, { username: 'bob' })
  await ann.sees([denied!.id, ...before])
})

it('finds who deleted a bookmark', async () => {
  const name = 'Runbook of checkout'
  const by = (username: string) => ({ username })
  await host.audit.record('api:bookmarks:create', { name }, by('ann'))
  await host.audit.record('api:bookmarks:destroy', { name: 'Runbook of returns' }, by('ann'))
  const deleted = (await host.audit.record('api:bookmarks:destroy', { name }, by('mira')))!
  const page = await open()
  const { type, sees } = auditor(page)
  await type('type:destroy "runbook of checkout"', addFilter(page))
  await sees([deleted.id])
  const row = rowOf(page, deleted.id)
  expect(await row.getByRole('gridcell').nth(2).innerText()).toContain('mira')
})
