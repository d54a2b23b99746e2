import {
  DAY,
  formatTimestamp,
  HOUR,
  type Microseconds,
  MINUTE,
  parseTimestamp,
  SECOND,
  systemClock,
} from '../../../src/event/timestamp.js'
import type { Condition, Grouping } from '../../../src/filter/ast.js'
import { isTextTest, predicateOf } from '../../../src/filter/predicates.js'
import { usageError } from '../terminal/exit-codes.js'
import type { Option } from './command.js'

/* Times as people write them. A time without a zone is in the zone in which the command prints times. */

/** True if the command prints times in UTC. */
export interface ShownZone {
  readonly utc?: boolean
}

export const utcOption: Option = {
  flags: '--utc',
  description:
    'times in UTC instead of the time zone of this machine, also those that are given without a zone',
}

const EXAMPLES = '30s, 1h30m, 2 hours, 7d, yesterday, 14:00, 2026-11-24 or 2026-11-24T06:00:00Z'

const UNITS: readonly (readonly [names: RegExp, length: Microseconds])[] = [
  [/^(?:s|secs?|seconds?)$/, SECOND],
  [/^(?:m|mins?|minutes?)$/, MINUTE],
  [/^(?:h|hrs?|hours?)$/, HOUR],
  [/^(?:d|days?)$/, DAY],
  [/^(?:w|weeks?)$/, 7 * DAY],
]

const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?\s*[a-z]+[\s,]*)+$/

/** `1h30m`, `2 hours`, `1 day, 3 hours ago`. */
function readDuration(text: string): Microseconds | undefined {
  const parts = text.replace(/\s+ago$/, '')
  if (!DURATION.test(parts)) return undefined
  let sum = 0
  for (const [, count, name] of parts.matchAll(/([\d.]+)\s*([a-z]+)/g)) {
    const unit = UNITS.find(([names]) => names.test(name!))
    if (!unit) return undefined
    sum += Number(count) * unit[1]
  }
  return Math.round(sum)
}

/** The time at which clocks in the zone show the given local time. */
function inZone(time: Microseconds, { utc = false }: ShownZone): Microseconds {
  if (utc) return time
  const milliseconds = Math.floor(time / 1000)
  const shown = new Date(milliseconds)
  const local = new Date(2000, 0, 1)
  local.setFullYear(shown.getUTCFullYear(), shown.getUTCMonth(), shown.getUTCDate())
  local.setHours(
    shown.getUTCHours(),
    shown.getUTCMinutes(),
    shown.getUTCSeconds(),
    shown.getUTCMilliseconds(),
  )
  return local.getTime() * 1000 + (time - milliseconds * 1000)
}

const ZONED = /[Tt ]\d{2}.*(?:[Zz]|[+\- ]\d{2}(?::?\d{2})?)$/

const DAYS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 }
const DAY_AND_TIME = /^(yesterday|today|tomorrow)?\s*(\d{2}:\d{2}(?::\d{2})?)?$/

/** `yesterday`, `today 14:00`, `14:00`: the beginning of the day, or a time on it. */
function readDay(text: string, zone: ShownZone, now: Microseconds): Microseconds | undefined {
  const [, day = 'today', time = '00:00'] = DAY_AND_TIME.exec(text) ?? ['', '', '']
  const offset = DAYS[day]
  if (offset === undefined) return undefined
  const at = new Date(now / 1000)
  const days = zone.utc
    ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + offset)
    : Date.UTC(at.getFullYear(), at.getMonth(), at.getDate() + offset)
  const shown = parseTimestamp(`${new Date(days).toISOString().slice(0, 10)}T${time}`)
  return shown === undefined ? undefined : inZone(shown, zone)
}

const FIRST = parseTimestamp('0000-01-01')!

function timeOf(text: string, zone: ShownZone, now: Microseconds): Microseconds | undefined {
  const written = parseTimestamp(text)
  if (written !== undefined) return ZONED.test(text) ? written : inZone(written, zone)
  const word = text.toLowerCase()
  if (word === '' || word === 'now') return word === '' ? undefined : now
  const ago = readDuration(word)
  return ago === undefined ? readDay(word, zone, now) : now - ago
}

/** Reads a time: a duration before now, a day, or ISO 8601. Throws a usage error that names the option. */
export function readTime(
  text: string,
  option: string,
  zone: ShownZone,
  now = systemClock()(),
): Microseconds {
  const time = timeOf(text.trim(), zone, now)
  if (time !== undefined && time >= FIRST) return time
  throw usageError(`${option} ${JSON.stringify(text)}: must be a time, such as ${EXAMPLES}`)
}

/** Converts the text of a time without a zone to UTC. Other texts stay unchanged. */
function zonedText(text: string, zone: ShownZone): string {
  const time = parseTimestamp(text)
  if (time === undefined || ZONED.test(text)) return text
  // Digits finer than a microsecond decide between events too.
  const rest = /[.,]\d{6}(\d+)$/.exec(text)?.[1] ?? ''
  return formatTimestamp(inZone(time, zone)).replace('Z', `${rest}Z`)
}

const isTime = ({ attributes, predicate }: Condition): boolean =>
  attributes.every((name) => name === 'created_at') && !isTextTest(predicateOf(predicate).test)

/** The filter with a zone for each time of `created_at` without one: the zone in which the command prints times. */
export const withZone = (where: Grouping, zone: ShownZone): Grouping => ({
  ...where,
  conditions: where.conditions.map((condition) =>
    isTime(condition)
      ? { ...condition, values: condition.values.map((text) => zonedText(text, zone)) }
      : condition,
  ),
  groupings: where.groupings.map((inner) => withZone(inner, zone)),
})
