/*
 * Converts between RFC 3339 times and values of `datetime-local` fields (`2026-11-20T14:05:52`) in any
 * time zone. Where clocks are set back, a local time belongs to two times; where they are set forward, to none.
 */

const DAY_MS = 86_400_000
const MAX_CACHED_DAYS = 5000

/*
 * Bounds of the times whose offsets are looked up. No change of an offset is known outside of these bounds, and years
 * must have four digits.
 */
const FIRST_MS = Date.UTC(1800, 0)
const LAST_MS = Date.UTC(9999, 0)

interface KnownZone {
  readonly format: Intl.DateTimeFormat
  /** The offset of each day of UTC; null if it changes on that day. */
  readonly days: Map<number, number | null>
}

const zones = new Map<string, KnownZone>()

function zoneNamed(name: string): KnownZone {
  let known = zones.get(name)
  if (!known) {
    // The Swedish format is ISO 8601.
    const options = { timeZone: name, dateStyle: 'short', timeStyle: 'medium' } as const
    known = { format: new Intl.DateTimeFormat('sv-SE', options), days: new Map() }
    zones.set(name, known)
  }
  return known
}

/** Local time minus UTC, both in milliseconds. Cached, because formatting a time is slow. */
function offsetAt(time: number, name: string): number {
  const { format, days } = zoneNamed(name)
  const offset = (at: number): number => {
    const known = Math.min(Math.max(at, FIRST_MS), LAST_MS)
    return (
      Date.parse(`${format.format(known).replace(' ', 'T')}Z`) - Math.floor(known / 1000) * 1000
    )
  }
  const day = Math.floor(time / DAY_MS)
  let known = days.get(day)
  if (known === undefined) {
    known = offset(day * DAY_MS)
    if (known !== offset((day + 1) * DAY_MS - 1)) known = null
    if (days.size > MAX_CACHED_DAYS) days.clear()
    days.set(day, known)
  }
  return known ?? offset(time)
}

/** The local time in the zone; empty for an invalid time. */
export function toWallClock(time: string | Date, zone: string): string {
  const at = new Date(time).getTime()
  return Number.isNaN(at) ? '' : new Date(at + offsetAt(at, zone)).toISOString().slice(0, 19)
}

/** The times for a local time that is given as if it were UTC, in their order: one, two or none. */
export function timesAt(wall: number, zone: string): readonly number[] {
  // Clocks change at most once a day, so one of these offsets applies.
  const offsets = new Set([wall - DAY_MS, wall + DAY_MS].map((time) => offsetAt(time, zone)))
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((time) => time + offsetAt(time, zone) === wall)
}

/** True if another time has the same local time. */
export const isRepeated = (time: number, zone: string): boolean =>
  timesAt(time + offsetAt(time, zone), zone).length > 1

/**
 * The time for a local time in the zone. If the local time occurs twice, `nth` selects the first (0) or the second
 * (1). If it never occurs, the offset from before the change applies. `undefined` if invalid.
 */
export function fromWallClock(wall: string, zone: string, nth = 0): string | undefined {
  const wanted = Date.parse(`${wall}Z`)
  if (Number.isNaN(wanted)) return undefined
  const times = timesAt(wanted, zone)
  const time = times[nth] ?? times[0] ?? wanted - offsetAt(wanted - DAY_MS, zone)
  return `${new Date(time).toISOString().slice(0, 19)}Z`
}

/** `UTC+5:30`, or `UTC`. */
export function offsetText(at: string | Date, zone: string): string {
  const minutes = Math.round(offsetAt(new Date(at).getTime(), zone) / 60_000)
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  if (minutes === 0) return 'UTC'
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`
}
