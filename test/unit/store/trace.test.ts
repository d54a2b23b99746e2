import { describe, expect, it, vi } from 'vitest'
import { explanationOf, type QueryExplanation } from '../../../src/explaining/explanation.js'
import { createTrace, type QueryTrace, tracedFilter } from '../../../src/store/trace.js'
import { parseQuery } from '../../../src/filter/parse.js'

const PAGE = { events: [], truncated: false }

const explain = (
  trace: QueryTrace,
  measured: Partial<Parameters<typeof explanationOf>[0]> = {},
): QueryExplanation =>
  explanationOf({ store: 'own', query: parseQuery(''), trace, page: PAGE, took_ms: 1, ...measured })

describe('a trace', () => {
  it('has one step for each method, in the order of first use', () => {
    const trace = createTrace({ detailed: false })
    trace.enter('probe').rows += 3
    trace.enter('index').reads += 2
    trace.enter('probe').rows += 4
    expect(trace.steps.map(({ method, rows, reads }) => [method, rows, reads])).toEqual([
      ['probe', 7, 0],
      ['index', 0, 2],
    ])
  })

  it('adds the time to the current step', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    try {
      const at = (ms: number) => now.mockReturnValue(ms)
      const trace = createTrace({ detailed: false })
      at(10)
      trace.enter('probe')
      at(13)
      trace.enter('scan')
      at(20)
      trace.enter('probe')
      at(21)
      trace.stop()
      at(99)
      trace.stop()
      expect(trace.steps.map(({ took_ms }) => took_ms)).toEqual([4, 7])
    } finally {
      now.mockRestore()
    }
  })

  it('does not count paused time for any step', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    try {
      const at = (ms: number) => now.mockReturnValue(ms)
      const trace = createTrace({ detailed: true })
      const resume = trace.pause()
      at(10)
      resume()
      trace.enter('scan')
      at(13)
      const resumeAgain = trace.pause()
      at(20)
      resumeAgain()
      at(21)
      trace.stop()
      expect(trace.steps.map(({ took_ms }) => took_ms)).toEqual([4])
      expect(explain(trace, { took_ms: 21 }).took_ms).toBe(4)
    } finally {
      now.mockRestore()
    }
  })

  it('restarts without its steps', () => {
    const trace = createTrace({ detailed: true })
    trace.enter('scan').rows += 3
    trace.restart()
    expect([trace.steps, trace.current]).toEqual([[], undefined])
  })

  it('counts the decisions of its filter for the current step', () => {
    const trace = createTrace({ detailed: false })
    const isEven = tracedFilter(trace, (n: number) => n % 2 === 0)
    expect(isEven(2)).toBe(true)
    trace.enter('probe')
    expect([1, 2, 3].filter(isEven)).toEqual([2])
    trace.enter('scan')
    expect([4, 6].filter(isEven)).toEqual([4, 6])
    expect(trace.steps.map(({ checked, matched }) => [checked, matched])).toEqual([
      [3, 1],
      [2, 2],
    ])
  })

  it('is optional: without one the filter is unchanged', () => {
    const filter = (): boolean => true
    expect(tracedFilter(undefined, filter)).toBe(filter)
  })
})

describe('an explanation', () => {
  it('adds up the steps and has at least as many rows as were checked', () => {
    const trace = createTrace({ detailed: false })
    Object.assign(trace.enter('probe'), { rows: 100, checked: 9, matched: 2 })
    Object.assign(trace.enter('index'), { checked: 5, matched: 4, parts: 9, parts_read: 2 })
    const { steps, ...all } = explain(trace, {
      query: parseQuery('limit=6'),
      page: undefined,
      took_ms: 1.23456,
    })
    expect(all).toEqual({
      query: 'limit=6',
      store: 'own',
      events: 0,
      truncated: false,
      rows: 105,
      checked: 14,
      matched: 6,
      took_ms: 1.235,
    })
    expect(steps.map(({ rows }) => rows)).toEqual([100, 5])
  })

  it('does not change when the trace continues', () => {
    const trace = createTrace({ detailed: false })
    trace.enter('scan').checked += 1
    const explanation = explain(trace)
    trace.current!.checked += 1
    expect([explanation.checked, explanation.steps[0]!.checked]).toEqual([1, 1])
  })

  it('supports a query that no query string can express', () => {
    const query = parseQuery({ filter: { text_eq: 'a\ud800', sorts: 'type' } })
    const trace = createTrace({ detailed: false })
    expect(explain(trace, { query }).query).toBe(
      'filter[text_eq]=a%EF%BF%BD&filter[sorts][]=type%20asc&limit=10',
    )
  })
})
