import { type AuditEvent, parseQuery } from 'daybook'
import { levelOf } from '../../../src/event/level.js'
import { compileFilter } from '../../../src/filter/evaluate.js'

/* The numbers of a log, computed from each of its events. */

/** Filters and range of an address, without its other parts. */
const queryOf = (text: string): string =>
  text
    .split('&')
    .filter((pair) => /^(?:filter|q)\b/.test(pair))
    .join('&')

export function matchingOf(events: readonly AuditEvent[], text: string): readonly AuditEvent[] {
  return events.filter(compileFilter(parseQuery(queryOf(text)).where))
}

export const levelsOf = (events: readonly AuditEvent[]): ReadonlyMap<string, number> =>
  countBy(events, ({ type }) => [levelOf(type)])

/** The number of events with each of the values; `null` stands for events without a value. */
function countBy(
  events: readonly AuditEvent[],
  valuesOf: (event: AuditEvent) => readonly unknown[],
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const event of events) {
    const values = valuesOf(event)
    for (const value of new Set(values.length === 0 ? ['\0'] : values.map(String)))
      counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

/** The key of the events without a value. */
export const MISSING = '\0'

export function valuesOf(
  events: readonly AuditEvent[],
  facet: string,
): ReadonlyMap<string, number> {
  if (facet === 'level') return levelsOf(events)
  return countBy(events, (event) => {
    const value = facet === 'type' || facet === 'username' ? event[facet] : event.attributes[facet]
    if (value === null || value === undefined) return []
    return Array.isArray(value) ? value : [value]
  })
}

/** A number as the page shows it. */
export interface ShownNumber {
  readonly count: number
  readonly isExact: boolean
}

/** Reads `41 events`, `at least 41 events` or `≥41`; `undefined` if the text has no number. */
export function readNumber(text: string): ShownNumber | undefined {
  const [, bound, digits] = /(at least |≥)?(\d[\d,]*)/.exec(text) ?? []
  return digits === undefined
    ? undefined
    : { count: Number(digits.replaceAll(',', '')), isExact: bound === undefined }
}

/** True if the number is true. A text without a number is not false. */
export function isTrue(text: string, truth: number): boolean {
  const shown = readNumber(text)
  if (!shown) return true
  return shown.isExact ? shown.count === truth : shown.count > 0 && shown.count <= truth
}
