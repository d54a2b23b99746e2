/*
 * Converts between RFC 3339 times and values of `datetime-local` fields (`2026-11-20T14:05:52`) in any
 * time zone.
 */

const formats = new Map<string, Intl.DateTimeFormat>()

function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  // The Swedish format is ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  formats.set(zone, format)
  return format
}

/** The local time in the zone; empty for an invalid time. */
export function toWallClock(time: string | Date, zone: string): string {
  const at = new Date(time)
  return Number.isNaN(at.getTime()) ? '' : formatIn(zone).format(at).replace(' ', 'T')
}

/**
 * The time for a local time in the zone. If clocks were set back and it occurs twice, the first; if
 * they were set forward and it never occurs, the offset from before applies. `undefined` if invalid.
 */
export function fromWallClock(wall: string, zone: string): string | undefined {
  const wanted = Date.parse(`${wall}Z`)
  if (Number.isNaN(wanted)) return undefined
  const offsetAt = (time: number): number =>
    Date.parse(`${toWallClock(new Date(time), zone)}Z`) - time
  // Clocks change at most once a day, so one of these offsets applies.
  const [before, after] = [offsetAt(wanted - 86_400_000), offsetAt(wanted + 86_400_000)]
  const time = [wanted - before, wanted - after].find((at) => at + offsetAt(at) === wanted)
  return `${new Date(time ?? wanted - before).toISOString().slice(0, 19)}Z`
}
