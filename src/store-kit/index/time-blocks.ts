import type { Microseconds } from '../../event/timestamp.js'
import { byteWriter, putVarint, takeVarint, writtenBytes } from './varint.js'

/** So many events of a part have their times together, so that one read leads from an ordinal to its time. */
export const BLOCK = 256

/** The times of the events from `from` on, as many as belong together: the distances from one to the next. */
export function encodeTimes(times: ArrayLike<Microseconds>, from: number): Uint8Array {
  const writer = byteWriter()
  const end = Math.min(times.length, from + BLOCK)
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
