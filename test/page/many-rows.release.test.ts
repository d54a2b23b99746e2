import fs from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordLines } from '../../adapters/cli/importing/record-lines.js'
import { openPage } from '../support/browser.js'
import { type PageHost, servePage } from '../support/page-host.js'
import { tempDir } from '../support/temp.js'
import { inOrder, newestFirst, scrollThrough } from './rows.js'
import { rowsOf, WAIT } from './shown.js'

const COUNT = 4500

/** Writes events that are larger than the events of a Windows security log. */
function writeEvents(file: string): string {
  const record = (n: number) => ({
    EventID: 4600 + (n % 97),
    Hostname: `ws-${n % 13}.acme.dev`,
    Message: `An operation was performed on an object. ${'Object details follow. '.repeat(80)}`,
    SubjectUserName: `user-${n % 29}`,
  })
  const lines = Array.from({ length: COUNT }, (_, n) => JSON.stringify(record(n)))
  fs.writeFileSync(file, lines.join('\n'))
  return file
}

const MEGABYTE = 1024 * 1024

/** Bytes that the page's scripts hold. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  await session.send('Performance.enable')
  const { metrics } = await session.send('Performance.getMetrics')
  await session.detach()
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value
}

describe('4,500 events', () => {
  const temp = tempDir()
  let host: PageHost
  beforeAll(async () => {
    host = await servePage()
    const file = writeEvents(temp.file('events.ndjson'))
    await recordLines({ audit: host.audit, file, typeLiteral: 'windows:event' })
  })
  afterAll(async () => {
    await host.close()
    temp.remove()
  })

  it('are all reached by scrolling, each once, and the page stays small', async () => {
    const page = await openPage(`${host.page}?range=all`, {
      user: 'ann',
      viewport: { width: 800, height: 3000 },
      ownProcess: true,
    })
    await rowsOf(page).first().waitFor()
    const ids = await newestFirst(host.audit)
    const some = await scrollThrough(page, 3000)
    const early = await heapOf(page)
    const all = await scrollThrough(page, ids.length, some.rows)
    expect([...some.conflicts, ...all.conflicts]).toEqual([])
    expect(inOrder(all)).toEqual(ids)
    expect(ids).toHaveLength(COUNT)
    expect(Math.max(some.most, all.most)).toBeLessThan(160)
    // Rows that were scrolled past would take more memory.
    await expect.poll(() => heapOf(page), WAIT).toBeLessThan(early + 1.5 * MEGABYTE)
  }, 180_000)
})
