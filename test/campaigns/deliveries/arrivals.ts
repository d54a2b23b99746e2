import fs from 'node:fs'
import { type Arrival, arrivalsFile, type ChannelName } from './log.js'

/** An event that arrived again. */
export interface Repeat {
  readonly key: string
  readonly first: { readonly at: number; readonly process: string }
  /** The arrival that repeats it. */
  readonly again: Arrival
}

/** The arrivals at a channel so far. */
export interface Arrivals {
  readonly channel: ChannelName
  /** Reads the arrivals since the last call. Throws if an event arrived for the first time after a later one. */
  read(): void
  /** All arrivals, in their order. */
  readonly all: readonly Arrival[]
  /** The keys of the events that have arrived. */
  readonly keys: ReadonlyMap<string, unknown>
  readonly repeats: readonly Repeat[]
}

/** Reads the complete lines that were appended to a file since the last call. */
function createLineReader(file: string): () => string[] {
  let offset = 0
  return () => {
    if (!fs.existsSync(file)) return []
    const descriptor = fs.openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(fs.fstatSync(descriptor).size - offset)
      fs.readSync(descriptor, bytes, 0, bytes.length, offset)
      const end = bytes.lastIndexOf('\n') + 1
      offset += end
      return bytes.toString('utf8', 0, end).split('\n').slice(0, -1)
    } finally {
      fs.closeSync(descriptor)
    }
  }
}

export function readArrivals(folder: string, channel: ChannelName): Arrivals {
  const readLines = createLineReader(arrivalsFile(folder, channel))
  const all: Arrival[] = []
  const firsts = new Map<string, Repeat['first']>()
  const repeats: Repeat[] = []
  let newest = ''
  const add = (arrival: Arrival): void => {
    const { at, process, events } = arrival
    all.push(arrival)
    for (const { key, created_at } of events) {
      const first = firsts.get(key)
      if (first) {
        repeats.push({ key, first, again: arrival })
        continue
      }
      firsts.set(key, { at, process })
      if (created_at <= newest)
        throw new Error(`out of order at the ${channel}: ${key} of ${created_at} after ${newest}`)
      newest = created_at
    }
  }
  return {
    channel,
    all,
    keys: firsts,
    repeats,
    read() {
      for (const line of readLines()) add(JSON.parse(line) as Arrival)
    },
  }
}
