import { expect, test } from 'vitest'
import type { Choice } from '../../../../adapters/page/facets/facet-choice.js'
import {
  collapsedRows,
  levelRows,
  expandedRows,
} from '../../../../adapters/page/facets/facet-rows.js'
import type { EventCounts, Facet } from '../../../../src/store/counts.js'

const ALL: Choice = { not: true, values: [] }

const facetOf = (
  counts: Readonly<Record<string, number>>,
  missing = 0,
  distinct?: number,
): Facet => ({
  values: Object.entries(counts).map(([value, count]) => ({ value, count })),
  distinct: distinct ?? Object.keys(counts).length,
  exact: true,
  missing,
})

const SEVEN = { a: 70, b: 60, c: 50, d: 40, e: 30, f: 20, g: 10 }

test('five values are shown, and how many more there are', () => {
  const { shown, more } = collapsedRows(facetOf(SEVEN, 0, 61), ALL, 280)
  expect(shown.map(({ value }) => value)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(more).toBe(56)
})

test('the missing value takes the last of the five rows', () => {
  const { shown, more } = collapsedRows(facetOf(SEVEN, 900), ALL, 280)
  expect(shown.at(-1)).toEqual({ value: null, count: 900 })
  expect(shown.map(({ value }) => value)).toEqual(['a', 'b', 'c', 'd', null])
  expect(more).toBe(3)
})

test('selected values are shown even if others are more frequent', () => {
  const { shown, more } = collapsedRows(facetOf(SEVEN), { not: false, values: ['g', 'a'] }, 280)
  expect(shown.map(({ value }) => value)).toEqual(['a', 'b', 'c', 'd', 'e', 'g'])
  expect(more).toBe(1)
})

test('a selected value that was not counted has no number, unless no other value is selected', () => {
  const two = collapsedRows(facetOf(SEVEN, 0, 61), { not: false, values: ['z', 'a'] }, 280)
  expect(two.shown.at(-1)).toEqual({ value: 'z', count: undefined })
  expect(two.more).toBe(56)
  const one = collapsedRows(facetOf(SEVEN), { not: false, values: ['z'] }, 4)
  expect(one.shown.at(-1)).toEqual({ value: 'z', count: 4 })
  const shutOut = collapsedRows(facetOf(SEVEN), { not: true, values: ['z'] }, 280)
  expect(shutOut.shown.at(-1)).toEqual({ value: 'z', count: undefined })
})

test('the missing value is shown if selected or if it occurs', () => {
  expect(collapsedRows(facetOf({ a: 1 }), { not: false, values: [null] }, 0).shown).toEqual([
    { value: 'a', count: 1 },
    { value: null, count: 0 },
  ])
  expect(collapsedRows(facetOf({ a: 1 }), { not: true, values: ['a', null] }, 0).shown).toEqual([
    { value: 'a', count: 1 },
  ])
})

test('a number and its text are one value', () => {
  const facet: Facet = {
    values: [
      { value: 1, count: 5 },
      { value: '1', count: 3 },
      { value: false, count: 2 },
    ],
    distinct: 3,
    exact: true,
    missing: 0,
  }
  expect(collapsedRows(facet, ALL, 10).shown).toEqual([
    { value: '1', count: undefined },
    { value: 'false', count: 2 },
  ])
})

const OPTIONS = { total: 280, known: ['b', 'bee', 'x:bee'], max: 3 }

test('an expanded facet shows all counted values up to a maximum', () => {
  const { shown, more } = expandedRows('', facetOf(SEVEN, 5, 9), ALL, OPTIONS)
  expect(shown.map(({ value }) => value)).toEqual(['a', 'b', 'c', null])
  expect(more).toBe(6)
})

test('a search finds values by a part, also known ones that do not occur', () => {
  const { shown, more } = expandedRows(' BE', facetOf({ ...SEVEN, 'to be': 1 }), ALL, OPTIONS)
  expect(shown).toEqual([
    { value: 'to be', count: 1 },
    { value: 'bee', count: 0 },
    { value: 'x:bee', count: 0 },
  ])
  expect(more).toBe(0)
})

const counts = (levels: Readonly<Record<string, number>>): EventCounts => ({
  total: 0,
  levels: {},
  buckets: undefined,
  facets: { level: facetOf(levels) },
  attributes: undefined,
  exact: { total: true, levels: true, buckets: true, attributes: true },
  took_ms: 1,
})

test('levels keep their order, and custom is shown only if it occurs', () => {
  expect(levelRows(counts({ api: 3, error: 1 }), ALL)).toEqual([
    { level: 'error', count: 1 },
    { level: 'warn', count: 0 },
    { level: 'audit', count: 0 },
    { level: 'info', count: 0 },
    { level: 'api', count: 3 },
  ])
  expect(levelRows(counts({ custom: 3 }), ALL).at(-1)).toEqual({ level: 'custom', count: 3 })
  expect(levelRows(undefined, { not: true, values: ['custom'] }).at(-1)!.level).toBe('custom')
})
