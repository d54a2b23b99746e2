import { isDeepStrictEqual } from 'node:util'
import type { AuditEvent, JsonValue } from 'daybook'
import { expect } from 'vitest'
import type { Scalar } from '../../src/filter/attributes.js'
import { indexedText, type IndexPart, Kind, kindOf } from '../../src/store-kit/index/part.js'
import { EMPTY } from '../../src/store-kit/index/postings.js'
import { parseTimestamp } from '../../src/event/timestamp.js'
import { compareScalars, ordinalsOf } from './index-values.js'

const OWN = new Set(['id', 'created_at', 'type', 'username', 'system'])

interface Name {
  readonly values: Map<Scalar, number[]>
  readonly valued: number[]
  readonly containers: number[]
}

const add = (list: number[], ordinal: number): void => {
  if (list.at(-1) !== ordinal) list.push(ordinal)
}

/** The expected content of an index of the events. */
function namesOf(events: readonly AuditEvent[]): Map<string, Name> {
  const names = new Map<string, Name>()
  const nameOf = (name: string): Name => {
    if (!names.has(name)) names.set(name, { values: new Map(), valued: [], containers: [] })
    return names.get(name)!
  }
  const visit = (name: string, value: JsonValue, ordinal: number, isOwn = false): void => {
    if (value === null) return
    const isSet = !isOwn && OWN.has(name)
    if (typeof value !== 'object') {
      if (isSet) return
      const scalar = typeof value === 'string' ? indexedText(value) : value
      const { values, valued } = nameOf(name)
      if (!values.has(scalar)) values.set(scalar, [])
      add(values.get(scalar)!, ordinal)
      add(valued, ordinal)
      return
    }
    if (Object.keys(value).length > 0 && !isSet) add(nameOf(name).containers, ordinal)
    if (Array.isArray(value)) for (const element of value) visit(name, element, ordinal)
    else for (const [key, member] of Object.entries(value)) visit(`${name}_${key}`, member, ordinal)
  }
  for (const [ordinal, { type, username, system, attributes }] of events.entries()) {
    visit('type', type, ordinal, true)
    visit('username', username, ordinal, true)
    visit('system', system, ordinal, true)
    for (const [key, value] of Object.entries(attributes)) visit(key, value, ordinal)
  }
  return names
}

export const timeOf = ({ created_at }: AuditEvent): number => parseTimestamp(created_at)!

/**
 * Like `expect(found, what).toEqual(expected)`. Calls of that for many values took a tenth of the time of their
 * tests.
 */
function expectEqual(found: unknown, expected: unknown, what?: string): void {
  if (!isDeepStrictEqual(found, expected)) expect(found, what).toEqual(expected)
}

/** Reads all of a part and compares it with the events, oldest first. */
export function expectPart(part: IndexPart, events: readonly AuditEvent[]): void {
  const times = events.map(timeOf)
  expect([part.size, part.first, part.last]).toEqual([times.length, times[0], times.at(-1)])
  expect(times.map((_, ordinal) => part.timeOf(ordinal))).toEqual(times)
  expect(times.map((time) => part.countBefore(time))).toEqual(times.map((_, ordinal) => ordinal))
  expect(times.map((time) => part.countBefore(time + 1))).toEqual(times.map((_, i) => i + 1))
  const names = namesOf(events)
  for (const [name, { values, valued, containers }] of names) {
    expectEqual(ordinalsOf(part.valued(name)), valued, name)
    expectEqual(ordinalsOf(part.containers(name)), containers, name)
    expectEqual(ordinalsOf(part.partial(name)), [], name)
    for (const [value, list] of values) {
      const found = part.find(name, value)
      if (found.size < list.length) expect(found.size).toBeGreaterThanOrEqual(list.length)
      expectEqual(ordinalsOf(found), list)
      expectEqual(ordinalsOf(part.find(name, value), -1), list.toReversed())
    }
    for (const kind of Object.values(Kind)) expectValues(part, name, kind, values)
  }
  for (const name of ['nothing', ...names.keys()])
    for (const value of ['nobody', '', 12345.5, -1e308]) {
      if (names.get(name)?.values.has(value)) continue
      const found = part.find(name, value)
      if (found !== EMPTY) expect(found).toBe(EMPTY)
    }
  expect([...part.values('nothing', Kind.text, 'asc')]).toEqual([])
}

function expectValues(
  part: IndexPart,
  name: string,
  kind: Kind,
  all: ReadonlyMap<Scalar, readonly number[]>,
): void {
  const values = [...all]
    .filter(([value]) => kindOf(value) === kind)
    .toSorted(([a], [b]) => compareScalars(a, b))
  const bounds = [undefined, ...values.slice(0, 5).map(([value]) => value), ...BEYOND[kind]]
  for (const order of ['asc', 'desc'] as const)
    for (const from of bounds) {
      const expected = (order === 'asc' ? values : values.toReversed()).filter(
        ([value]) =>
          from === undefined || compareScalars(value, from) * (order === 'asc' ? 1 : -1) >= 0,
      )
      const met = Array.from(part.values(name, kind, order, from), (entry) => {
        const { length } = all.get(entry.value)!
        if (entry.size < length) expect(entry.size).toBeGreaterThanOrEqual(length)
        return [entry.value, ordinalsOf(entry.postings())]
      })
      expectEqual(met, expected, `${name} from ${String(from)} ${order}`)
    }
}

const BEYOND: Readonly<Record<Kind, readonly Scalar[]>> = {
  [Kind.boolean]: [false, true],
  [Kind.number]: [-1e300, 0.05, 1e300],
  [Kind.text]: ['', 'm', '\uFFFD', '\uD83Dx', '\uDE00', '\u{10FFFF}'],
}
