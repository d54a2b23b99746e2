import type { AuditEvent } from 'daybook'
import { KINDS, type Kind } from '../collapsed-child.js'

/** What a process has said about its counted calls. */
export interface Counted {
  readonly life: string
  readonly address: string
  /** The numbers of calls that were made until a time, oldest first. */
  readonly made: Readonly<Record<Kind, { readonly at: number; readonly calls: number }[]>>
  /** The time of its end, and how it has ended. */
  endedAt: number
  isKilled: boolean
}

export const newCounted = (life: string, number: number): Counted => ({
  life,
  address: `10.${number >> 8}.${number & 255}.1`,
  made: { read: [], refusal: [], tick: [] },
  endedAt: 0,
  isKilled: false,
})

/** Reads a line that the process has printed. */
export function noteCounted({ made }: Counted, line: string): void {
  const [word, at, kind, calls] = line.split(' ') as [string, string, Kind, string]
  if (word === 'made') made[kind].push({ at: Number(at), calls: Number(calls) })
}

/** How many calls may be missing after a kill: those of the last second, with the time that the store takes. */
const LATE_MS = 1000

/** The time until which the calls of a killed process must be recorded. Its longest pause, on a busy machine, counts twice. */
function savedUntil({ made, endedAt }: Counted): number {
  const times = Object.values(made).flatMap((all) => all.map(({ at }) => at))
  const ends = [...times.toSorted((a, b) => a - b), endedAt]
  const pauses = ends.map((at, i) => at - (ends[i - 1] ?? at))
  return endedAt - LATE_MS - 2 * Math.max(...pauses)
}

function kindOf({ type, source, attributes }: AuditEvent, life: Counted): Kind | undefined {
  if (type === 'info:tick') return attributes['life'] === life.life ? 'tick' : undefined
  if (source?.startsWith(`/api/${life.life}/`)) return 'read'
  return attributes['remote_address'] === life.address ? 'refusal' : undefined
}

/** Throws unless the events of a life stand for its calls, exactly, but for the last second of a killed one. Returns how many are missing. */
export function checkCounted(events: readonly AuditEvent[], life: Counted): number {
  let missing = 0
  const until = savedUntil(life)
  for (const kind of KINDS) {
    const own = events.filter((event) => kindOf(event, life) === kind)
    const found = own
      .map(({ attributes }) => (attributes['collapsed'] === true ? attributes['count'] : 1))
      .reduce<number>((sum, count) => sum + Number(count), 0)
    const made = life.made[kind]
    const all = made.at(-1)?.calls ?? 0
    const early = made.findLast(({ at }) => at <= until)?.calls ?? 0
    // The calls of the turn that a kill has cut off may be recorded too.
    const most = life.isKilled ? all + 30 : all
    const least = life.isKilled ? early : all
    if (found < least || found > most)
      throw new Error(
        `${life.life}: ${found} ${kind} calls are recorded, of ${least} to ${most}: ${JSON.stringify(own.map(({ attributes }) => attributes))}`,
      )
    missing += Math.max(0, all - found)
  }
  return missing
}
