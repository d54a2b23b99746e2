import assert from 'node:assert/strict'
import type { AuditLog } from '../../audit-log.js'
import type { QueryExplanation } from '../../explaining/explanation.js'
import { createTrace } from '../../store/trace.js'
import { parseQuery, type QueryObject } from '../../filter/parse.js'
import { type Case, cases } from './context.js'
import { recordSome, rejectsWith } from './helpers.js'
import { openLive } from './live-events.js'

/** Explains the query, and checks that the figures agree with its list and with each other. */
async function checkedExplanation(audit: AuditLog, query: QueryObject): Promise<QueryExplanation> {
  const page = await audit.list(query)
  const explanation = await audit.explain(query)
  const { events, truncated, steps, took_ms } = explanation
  const about = JSON.stringify({ query, explanation })
  assert.deepEqual([events, truncated], [page.events.length, page.truncated], about)
  assert.deepEqual(parseQuery(explanation.query), parseQuery(query), about)
  const returned = events + Number(truncated)
  assert.ok(explanation.matched >= returned, `${returned} events were returned: ${about}`)
  let taken = 0
  for (const step of [...steps, explanation]) {
    assert.ok(step.rows >= step.checked && step.checked >= step.matched, about)
    assert.ok(step.matched >= 0 && step.took_ms >= 0, about)
  }
  for (const { parts, parts_read, reads, ...step } of steps) {
    assert.ok(parts >= parts_read && parts_read >= 0 && reads >= 0, about)
    taken += step.took_ms
  }
  for (const figure of ['rows', 'checked', 'matched'] as const) {
    const sum = steps.reduce((sum, step) => sum + step[figure], 0)
    assert.equal(explanation[figure], sum, `${figure}: ${about}`)
  }
  assert.equal(new Set(steps.map(({ method }) => method)).size, steps.length, about)
  assert.ok(taken <= took_ms + 0.01, `the steps took longer than the query: ${about}`)
  return explanation
}

/** Number of rows that a store may read beyond the rows of a page. */
const MAX_EXTRA_ROWS = 4000

export const explainCases: readonly Case[] = cases({
  async 'explain: agrees with list, and its figures with each other'({ audit }) {
    await recordSome(audit, 40)
    const filters: QueryObject['filter'][] = [
      {},
      { n_eq: 7 },
      { n_in: ['1', '2', '39'] },
      { n_lt: 20, type_start: 'test:' },
      { n_eq: 'none' },
      { type_cont: 'vent' },
      { missing_null: '1' },
      { n_lt: 20, sorts: 'created_at' },
      { n_lt: 20, sorts: 'n desc' },
      { sorts: ['type', 'n'] },
      { created_at_lt: '1980-01-01' },
    ]
    for (const filter of filters)
      for (const limit of [1, 10, 1000]) await checkedExplanation(audit, { filter, limit })
  },

  async 'explain: reports how many events were checked'({ audit }) {
    await recordSome(audit, 30)
    const { checked, rows, steps } = await checkedExplanation(audit, {
      filter: { n_not_eq: 3 },
      limit: 5,
    })
    assert.ok(steps.length > 0, 'the trace has no step')
    // The sixth event shows that more match.
    assert.ok(checked >= 6 && checked <= 30, `${checked} events were checked`)
    assert.ok(rows >= 6, `${rows} rows were read`)
    const all = await checkedExplanation(audit, { filter: { sorts: 'n desc' }, limit: 1000 })
    assert.deepEqual([all.events, all.matched], [30, 30])
  },

  async 'explain: a query for the newest events of a large log reads only those'({ audit }) {
    const count = 2 * MAX_EXTRA_ROWS
    for (let first = 0; first < count; first += 1000) await recordSome(audit, 1000, first)
    const newest = await checkedExplanation(audit, { limit: 10 })
    assert.ok(newest.checked <= 1000 && newest.rows <= MAX_EXTRA_ROWS, JSON.stringify(newest))
    const some = await checkedExplanation(audit, { filter: { n_gteq: count - 20 }, limit: 10 })
    assert.ok(some.checked <= 1000 && some.rows <= MAX_EXTRA_ROWS, JSON.stringify(some))
  },

  async 'explain: includes open live events'({ store, audit }) {
    await recordSome(audit, 3)
    const live = await openLive(store, { n: 'live' })
    await recordSome(audit, 3, 3)
    const { events, checked } = await checkedExplanation(audit, { filter: { n_eq: 'live' } })
    assert.deepEqual([events, checked >= 1], [1, true])
    await store.closeLive(live.id, { revision: 1 })
  },

  async 'explain: rejects like list'({ store, audit }) {
    await recordSome(audit, 3)
    await rejectsWith(audit.explain('filter[n_equals]=1'), 'UNKNOWN_PREDICATE')
    await rejectsWith(audit.explain({}, { signal: AbortSignal.abort() }), 'ABORTED')
    await store.close()
    await rejectsWith(audit.explain(), 'CLOSED')
  },

  async 'explain: a trace without details does not change the page'({ store, audit }) {
    await recordSome(audit, 30)
    for (const text of ['', 'filter[n_eq]=3', 'filter[sorts]=n desc&limit=3']) {
      const trace = createTrace({ detailed: false })
      const query = parseQuery(text)
      const traced = await store.list(query, { trace })
      assert.deepEqual(traced, await store.list(query), text)
      const matched = trace.steps.reduce((sum, step) => sum + step.matched, 0)
      assert.ok(matched >= traced.events.length, JSON.stringify(trace.steps))
    }
  },
})
