/** Whole seconds since 1970-01-01; of local ones, as if that were in the zone. */
export type Seconds = number

export interface TimeZone {
  /** As it was asked for. */
  readonly name: string
  /** What the zone's clocks are ahead of UTC. */
  offsetAt(time: Seconds): Seconds
  /** When they change in between: the first time with another offset than at `from`, up to `to`. */
  changeBetween(from: Seconds, to: Seconds): Seconds
}

// Before it no clock was changed; what Intl makes of the first centuries is none of our business.
const FIRST_ZONES = Date.UTC(1800, 0) / 1000

/** Throws a `RangeError` for a name that is none of the IANA time zone database. */
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
