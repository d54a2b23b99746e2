/** Whole seconds since 1970-01-01 00:00, UTC or local time. */
export type Seconds = number

export interface TimeZone {
  /** The requested name. */
  readonly name: string
  /** Local time minus UTC. */
  offsetAt(time: Seconds): Seconds
  /** The first time after `from`, up to `to`, with another offset than at `from`. */
  changeBetween(from: Seconds, to: Seconds): Seconds
}

// No offset changed before this time, and Intl is unreliable for the first centuries.
const FIRST_ZONES = Date.UTC(1800, 0) / 1000

/** Throws a `RangeError` for a name that is not in the IANA time zone database. */
export function timeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })

  const offsetAt = (time: Seconds): Seconds => {
    const known = Math.max(time, FIRST_ZONES)
    const parts = format.formatToParts(known * 1000)
    const part = (type: Intl.DateTimeFormatPartTypes): number =>
      Number(parts.find((one) => one.type === type)!.value)
    const local = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    )
    return local / 1000 - known
  }

  return {
    name,
    offsetAt,
    changeBetween(from, to) {
      const offset = offsetAt(from)
      let [before, after] = [from, to]
      while (after - before > 1) {
        const middle = Math.floor((before + after) / 2)
        if (offsetAt(middle) === offset) before = middle
        else after = middle
      }
      return after
    },
  }
}
