/*
 * Between RFC 3339 times and what a field for local time holds, `2026-11-20T14:05:52`, in any zone.
 */

const formats = new Map<string, Intl.DateTimeFormat>()

function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  // Swedish dates are written as ISO 8601 has them.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  formats.set(zone, format)
  return format
}

/** The wall clock of the zone at a time; `` for a time that is none. */
export function toWallClock(time: string | Date, zone: string): string {
  const at = new Date(time)
  return Number.isNaN(at.getTime()) ? '' : formatIn(zone).format(at).replace(' ', 'T')
}

/**
 * The time at which the zone's wall clock shows this: the first of two where it is set back, and
 * as if it had not been set ahead where it never shows it. `undefined` for what is no time.
 */
export function fromWallClock(wall: string, zone: string): string | undefined {
  const wanted = Date.parse(`${wall}Z`)
  if (Number.isNaN(wanted)) return undefined
  const offsetAt = (time: number): number =>
    Date.parse(`${toWallClock(new Date(time), zone)}Z`) - time
  // The clock is set at most once within a day, so one of these offsets is the right one.
  const [before, after] = [offsetAt(wanted - 86_400_000), offsetAt(wanted + 86_400_000)]
  const time = [wanted - before, wanted - after].find((at) => at + offsetAt(at) === wanted)
  return `${new Date(time ?? wanted - before).toISOString().slice(0, 19)}Z`
}
