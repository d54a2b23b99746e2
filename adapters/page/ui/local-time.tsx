import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { zone } from '../data/address.js'
import { formatMinuteOffset } from '../data/more-formats.js'
import { fromWallClock, offsetText, timesAt, toWallClock } from '../data/zoned-time.js'
import { clockTexts } from './clock-texts.js'

/** The time of a `datetime-local` field in the zone of the page. */
export interface LocalTime {
  /** The value of the field. */
  readonly wall: Signal<string>
  /** RFC 3339; `undefined` for an empty field. */
  readonly time: string | undefined
  /** Shows the meaning of a local time that occurs twice or never, and lets the user choose. */
  readonly note: ComponentChild
  set(time: string | Date): void
}

const timesOf = (wall: string): readonly string[] =>
  timesAt(Date.parse(`${wall}Z`), zone.value).map((time) => new Date(time).toISOString())

/** The place of the time among the times with the same local time. */
function nthOf(time: string | Date): number {
  const second = new Date(time).toISOString().slice(0, 19)
  return Math.max(
    0,
    timesOf(toWallClock(time, zone.value)).findIndex((other) => other.startsWith(second)),
  )
}

/**
 * A time to edit. If `shown` changes, it replaces the time. Until the user changes the time, it keeps its full
 * precision.
 */
export function useLocalTime(shown: string | undefined): LocalTime {
  const begin = toWallClock(shown ?? '', zone.value)
  const first = begin === '' ? 0 : nthOf(shown!)
  const wall = useSignal(begin)
  const nth = useSignal(first)
  useLayoutEffect(() => {
    wall.value = begin
    nth.value = first
  }, [shown, zone.value])
  const isSame = wall.value === begin && nth.value === first
  const time = isSame ? shown : fromWallClock(wall.value, zone.value, nth.value)
  return {
    wall,
    time,
    note: time !== undefined && <Note wall={wall.value} time={time} nth={nth} />,
    set(next) {
      wall.value = toWallClock(next, zone.value)
      nth.value = nthOf(next)
    },
  }
}

function Note({ wall, time, nth }: { wall: string; time: string; nth: Signal<number> }) {
  const times = timesOf(wall)
  if (times.length === 1) return null
  if (times.length === 0)
    return <small role="status">{clockTexts.skipped(formatMinuteOffset(new Date(time)))}</small>
  return (
    <small>
      {clockTexts.twice}{' '}
      <select
        aria-label={clockTexts.twice}
        value={nth.value}
        onChange={(event) => (nth.value = Number(event.currentTarget.value))}
      >
        {times.map((other, i) => (
          <option key={other} value={i}>
            {offsetText(other, zone.value)}
          </option>
        ))}
      </select>
    </small>
  )
}
