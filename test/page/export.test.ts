import { type AuditEvent, type EventQuery, type EventStore, formatTimestamp } from 'daybook'
import { exportEvents, type ExportFormat } from 'daybook/export'
import { memoryStore } from 'daybook/memory'
import type { Download, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { attributeText } from '../../src/filter/attribute-text.js'
import { keepPages, openPage } from '../support/browser.js'
import { parseCsv } from '../support/csv.js'
import { queryDuckDb } from '../support/duckdb.js'
import { hidePackage } from '../support/hidden-package.js'
import { type PageHost, servePage } from '../support/page-host.js'
import { dayOfEvents } from '../support/story.js'
import { readDownload as read, saveDownload as save } from './downloads.js'
import { expectShown, WAIT } from './shown.js'

/* Exports. */

type Format = 'NDJSON' | 'CSV' | 'Parquet' | 'CloudEvents' | 'OCSF' | 'OTLP'

/** Cells that a spreadsheet would run as formulas. */
const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1']

const sheet = (page: Page) => page.getByRole('dialog', { name: 'Export' })
const stateIs = (page: Page, state: string) =>
  sheet(page).getByText(state, { exact: true }).waitFor()

async function openSheet(page: Page, format: Format): Promise<void> {
  await page.keyboard.press('e')
  await sheet(page).getByRole('button', { name: format, exact: true }).click()
}
const start = (page: Page, format: Format) =>
  sheet(page)
    .getByRole('button', { name: `Export ${format}` })
    .click()

async function downloadAs(page: Page, format: Format): Promise<Download> {
  await openSheet(page, format)
  const [download] = await Promise.all([page.waitForEvent('download'), start(page, format)])
  return download
}

async function exportAs(page: Page, format: Format): Promise<{ name: string; text: string }> {
  const download = await downloadAs(page, format)
  return { name: download.suggestedFilename(), text: await read(download) }
}

/** All matching events, oldest first. */
async function allOf({ audit }: PageHost, filter: string): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for await (const page of audit.pages(`${filter}&filter[sorts]=created_at`)) events.push(...page)
  return events
}

const eventsOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

describe('a file', () => {
  const visit = keepPages()
  let host: PageHost
  beforeAll(async () => {
    host = await servePage({ events: dayOfEvents(Date.now() * 1000 - 2_000_000) })
    for (const username of FORMULAS) await host.audit.recordCustom('formula', {}, { username })
  })
  afterAll(() => host.close())

  async function open(filter: string): Promise<Page> {
    const page = await visit(`${host.page}?range=all&${filter}`, { user: 'ann' })
    await expectShown(page, host.audit, filter)
    return page
  }

  it('contains every event of the query, oldest first', async () => {
    const filter = 'filter[username_not_null]=1&filter[type_not_eq]=api:assets:update'
    const page = await open(filter)
    const { name, text } = await exportAs(page, 'NDJSON')
    expect(name).toMatch(/^events-[\dT-]+Z\.ndjson$/)
    const events = await allOf(host, filter)
    expect(events.length).toBeGreaterThan(300)
    expect(eventsOf(text)).toEqual(events)
    await stateIs(page, 'Saved')
    await sheet(page).getByText(`${events.length} events`, { exact: true }).waitFor()
  })

  it('has the filters of the list, not its order', async () => {
    const hourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString()
    const atFirst = hourAgo()
    const page = await visit(`${host.page}?range=1h&filter[sorts][]=type desc`, { user: 'ann' })
    await page.getByRole('grid').waitFor()
    const { text } = await exportAs(page, 'NDJSON')
    // The range ends when the page sends the request, so events at its edge may be included or not.
    const [most, least] = [
      await allOf(host, `filter[created_at_gteq]=${atFirst}`),
      await allOf(host, `filter[created_at_gteq]=${hourAgo()}`),
    ]
    const exported = eventsOf(text)
    expect(exported.length).toBeGreaterThanOrEqual(least.length)
    expect(exported).toEqual(most.slice(-exported.length))
  })

  it('contains no CSV cell that a spreadsheet would run', async () => {
    const page = await open('filter[type_eq]=formula')
    const { name, text } = await exportAs(page, 'CSV')
    expect(name).toMatch(/\.csv$/)
    const [head, ...records] = parseCsv(text.replace(/^\uFEFF/, ''))
    const cells = records.map((record) => record[head!.indexOf('username')])
    expect(cells).toEqual(FORMULAS.map((formula) => `'${formula}`))
  })

  it('is Parquet that DuckDB reads, with a column for each shown attribute', async () => {
    const filter = 'filter[username_eq]=bob'
    const page = await open(`columns=url_params_project_code&${filter}`)
    await openSheet(page, 'Parquet')
    await sheet(page).getByRole('checkbox').check()
    const [download] = await Promise.all([page.waitForEvent('download'), start(page, 'Parquet')])
    expect(download.suggestedFilename()).toMatch(/^events-[\dT-]+Z\.parquet$/)
    const { total } = await host.audit.count(filter)
    await sheet(page).getByText(`${total} events`, { exact: true }).waitFor()
    const [rows] = await queryDuckDb(
      `SELECT id::VARCHAR AS id, url_params_project_code AS code FROM '${await save(download)}'`,
    )
    const codeOf = attributeText('url_params_project_code')
    expect(rows).toEqual(
      (await allOf(host, filter)).map((event) => ({ id: event.id, code: codeOf(event) })),
    )
    expect(rows).toHaveLength(total)
  })

  it.each(['CloudEvents', 'OCSF', 'OTLP'] as const)(
    'is %s with an event in each line',
    async (format) => {
      const filter = 'filter[username_eq]=bob'
      const page = await open(filter)
      const { name, text } = await exportAs(page, format)
      expect(name).toMatch(/\.ndjson$/)
      const sent: Uint8Array[] = []
      const options = { format: format.toLowerCase() as ExportFormat }
      for await (const chunk of exportEvents(host.audit, filter, options)) sent.push(chunk)
      expect(text).toBe(Buffer.concat(sent).toString())
    },
  )

  it('is not written if the service lacks the package for Parquet', async () => {
    onTestFinished(hidePackage('hyparquet-writer'))
    const page = await openPage(`${host.page}?range=all`, { user: 'ann', tolerates: /501/ })
    await expectShown(page, host.audit, '')
    await openSheet(page, 'Parquet')
    await start(page, 'Parquet')
    await stateIs(page, 'Not available')
    await sheet(page)
      .getByText(/^The service cannot write Parquet: the package hyparquet-writer is not installed/)
      .waitFor()
  })

  it('is written on a phone too', async () => {
    const filter = 'filter[username_eq]=bob'
    const url = `${host.page}?range=all&${filter}`
    const page = await openPage(url, { user: 'ann', viewport: { width: 390, height: 844 } })
    await expectShown(page, host.audit, filter)
    const tools = page.getByRole('navigation', { name: 'Tools' })
    await tools.getByRole('button', { name: 'Export' }).click()
    const [download] = await Promise.all([page.waitForEvent('download'), start(page, 'NDJSON')])
    expect(eventsOf(await read(download))).toEqual(await allOf(host, filter))
  })
})

/** True if the query requests a later page of an export. */
const isLaterPage = ({ where, limit }: EventQuery): boolean =>
  limit === 1000 && where?.groupings.at(-1)?.conditions[0]?.predicate === 'gt'

describe('a slow export', () => {
  const visit = keepPages()
  let host: PageHost
  /** The promise that an export waits for after its first thousand events. */
  let gate = Promise.resolve()
  let openGate: (error?: Error) => void

  const closeGate = (): void => {
    gate = new Promise((resolve, reject) => {
      openGate = (error) => (error ? reject(error) : resolve())
    })
    gate.catch(() => undefined)
  }

  beforeAll(async () => {
    const held = memoryStore()
    const store: EventStore = {
      ...held,
      async list(query, options) {
        if (isLaterPage(query)) await gate
        return held.list(query, options)
      },
    }
    host = await servePage({ store, events: dayOfEvents(Date.now() * 1000 - 2_000_000) })
  })
  afterAll(() => host.close())

  /** Closes the gate, and opens the page. */
  async function hold(): Promise<Page> {
    closeGate()
    const options = { user: 'ann', tolerates: /ERR_.*\/export/ }
    const page = await visit(`${host.page}?range=all`, options)
    await expectShown(page, host.audit, '')
    return page
  }

  async function begin(format: Format): Promise<{ page: Page; written: number; total: number }> {
    const page = await hold()
    await openSheet(page, format)
    await start(page, format)
    await stateIs(page, 'Saving')
    const { total } = await host.audit.count()
    const progress = sheet(page).getByText(/^[\d,]+ of [\d,]+$/)
    // The events before the gate may arrive in several chunks.
    const expected = `1,000 of ${total.toLocaleString('en-US')}`
    await expect.poll(() => progress.textContent(), WAIT).toBe(expected)
    return { page, written: 1000, total }
  }

  it('shows its progress, and continues in the background', async () => {
    const { page, written, total } = await begin('NDJSON')
    expect(written).toBeLessThan(total)
    await page.keyboard.press('Escape')
    await sheet(page).waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('user is bob')
    await page
      .getByRole('option', { name: /^user is bob/ })
      .first()
      .click()
    await expectShown(page, host.audit, 'filter[username_eq]=bob')
    const downloaded = page.waitForEvent('download')
    openGate()
    const events = eventsOf(await read(await downloaded))
    expect(events).toEqual(await allOf(host, ''))
    await page
      .getByRole('status')
      .getByText(/^2,\d{3} events exported$/)
      .waitFor({ state: 'attached' })
  })

  it.each([
    ['NDJSON', /-cut\.ndjson$/],
    ['CSV', /-cut\.csv$/],
  ] as const)('is stopped as %s, and says so in its name and last line', async (format, name) => {
    const { page, written, total } = await begin(format)
    const stop = sheet(page).getByRole('button', { name: 'Stop' })
    const [download] = await Promise.all([page.waitForEvent('download'), stop.click()])
    expect(download.suggestedFilename()).toMatch(name)
    openGate()
    await stateIs(page, 'Stopped')
    const text = await read(download)
    if (format === 'NDJSON') {
      const events = eventsOf(text)
      expect(events.pop()).toEqual({ cut: true, events: written, of: total })
      expect(events).toEqual((await allOf(host, '')).slice(0, written))
    } else {
      expect(text.trimEnd().split('\r\n').at(-1)).toBe(`"cut after ${written} of ${total} events"`)
    }
  })

  it('leaves no file of Parquet if it is stopped', async () => {
    const page = await hold()
    await openSheet(page, 'Parquet')
    await start(page, 'Parquet')
    await stateIs(page, 'Saving')
    await sheet(page).getByRole('button', { name: 'Stop' }).click()
    await stateIs(page, 'Stopped')
    await sheet(page).getByText('Export stopped: the incomplete file was discarded').waitFor()
    openGate()
  })

  it('says that the connection broke', async () => {
    const { page, written, total } = await begin('NDJSON')
    const downloaded = page.waitForEvent('download')
    openGate(new Error('broken'))
    const download = await downloaded
    expect(download.suggestedFilename()).toMatch(/-cut\.ndjson$/)
    await stateIs(page, 'Cut off')
    const last = eventsOf(await read(download)).at(-1)
    expect(last).toEqual({ cut: true, events: written, of: total })
  })
})

describe('a large export', () => {
  const COUNT = 30_000
  /** The number of the last page of the export. The first page does not count. */
  const LAST_PAGE = 29

  it('is not held in the memory of the page', async () => {
    const end = Date.now() * 1000
    const events = Array.from({ length: COUNT }, (_, index): AuditEvent => ({
      id: `0199f1a6-0000-7000-8000-${index.toString(16).padStart(12, '0')}`,
      created_at: formatTimestamp(end - (COUNT - index) * 1000),
      username: 'ann',
      system: true,
      type: 'api:steps:success',
      source: null,
      attributes: { n: index, name: 'Build image', change_name: 'nightly-2211' },
    }))
    let openGate = (): void => undefined
    const gate = new Promise<void>((resolve) => (openGate = resolve))
    const held = memoryStore()
    let pages = 0
    const store: EventStore = {
      ...held,
      async list(query, options) {
        if (isLaterPage(query) && ++pages === LAST_PAGE) await gate
        return held.list(query, options)
      },
    }
    const host = await servePage({ store, events })
    onTestFinished(() => host.close())
    const page = await openPage(`${host.page}?range=all`, { user: 'ann', ownProcess: true })
    await page.getByRole('heading', { level: 1, name: '30,000 events' }).waitFor()
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    const heap = async (): Promise<number> => {
      await session.send('HeapProfiler.collectGarbage')
      const { metrics } = await session.send('Performance.getMetrics')
      return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value
    }
    const before = await heap()
    await openSheet(page, 'NDJSON')
    const downloaded = page.waitForEvent('download')
    await start(page, 'NDJSON')
    // Nothing arrives while the heap is measured, so it contains only data that the page keeps.
    await sheet(page).getByText('29,000 of 30,000', { exact: true }).waitFor()
    const after = await heap()
    openGate()
    const text = await read(await downloaded)
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(COUNT)
    expect(JSON.parse(lines.at(-1)!)).toEqual(events.at(-1))
    // The file has more than 6 MB.
    expect(text.length).toBeGreaterThan(6e6)
    expect(after - before).toBeLessThan(3e6)
  })
})
