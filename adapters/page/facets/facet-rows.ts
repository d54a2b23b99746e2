import type { EventCounts, Facet } from '../../../src/store/counts.js'
import { type Level, LEVELS } from '../../../src/event/level.js'
import type { Choice, FacetValue } from './facet-choice.js'

/** A facet value and its number of events; `undefined` if not counted. */
export interface Row {
  readonly value: FacetValue
  readonly count: number | undefined
}

/** The number of values that a collapsed facet shows. */
const COLLAPSED_ROWS = 5

/** The levels in their order; `custom` only if it occurs or is selected. */
export function levelRows(
  counts: EventCounts | undefined,
  choice: Choice,
): { readonly level: Level; readonly count: number }[] {
  const values = counts?.facets['level']?.values ?? []
  const rows = LEVELS.map((level) => ({
    level,
    count: values.find(({ value }) => value === level)?.count ?? 0,
  }))
  return rows.filter(
    ({ level, count }) => level !== 'custom' || count > 0 || choice.values.includes(level),
  )
}

/** The counted values, most frequent first, then selected values that were not counted. */
function valueRows(facet: Facet, choice: Choice, total: number | undefined): Row[] {
  const counted = new Map<string, number | undefined>()
  for (const { value, count } of facet.values) {
    // Filters do not distinguish 1 from "1", and some events may have both.
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    counted.set(text, counted.has(text) ? undefined : count)
  }
  const isOnly = !choice.not && choice.values.length === 1
  const others = choice.values.filter((value) => value !== null && !counted.has(value))
  return [
    ...[...counted].map(([value, count]) => ({ value, count })),
    ...others.map((value) => ({ value, count: isOnly ? total : undefined })),
  ]
}

export interface FacetRows {
  readonly shown: readonly Row[]
  /** The number of values not shown. */
  readonly more: number
}

function missingRows({ missing }: Facet, choice: Choice): Row[] {
  const isChosen = !choice.not && choice.values.includes(null)
  return missing > 0 || isChosen ? [{ value: null, count: missing }] : []
}

/** The rows of a collapsed facet: the most frequent and the selected values, then the missing value. */
export function collapsedRows(facet: Facet, choice: Choice, total: number | undefined): FacetRows {
  const rows = valueRows(facet, choice, total)
  const missing = missingRows(facet, choice)
  const first = COLLAPSED_ROWS - missing.length
  const shown = rows.filter(({ value }, i) => i < first || choice.values.includes(value))
  const uncounted = shown.filter(({ count }) => count === undefined).length
  const more = Math.max(0, facet.distinct - (shown.length - uncounted))
  return { shown: [...shown, ...missing], more }
}

/**
 * The rows of an expanded facet whose values contain a text. With a text, they include `known` values that do not
 * occur.
 */
export function expandedRows(
  text: string,
  facet: Facet,
  choice: Choice,
  { total, known, max }: { total: number | undefined; known: readonly string[]; max: number },
): FacetRows {
  const part = text.trim().toLowerCase()
  const rows = valueRows(facet, choice, total)
  const seen = new Set(rows.map(({ value }) => value))
  const unseen = part === '' ? [] : known.filter((value) => !seen.has(value))
  const hasAll = facet.exact && facet.values.length === facet.distinct
  const found = [
    ...rows,
    ...unseen.map((value): Row => ({ value, count: hasAll ? 0 : undefined })),
  ].filter(({ value }) => value!.toLowerCase().includes(part))
  const beyond = part === '' ? Math.max(0, facet.distinct - rows.length) : 0
  const more = Math.max(0, found.length - max) + beyond
  const missing = part === '' ? missingRows(facet, choice) : []
  return { shown: [...found.slice(0, max), ...missing], more }
}
