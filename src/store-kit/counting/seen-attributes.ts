import type { JsonObject, JsonValue } from '../../event/event.js'
import { spend, type Steps } from '../../filter/steps.js'
import { firstInOrderOf } from '../../filter/order.js'
import { compareText } from '../../filter/values.js'
import type { SeenAttribute } from '../../store/counts.js'
import { isOwnField } from '../../event/own-fields.js'
import { searchedAttributes } from '../../event/searched.js'
import type { CountedEvent, FigureTally } from './figure-tally.js'
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
export interface SeenAttributes extends FigureTally {
  /** The most frequent names; ties in the order of the names. */
  top(): Steps<SeenAttribute[]>
}

const MAX_NAMES = 10_000
const MAX_RETURNED = 1000
const MAX_NAME = 255
// Longer texts, and values beyond this number, are not used as examples.
const MAX_TEXT = 100
const MAX_VALUES = 100_000
const MAX_EXAMPLES = 5
// Shares of a value and of a new name in the budget of work that is done at once.
const VALUE_UNITS = 10
const NAME_UNITS = 300

export function createSeenAttributes(): SeenAttributes {
  const names = new Map<string, Seen>()
  const room: Capacity = { values: MAX_VALUES, characters: MAX_VALUES * MAX_TEXT }

  const seenOf = (name: string): Seen | undefined => {
    const seen = names.get(name)
    if (seen || names.size === MAX_NAMES || name === '' || name.length > MAX_NAME) return seen
    if (isOwnField(name)) return undefined
    spend(NAME_UNITS)
    const added: Seen = {
      count: 0,
      event: -1,
      types: createSeenValues({ values: TYPES.length, characters: Infinity }),
      values: createSeenValues(room),
    }
    names.set(name, added)
    return added
  }

  const leaf = (name: string, value: JsonValue, { number, count }: CountedEvent): void => {
    spend(VALUE_UNITS)
    const seen = seenOf(name)
    if (!seen) return
    if (seen.event !== number) seen.count += count
    seen.event = number
    seen.types.add(value === null ? 'null' : typeof value, number, count)
    if (value === null || typeof value === 'object') return
    if (typeof value !== 'string' || value.length <= MAX_TEXT) seen.values.add(value, number, count)
  }

  const walk = (name: string, value: JsonValue, counted: CountedEvent): void => {
    if (value === null || typeof value !== 'object') leaf(name, value, counted)
    else if (Array.isArray(value)) {
      spend(value.length)
      for (const element of value) walk(name, element, counted)
    } else members(`${name}_`, value, counted)
  }
  const members = (prefix: string, object: JsonObject, counted: CountedEvent): void => {
    for (const key of Object.keys(object)) walk(prefix + key, object[key]!, counted)
  }

  function* walkInSteps(name: string, value: JsonValue, counted: CountedEvent): Steps<void> {
    yield
    if (value === null || typeof value !== 'object') leaf(name, value, counted)
    else if (Array.isArray(value))
      for (const element of value) yield* walkInSteps(name, element, counted)
    else yield* membersInSteps(`${name}_`, value, counted)
  }
  function* membersInSteps(prefix: string, object: JsonObject, counted: CountedEvent): Steps<void> {
    for (const key of Object.keys(object)) yield* walkInSteps(prefix + key, object[key]!, counted)
  }

  return {
    add: (counted) => members('', searchedAttributes(counted.event.attributes), counted),
    addInSteps: (counted) =>
      membersInSteps('', searchedAttributes(counted.event.attributes), counted),
    *top() {
      const order = firstInOrderOf(
        names,
        MAX_RETURNED,
        ([a, { count: m }], [b, { count: n }]) => n - m || compareText(a, b),
      )
      const found: SeenAttribute[] = []
      for (const [name, { count, types, values }] of order) {
        yield
        found.push({
          name,
          types: typesOf(types),
          count,
          values: values.top(MAX_EXAMPLES),
        })
      }
      return found
    },
  }
}

function typesOf(types: SeenValues): SeenAttribute['types'] {
  const counts = new Map(types.top(TYPES.length).map(({ value, count }) => [value, count]))
  return TYPES.filter((type) => counts.has(type)).toSorted(
    (a, b) => counts.get(b)! - counts.get(a)!,
  )
}
