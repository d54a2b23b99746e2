import { createHash, randomUUID } from 'node:crypto'
import type { AuditEvent, AuditLog } from 'daybook'
import type { PresetEvent } from 'daybook/presets'
import { AuditLogError } from '../../../src/errors.js'
import { eventId, SUFFIX_LENGTH } from '../../../src/event/event-id.js'
import { eventTypeFault } from '../../../src/event/event-types.js'
import { toJsonText } from '../../../src/event/json.js'
import {
  linkRules,
  type ResolveSource,
  sourceOf,
  type SourceRules,
} from '../../../src/event/links.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../../../src/event/timestamp.js'
import { readImported, writeImported } from '../../../src/store/imported.js'

/** `record`: `created_at` is the time of the record. `import`: `created_at` is the time of the import. */
export type CreatedAt = 'record' | 'import'

export type TimedLog = Pick<AuditLog, 'importEvents' | 'list' | 'limits' | 'links' | 'store'>

export interface OwnTimesOptions {
  /** @default `record` if the log is empty, or has only events of such imports */
  readonly createdAt?: CreatedAt | undefined
  readonly resolveSource?: ResolveSource | undefined
}

/** An event that waits for its batch. */
interface Waiting {
  readonly event: AuditEvent
  readonly base: Microseconds
  readonly bytes: number
}

export interface Stored {
  readonly recorded: number
  readonly repeated: number
}

const NONE: Stored = { recorded: 0, repeated: 0 }

/**
 * The result of `take`. `taken` and `repeated` events are finished. Other events must be recorded with the time of
 * the import.
 */
export type Taken = 'taken' | 'altered' | 'repeated' | 'untimed' | 'outside' | 'import'

/**
 * Stores records with their own times. The log orders them by time, regardless of the order of the records. If
 * several records have the same time, each gets the next free microsecond. A run uses one object for all of its
 * files.
 */
export interface OwnTimes {
  /** Keeps the event for the next batch, if its record has a time. `key` identifies the record. Throws `INVALID_EVENT` and `INVALID_LINK`. */
  take(event: PresetEvent, key: string | undefined): Promise<Taken>
  /** Stores the events that wait. */
  flush(): Promise<void>
  /** Counts since the last call. */
  counts(): Stored
  /**
   * Notes that the import has ended. Without this note, the next import continues this one. `isWhole` is true if
   * complete events were imported. Resolves to two numbers of new events: events with the time of their record, and
   * events with the time of the import although their record has a time.
   */
  end(isWhole?: boolean): Promise<{ readonly dated: number; readonly undated: number }>
}

const MAX_WAITING = 500
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** Maximum number of known times. Beyond this, they are forgotten, and read from the log when needed. */
const MAX_KNOWN = 200_000
const PAGE = 1000

/** The events at consecutive microseconds. */
interface Run {
  readonly suffixes: Set<string>
  /** The time after them. */
  next: Microseconds
}

const suffixOf = (id: string): string => id.replaceAll('-', '').slice(-SUFFIX_LENGTH)

/** The id suffix of a record. The same record gets the same suffix, so that a repeated import finds its events. */
function suffixFrom(key: string, { type, username }: PresetEvent, json: string): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([key, type, username, json]))
    .digest()
    .subarray(0, SUFFIX_LENGTH / 2)
  bytes[0] = (bytes[0]! & 0x3f) | 0x80
  return bytes.toString('hex')
}

/** Finds free times. `flush` stores the waiting events before the log is read. */
function createPlaces(log: TimedLog, newest: Microseconds | undefined, flush: () => Promise<void>) {
  const runs = new Map<Microseconds, Run>()
  const taken = new Set<Microseconds>()
  /** True if every event of the log is at a known time. */
  let isComplete = newest === undefined
  /** Bounds of the times of all events in the log. */
  let [lowest, highest] = newest === undefined ? [Infinity, -Infinity] : [-Infinity, newest]

  const forget = (): void => {
    runs.clear()
    taken.clear()
    isComplete = false
  }
  const readRun = async (base: Microseconds): Promise<Run> => {
    await flush()
    const run: Run = { suffixes: new Set(), next: base }
    for (let limit = 10; ; limit = PAGE) {
      const { events } = await log.list({
        filter: { created_at_gteq: formatTimestamp(run.next), sorts: 'created_at' },
        limit,
      })
      for (const { id, created_at } of events) {
        if (created_at !== formatTimestamp(run.next)) return run
        run.suffixes.add(suffixOf(id))
        taken.add(run.next++)
      }
      if (events.length < limit) return run
    }
  }
  const runAt = async (base: Microseconds): Promise<Run> => {
    const isFree = isComplete || base > highest || base < lowest
    const known = runs.get(base)
    const run =
      known ?? (isFree ? { suffixes: new Set<string>(), next: base } : await readRun(base))
    if (taken.size > MAX_KNOWN) forget()
    runs.set(base, run)
    return run
  }

  return {
    /** The free time for the event; `undefined` if the log has the event. */
    async find(base: Microseconds, suffix: string): Promise<Microseconds | undefined> {
      const run = await runAt(base)
      if (run.suffixes.has(suffix)) return undefined
      while (taken.has(run.next)) run.next++
      const time = run.next++
      run.suffixes.add(suffix)
      taken.add(time)
      lowest = Math.min(lowest, time)
      highest = Math.max(highest, time)
      return time
    },
    /** True if the log has the event at the time or at one of the following times. */
    has: async (base: Microseconds, suffix: string): Promise<boolean> =>
      (await readRun(base)).suffixes.has(suffix),
    /** Notes that another process has also stored events. */
    distrust() {
      forget()
      lowest = -Infinity
      highest = Infinity
    },
  }
}

async function readLog(log: TimedLog) {
  const [last] = (await log.list('limit=1')).events
  const { imported, now } = await readImported(log.store)
  /** True if the log has only events that imports have stored. */
  const isOnlyImported = !last || imported?.newest === null || imported?.newest === last.created_at
  return { now, isOnlyImported, hasState: imported !== undefined, newest: last?.created_at }
}

/**
 * Stores events in batches. If other processes have used the times of events, `move` gives the events other times.
 */
function createBatches(
  log: TimedLog,
  move: (batch: readonly Waiting[]) => Promise<readonly Waiting[]>,
) {
  let waiting: Waiting[] = []
  let bytes = 0
  let counts: Stored = NONE

  const store = async (batch: readonly Waiting[]): Promise<void> => {
    const { imported, skipped } = await log.importEvents(batch.map(({ event }) => event))
    counts = { recorded: counts.recorded + imported, repeated: counts.repeated + skipped }
  }
  const flush = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    bytes = 0
    if (batch.length === 0) return
    try {
      await store(batch)
    } catch (error) {
      if (!(error instanceof AuditLogError && error.code === 'IMPORT_CONFLICT')) throw error
      const moved = await move(batch)
      counts = { ...counts, repeated: counts.repeated + batch.length - moved.length }
      await store(moved)
    }
  }
  return {
    flush,
    add: async (one: Waiting): Promise<void> => {
      waiting.push(one)
      bytes += one.bytes
      if (waiting.length >= MAX_WAITING || bytes >= MAX_WAITING_BYTES) await flush()
    },
    counts: (): Stored => {
      const all = counts
      counts = NONE
      return all
    },
  }
}

export async function createOwnTimes(
  log: TimedLog,
  { createdAt, resolveSource }: OwnTimesOptions = {},
): Promise<OwnTimes> {
  const { now, isOnlyImported, hasState, newest } = await readLog(log)
  const isOwn = (createdAt ?? (isOnlyImported ? 'record' : 'import')) === 'record'
  const rules = { rules: linkRules(log.links), resolve: resolveSource }
  let isBegun = false
  let [dated, undated] = [0, 0]

  const note = (time: string | null): Promise<void> =>
    writeImported(log.store, { newest: isOnlyImported ? time : '' })
  const { add, flush, counts } = createBatches(log, async (batch) => {
    places.distrust()
    const moved: Waiting[] = []
    for (const one of batch) {
      const time = await places.find(one.base, suffixOf(one.event.id))
      if (time !== undefined) moved.push({ ...one, event: placed(one.event, time) })
    }
    return moved
  })
  const places = createPlaces(log, newest === undefined ? undefined : parseTimestamp(newest), flush)

  return {
    flush,
    counts() {
      const stored = counts()
      dated += stored.recorded
      return stored
    },
    async end(isWhole) {
      if (isBegun || (isWhole && isOnlyImported))
        await note((await log.list('limit=1')).events[0]?.created_at ?? null)
      return { dated, undated }
    },
    async take(given, key = randomUUID()) {
      const base = timeOf(given)
      if (base === undefined) return 'untimed'
      if (base < 0 || base > now) return 'outside'
      const { event, json, isAltered } = eventOf(given, log, rules)
      const suffix = suffixFrom(key, given, json)
      if (!isOwn) {
        if (hasState && (await places.has(base, suffix))) return 'repeated'
        undated++
        return 'import'
      }
      const time = await places.find(base, suffix)
      if (time === undefined) return 'repeated'
      if (!isBegun) await note(null)
      isBegun = true
      await add({
        event: placed({ ...event, id: eventId(time, suffix) }, time),
        base,
        bytes: json.length,
      })
      return isAltered ? 'altered' : 'taken'
    },
  }
}

const placed = (event: AuditEvent, time: Microseconds): AuditEvent => ({
  ...event,
  id: eventId(time, suffixOf(event.id)),
  created_at: formatTimestamp(time),
})

function timeOf({ data }: PresetEvent): Microseconds | undefined {
  const { occurred_at: time } = data
  return typeof time === 'string' ? parseTimestamp(time) : undefined
}

/** The event as `recordCustom` would record it. */
function eventOf(
  { type, data, username }: PresetEvent,
  { limits }: TimedLog,
  rules: SourceRules,
): { readonly event: AuditEvent; readonly json: string; readonly isAltered: boolean } {
  const fault = eventTypeFault(type)
  if (fault !== undefined)
    throw new AuditLogError('INVALID_EVENT', `the event type ${fault}`, { pointer: '/type' })
  const { attributes, json } = toJsonText(data, limits)
  const source = sourceOf(attributes, false, rules)
  const isAltered = Object.keys(attributes).length !== Object.keys(data).length
  return {
    event: { id: '', created_at: '', username, system: false, type, source, attributes },
    json,
    isAltered,
  }
}
