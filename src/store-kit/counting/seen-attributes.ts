import type { JsonObject, JsonValue } from '../../event/event.js'
import { firstInOrderOf } from '../../filter/order.js'
import { compareText } from '../../filter/values.js'
import type { SeenAttribute } from '../../store/counts.js'
import { isOwnField } from '../../event/own-fields.js'
import { createSeenValues, type Capacity, type SeenValues } from './seen-values.js'

/** The order of equally frequent types. */
const TYPES = ['string', 'number', 'boolean', 'null'] as const

interface Seen {
  count: number
  /** The number of the event that was counted last. */
  event: number
  readonly types: SeenValues
  readonly values: SeenValues
}

/** Collects the names by which filters find values of events. */
export interface SeenAttributes {
  /** Adds the attributes of an event that stands for `count` equal ones. */
  add(attributes: JsonObject, event: number, count: number): void
  /** The most frequent names; ties in the order of the names. */
  top(scale: (count: number) => number): SeenAttribute[]
}

const MAX_NAMES = 10_000
const MAX_RETURNED = 1000
const MAX_NAME = 255
// Longer texts, and values beyond this number, are not used as examples.
const MAX_TEXT = 100
const MAX_VALUES = 100_000
const MAX_EXAMPLES = 5

export function createSeenAttributes(): SeenAttributes {
  const names = new Map<string, Seen>()
  const room: Capacity = { values: MAX_VALUES, characters: MAX_VALUES * MAX_TEXT }

  const seenOf = (name: string): Seen | undefined => {
    const seen = names.get(name)
    if (seen || names.size === MAX_NAMES || name === '' || name.length > MAX_NAME) return seen
    if (isOwnField(name)) return undefined
    const added: Seen = {
      count: 0,
      event: -1,
      types: createSeenValues({ values: TYPES.length, characters: Infinity }),
      values: createSeenValues(room),
    }
    names.set(name, added)
    return added
  }

  const leaf = (name: string, value: JsonValue, event: number, count: number): void => {
    const seen = seenOf(name)
    if (!seen) return
    if (seen.event !== event) seen.count += count
    seen.event = event
    seen.types.add(value === null ? 'null' : typeof value, event, count)
    if (value === null || typeof value === 'object') return
    if (typeof value !== 'string' || value.length <= MAX_TEXT) seen.values.add(value, event, count)
  }

  const walk = (name: string, value: JsonValue, event: number, count: number): void => {
    if (value === null || typeof value !== 'object') leaf(name, value, event, count)
    else if (Array.isArray(value)) for (const element of value) walk(name, element, event, count)
    else members(`${name}_`, value, event, count)
  }

  const members = (prefix: string, object: JsonObject, event: number, count: number): void => {
    for (const key of Object.keys(object)) walk(prefix + key, object[key]!, event, count)
  }

  return {
    add: (attributes, event, count) => members('', attributes, event, count),
    top: (scale) =>
      firstInOrderOf(
        names,
        MAX_RETURNED,
        ([a, { count: m }], [b, { count: n }]) => n - m || compareText(a, b),
      ).map(([name, { count, types, values }]) => ({
        name,
        types: typesOf(types),
        count: scale(count),
        values: values.top(MAX_EXAMPLES, scale),
      })),
  }
}

function typesOf(types: SeenValues): SeenAttribute['types'] {
  const counts = new Map(
    types.top(TYPES.length, (count) => count).map(({ value, count }) => [value, count]),
  )
  return TYPES.filter((type) => counts.has(type)).toSorted(
    (a, b) => counts.get(b)! - counts.get(a)!,
  )
}
