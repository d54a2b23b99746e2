import { AuditLog, parseQuery } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { probeSizes } from '../../../adapters/sqlite/read/list.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import { probeOf } from '../../../src/store-kit/planning/list-planner.js'
import { tempDir } from '../../support/temp.js'

const SIZE = 500
const temp = tempDir()
let audit: AuditLog

beforeAll(async () => {
  audit = new AuditLog({ store: sqliteStore({ filename: temp.file('audit.db') }), types: {} })
  await Promise.all(Array.from({ length: SIZE }, (_, n) => audit.recordCustom('own', { n })))
})
afterAll(async () => {
  await audit.close()
  temp.remove()
})

const explain = async (query: string) => {
  // Time stands still, because a batch of rows ends with its time slice on a slow machine.
  using _now = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  const { steps } = await audit.explain(query)
  return steps.map(({ method, rows, checked, matched }) => ({ method, rows, checked, matched }))
}

it.each([
  ['filter[n_lt]=0', 0],
  ['filter[n_lt]=1', 1],
  ['filter[n_lt]=400', 400],
  ['filter[n_gteq]=0', SIZE],
])('all rows are scanned, and the database excludes some: %s', async (text, matched) => {
  expect(await explain(`${text}&filter[sorts]=id`)).toEqual([
    { method: 'scan', rows: SIZE, checked: matched, matched },
  ])
})

it('rows that the database cannot exclude are checked', async () => {
  const expected = [{ method: 'scan', rows: SIZE, checked: SIZE, matched: 0 }]
  expect(await explain('filter[id_end]=zz')).toEqual(expected)
  expect(await explain('filter[id_end]=zz&filter[sorts]=created_at')).toEqual(expected)
})

it.each([
  ['newest', `filter[n_lt]=${SIZE - 10}`],
  ['oldest', 'filter[n_gteq]=10&filter[sorts]=created_at'],
])('a probe from the %s reads no more rows than needed', async (_, query) => {
  expect(await explain(`${query}&limit=9`)).toEqual([
    { method: 'probe', rows: 20, checked: 20, matched: 10 },
  ])
})

it('if few of the first rows match, the database excludes some of the next', async () => {
  expect(await explain(`filter[n_lt]=${SIZE - 30}&limit=9`)).toEqual([
    { method: 'probe', rows: 40, checked: 26, matched: 10 },
  ])
})

it.each([
  ['a common value', 'filter[type_eq]=own', 10],
  ['a value of few events', `filter[n_in][]=3&filter[n_in][]=${SIZE - 1}`, 2],
])('%s takes the same steps, independent of earlier queries', async (_, query, rows) => {
  const steps = [{ method: 'index', rows, checked: rows, matched: rows }]
  const other = `filter[n_gteq]=${SIZE - 1}&filter[sorts]=n`
  const before = audit
  audit = new AuditLog({ store: sqliteStore({ filename: temp.file('audit.db') }), types: {} })
  try {
    expect(await explain(`${query}&limit=9`)).toEqual(steps)
    expect(await explain(`${query}&limit=9`)).toEqual(steps)
    await explain(other)
    expect(await explain(`${query}&limit=9`)).toEqual(steps)
  } finally {
    await audit.close()
    audit = before
  }
})

it.each([
  ['filter[n_eq]=3', 8192, 0, true],
  ['filter[n_eq]=3', 8193, 16, false],
  ['filter[n_lt]=3', 0, 64, true],
])('the probe of %s for %i unsealed events has %i events', (text, unsealed, size, isDense) => {
  const filter = indexFilter(parseQuery(text).where)!
  const logState = { appended: 10_000 + unsealed, sealed: 10_000 }
  const probe = probeOf(filter, probeSizes(logState, 64))
  expect(probe.left()).toBe(size)
  if (size > 0) expect(probe.isDense()).toBe(isDense)
})

it('a query for a time range reads no more rows than its page needs', async () => {
  const { events } = await audit.list({ limit: 1 })
  const query = `filter[created_at_lt]=${events[0]!.created_at}&limit=9`
  expect(await explain(query)).toEqual([{ method: 'scan', rows: 10, checked: 10, matched: 10 }])
})

it.each([
  ['its first events', 9_000, 64],
  ['a mebibyte of attributes', 40_000, 27],
])('a probe with short time slices ends after %s', async (_, size, rows) => {
  const filename = temp.file(`large-${size}.db`)
  const log = new AuditLog({ store: sqliteStore({ filename, queryTimeoutMs: 1e9 }), types: {} })
  try {
    // SQL does not test attributes of this size.
    const text = 'x'.repeat(size)
    await Promise.all(Array.from({ length: 100 }, () => log.recordCustom('large', { text })))
    let now = performance.now()
    using _now = vi.spyOn(performance, 'now').mockImplementation(() => (now += 5))
    const { steps } = await log.explain('filter[order_lt]=0')
    expect(steps[0]).toMatchObject({ method: 'probe', rows, checked: rows })
  } finally {
    await log.close()
  }
})
