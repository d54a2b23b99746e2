import type { Microseconds } from '../../event/timestamp.js'
import { byteWriter, putVarint, takeVarint, writtenBytes } from './varint.js'

/** Number of events whose times are stored together, so that one read gives the time of an ordinal. */
export const TIMES_PER_BLOCK = 256

/** Encodes the times of a block that begins at `from`: the distance of each time to the one before. */
export function encodeTimes(times: ArrayLike<Microseconds>, from: number): Uint8Array {
  const writer = byteWriter()
  const end = Math.min(times.length, from + TIMES_PER_BLOCK)
  for (let i = from + 1; i < end; i++) putVarint(writer, times[i]! - times[i - 1]!)
  return writtenBytes(writer)
}

export function decodeTimes(first: Microseconds, data: Uint8Array): readonly Microseconds[] {
  const times = [first]
  const reader = { data, at: 0 }
  let time = first
  while (reader.at < data.length) times.push((time += takeVarint(reader)))
  return times
}
