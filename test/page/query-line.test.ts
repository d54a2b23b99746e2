import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { parseQuery } from 'daybook'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { hasCurl } from '../support/curl.js'
import { listOf } from '../support/http.js'
import { shareHost } from './shared-host.js'
import { addressed, copied, paste, rowIds, WAIT } from './shown.js'

/* The query as text: query line, copying, pasting, and invalid queries. */

const ANN = 'filter[username_eq]=ann'
const ERRORS = 'filter[type_start_any][]=error:'

/** Characters with a meaning in shells. */
const HOSTILE = `it's "$(id)" \`id\` $HOME \\ ; & | > x\n!! 100%+ü #[a-b]{1,2}`

const host = shareHost()
beforeAll(async () => {
  await host.audit.recordCustom('note', { name: HOSTILE })
})

const openAt = (search: string) => openPage(`${host.page}?${search}`, { user: 'ann' })

const { open, shows } = host
const line = (page: Page) => page.getByRole('textbox', { name: 'Query', exact: true })
const editor = (page: Page) => page.getByRole('combobox', { name: 'Query', exact: true })
const press = (page: Page, name: string) =>
  page.getByRole('region', { name: 'API query' }).getByRole('button', { name, exact: true }).click()

/** Runs the copied command in a shell, with a password for the prompt of curl. Returns the output. */
async function runInShell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    command.replace(/^curl -g -u ann /, 'curl -sS -g -u ann:ann '),
  ])
  return stdout
}

describe('the query line', () => {
  it('shows the API call', async () => {
    const page = await open(`${ANN}&filter[type_eq]=api:changes:create`)
    expect(await line(page).textContent()).toBe(
      'GET /api/events?filter[username_eq]=ann&filter[type_eq]=api:changes:create',
    )
  })

  it('is edited, with completion; Enter applies, Escape restores', async () => {
    const page = await open(ANN)
    await press(page, 'Edit')
    await expect.poll(() => editor(page).inputValue(), WAIT).toBe(`range=all&${ANN}`)
    await editor(page).fill('range=all&filter[username_eq]=bo')
    const option = page.getByRole('listbox', { name: 'Completions' }).getByRole('option')
    await option.filter({ hasText: /^bob$/ }).click()
    await expect
      .poll(() => editor(page).inputValue(), WAIT)
      .toBe('range=all&filter[username_eq]=bob')
    await shows(page, ANN)
    await page.keyboard.press('Enter')
    await shows(page, 'filter[username_eq]=bob')
    await press(page, 'Edit')
    await editor(page).fill('range=all&filter[username_eq]=mira')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await line(page).waitFor()
    await shows(page, 'filter[username_eq]=bob')
  })

  it('opens from the toolbar on a phone', async () => {
    const page = await open(ANN, { viewport: { width: 390, height: 844 } })
    const tools = page.getByRole('navigation', { name: 'Tools' })
    await tools.getByRole('button', { name: 'Query' }).click()
    await editor(page).fill(`range=all&${ERRORS}`)
    await page.keyboard.press('Enter')
    await shows(page, ERRORS)
  })
})

describe('the copied text', () => {
  it('is an address that shows another user the same', async () => {
    const page = await openAt(`range=7d&${ANN}&filter[sorts][]=type desc`)
    const filter = `${ANN}&filter[sorts][]=type desc`
    await shows(page, filter)
    const url = await copied(page, () => press(page, 'Link'))
    const other = await openPage(url, { user: 'bob' })
    const first = async (of: Page): Promise<string[]> => (await rowIds(of)).slice(0, 8)
    await expect.poll(() => first(other), WAIT).toEqual(await first(page))
    const [from, to] = ['gteq', 'lt'].map((name) =>
      Date.parse(new URL(url).searchParams.get(`filter[created_at_${name}]`)!),
    )
    expect(to! - from!).toBeGreaterThanOrEqual(7 * 86_400_000)
    expect(addressed(other).sorts).toEqual(addressed(page).sorts)
  })

  it.skipIf(!hasCurl)('is a curl command that returns the same events', async () => {
    const page = await open(`${ANN}&filter[name_not_null]=1`)
    const command = await copied(page, () => press(page, 'curl'))
    expect(command).toMatch(/^curl -g -u ann 'http/)
    const events = listOf({ body: await runInShell(command) }).data
    expect(events).toHaveLength(10)
    const shown = (await rowIds(page)).slice(0, 10)
    expect(events.map(({ id }) => id).toReversed()).toEqual(shown)
  })

  it.skipIf(!hasCurl)('writes a relative range out', async () => {
    const page = await openAt(`range=1h&${ERRORS}`)
    await expect.poll(() => rowIds(page), WAIT).not.toEqual([])
    const command = await copied(page, () => page.keyboard.press('c'))
    expect(command).not.toContain('range')
    const { where } = parseQuery(/\?([^']*)'/.exec(command)![1])
    const times = where!.conditions.filter(({ attributes }) => attributes[0] === 'created_at')
    const [from] = times.map(({ predicate, values }) => predicate === 'gteq' && values[0])
    expect(Math.abs(Date.now() - 3_600_000 - Date.parse(String(from)))).toBeLessThan(300_000)
    const events = listOf({ body: await runInShell(command) }).data
    expect(events.map(({ id }) => id).toReversed()).toEqual(await rowIds(page))
  })

  it.skipIf(!hasCurl)('quotes any value', async () => {
    const filter = `filter[name_eq]=${encodeURIComponent(HOSTILE)}`
    const page = await open(filter)
    const command = await copied(page, () => press(page, 'curl'))
    const events = listOf({ body: await runInShell(command) }).data
    expect(events.map(({ attributes }) => attributes['name'])).toEqual([HOSTILE])
    expect(events.map(({ id }) => id)).toEqual(await rowIds(page))
  })
})

describe('a pasted text', () => {
  const field = (page: Page) => page.getByRole('combobox', { name: 'Add a filter' })

  it.each([
    ['an address of the page', (url: string) => `${url}/audit?range=all&${ERRORS}#event=x`],
    ['filters', () => ERRORS],
  ])('replaces the filters: %s', async (_name, text) => {
    const page = await open(ANN)
    await paste(field(page), text(host.url))
    await shows(page, ERRORS)
    await expect.poll(() => field(page).inputValue(), WAIT).toBe('')
  })

  it.skipIf(!hasCurl)('runs as copied, whatever it contains', async () => {
    const filter = `filter[name_eq]=${encodeURIComponent(HOSTILE)}`
    const page = await open(filter)
    const command = await copied(page, () => press(page, 'curl'))
    const other = await open(ANN)
    await paste(field(other), command)
    expect(await shows(other, filter)).toBe(1)
  })
})

describe('an invalid query', () => {
  it('is reported, not sent, and repaired with the nearest name', async () => {
    const page = await openPage('about:blank', { user: 'ann' })
    const sent: string[] = []
    page.on('request', (request) => sent.push(decodeURIComponent(request.url())))
    await page.goto(`${host.page}?range=all&${ANN}&filter[name_contt]=nightly`)
    const state = page.getByRole('region', { name: 'Events', exact: true })
    await state.getByRole('heading', { name: '“_contt” is not a known comparison' }).waitFor()
    await state.getByText('nearest valid name: name_cont').waitFor()
    expect(await state.locator('u').textContent()).toBe('_contt')
    await expect.poll(() => page.getByRole('button', { name: /^Stopped/ }).count(), WAIT).toBe(1)
    const chips = page.getByRole('list', { name: 'Filters' })
    await chips.getByText('user is ann').waitFor()
    expect(sent.filter((url) => url.includes('contt') && url.includes('/api'))).toEqual([])
    await state.getByRole('button', { name: 'Use name_cont' }).click()
    await shows(page, `${ANN}&filter[name_cont]=nightly`)
  })

  it('is repaired or removed in its chip', async () => {
    const page = await openAt(`range=all&${ANN}&filter[type_strat]=api:`)
    const chips = page.getByRole('list', { name: 'Filters' })
    await chips.getByRole('button', { name: 'Use type_start' }).click()
    await shows(page, `${ANN}&filter[type_start]=api:`)
    await page.goBack()
    await chips.getByRole('button', { name: 'Remove filter filter[type_strat]=api:' }).click()
    await shows(page, ANN)
  })

  it('is reported after editing, and the last valid query is kept', async () => {
    const page = await open(ANN)
    await press(page, 'Edit')
    await editor(page).fill('range=all&filter[created_at_gt]=yesterday')
    await page.keyboard.press('Enter')
    const state = page.getByRole('region', { name: 'Events', exact: true })
    await state.getByRole('heading', { name: 'The query has an invalid value' }).waitFor()
    expect(await state.locator('u').textContent()).toBe('yesterday')
    await state.getByRole('button', { name: 'Back to the last valid query' }).click()
    await shows(page, ANN)
    expect(addressed(page).where).toEqual(parseQuery(ANN).where)
  })
})
