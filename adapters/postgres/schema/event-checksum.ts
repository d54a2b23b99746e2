import zlib from 'node:zlib'
import type { Microseconds } from '../../../src/event/timestamp.js'

/*
 * An event's row has a CRC-32 of its values, as a signed integer. The process that records the event computes
 * it without the time, which the server adds when it gives the event its time. The members that SQL adds to
 * attributes are not part of it.
 */

export interface SummedEvent {
  readonly suffix: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: boolean
  readonly json: string
}

/** The checksum of an event that has no time yet. */
export const draftChecksum = ({
  suffix,
  type,
  username,
  source,
  system,
  json,
}: SummedEvent): number =>
  zlib.crc32(json, zlib.crc32(`${suffix} ${system} ${type} ${username} ${source}`)) | 0

/** Lower bits of the time that are added at once. */
const BITS = 31

/** Adds the time to the checksum of a draft. */
export const eventChecksum = (event: SummedEvent, time: Microseconds): number =>
  draftChecksum(event) ^ (time % 2 ** BITS) ^ Math.floor(time / 2 ** BITS)

/** SQL that adds the time to the checksum of a draft. */
export const withTime = (checksum: string, time: string): string =>
  `${checksum} # (${time} & ${2 ** BITS - 1})::int4 # (${time} >> ${BITS})::int4`

/** Members that `append` may have added at the end of the attributes, in the order in which they are removed. */
const ADDED = [
  /,?"occurred_at":"[^"]*"\}$/,
  /,?"suppressed_count":\d+,"suppressed_since":"[^"]*"\}$/,
] as const

/** True if the event has its checksum. */
export function isIntact(event: SummedEvent, time: Microseconds, checksum: number): boolean {
  if (eventChecksum(event, time) === checksum) return true
  let { json } = event
  for (const added of ADDED) {
    const without = json.replace(added, '}')
    if (without === json) continue
    json = without
    if (eventChecksum({ ...event, json }, time) === checksum) return true
  }
  return false
}
