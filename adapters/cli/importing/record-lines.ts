import type { Readable } from 'node:stream'
import type { AuditLog } from 'daybook'
import type { PresetEvent } from 'daybook/presets'
import { shortText } from '../../../src/describing/visible-text.js'
import { AuditLogError } from '../../../src/errors.js'
import type { JsonObject } from '../../../src/event/event.js'
import { isObject, openFile } from '../files/json-lines.js'
import { type JsonRecord, recordsOf } from '../files/json-records.js'
import { messageOf } from '../terminal/exit-codes.js'
import { type FieldOptions, toEvent } from './fields.js'
import { createGate } from './gate.js'
import { watchNew } from './new-events.js'
import type { OwnTimes } from './own-times.js'

export type RecordingLog = Pick<AuditLog, 'recordCustom' | 'list'>

export interface RecordLinesOptions extends FieldOptions {
  /** The log for the events. It is not closed. */
  readonly audit: RecordingLog
  /** Gives events the times of their records. @default all get the time of the import */
  readonly times?: OwnTimes | undefined
  /** Path of a file of JSON, or `-` for `stdin`. Compression is detected by the content. */
  readonly file: string
  /** Maximum number of concurrent `record` calls, 1 to 10000. @default 1000 */
  readonly concurrency?: number | undefined
  /** Maximum number of records to read. @default all */
  readonly limit?: number | undefined
  /**
   * The idempotency keys of a record. The next key is tried if another event has the one before. `number` counts the
   * records of the file from 1, and `id` is the preset's key of the record. A record with the key of an equal event
   * of the last 24 hours is not recorded again. Called in the order of the records. @default none
   */
  readonly keysOf?:
    | ((record: JsonRecord, number: number, id: string | undefined) => readonly string[])
    | undefined
  readonly stdin?: Readable | undefined
  /** Ends the reading. Lines that were already read are recorded. */
  readonly signal?: AbortSignal | undefined
  /** Called after each chunk of the file. */
  readonly onProgress?: ((progress: RecordProgress) => void) | undefined
}

export interface RecordProgress {
  /** Bytes read from the file, before decompression. */
  readonly bytes: number
  /** Size of the file in bytes; 0 if unknown, as for a pipe. */
  readonly size: number
  readonly recorded: number
}

export interface RecordedLines {
  /** Number of recorded events. */
  readonly recorded: number
  /** Number of records whose event the log already has. */
  readonly repeated: number
  /** Lines that are not a JSON object in UTF-8. */
  readonly malformed: number
  /** Number of lines that the log refused, for example because a link attribute has no target. */
  readonly refused: number
  /** Events recorded without `occurred_at`, because the line has no valid time. */
  readonly undated: number
  /** Number of new events whose `created_at` is the time of their record. */
  readonly dated: number
  /**
   * Number of events with the time of the import although their record has a time, which is in the future or before
   * 1970.
   */
  readonly outside: number
  /** Number of events that the log has changed. Their attribute `recording` lists the changes. */
  readonly altered: number
  /** The first malformed and refused lines, and a note on a file of one record that has a list. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[]
}

const MAX_PROBLEMS = 10

const NONE = {
  recorded: 0,
  repeated: 0,
  malformed: 0,
  refused: 0,
  undated: 0,
  dated: 0,
  outside: 0,
  altered: 0,
}

/** Counts the outcomes of the records of a file. */
function createTally() {
  const problems: { line: number; reason: string }[] = []
  const counts = { ...NONE }
  return {
    problems,
    counts,
    skip: (kind: 'malformed' | 'refused', line: number, reason: string): void => {
      counts[kind]++
      if (problems.length < MAX_PROBLEMS) problems.push({ line, reason: shortText(reason, 1000) })
    },
  }
}

/**
 * True if the record needs no further work: its event gets the time of the record, is already in the log, or is
 * refused.
 */
async function takeTime(
  times: OwnTimes | undefined,
  { counts, skip }: ReturnType<typeof createTally>,
  { event, key, at }: { event: PresetEvent; key: string | undefined; at: number },
): Promise<boolean> {
  try {
    const taken = await times?.take(event, key)
    if (taken === 'repeated' || taken === 'outside' || taken === 'altered') counts[taken]++
    return taken === 'taken' || taken === 'altered' || taken === 'repeated'
  } catch (error) {
    if (!isRefusal(error)) throw error
    skip('refused', at, error.message)
    return true
  }
}

/**
 * Records the lines in order. Resolves when all events are durable. Lines that cannot be recorded are counted and
 * skipped. Rejects if the file cannot be read to its end or the store fails; the message has the number of the last
 * line and of the recorded events.
 */
export async function recordLines(options: RecordLinesOptions): Promise<RecordedLines> {
  const {
    audit,
    times,
    file,
    concurrency = 1000,
    limit = Infinity,
    keysOf,
    stdin,
    signal,
    onProgress,
  } = options
  const tally = createTally()
  const { counts, skip } = tally
  const pending = createGate(concurrency)
  let line = 0
  let first: JsonRecord | undefined
  let taken = 0
  let failure: unknown
  let startNew: Awaited<ReturnType<typeof watchNew>>

  const record = async (
    { type, data, username }: PresetEvent,
    at: number,
    keys: readonly string[],
  ): Promise<void> => {
    const isNew = startNew()
    try {
      const event = await recordOnce(keys, (idempotencyKey) =>
        audit.recordCustom(type, data, { username, idempotencyKey }),
      )
      if (event && !isNew(event)) return void counts.repeated++
      counts.recorded++
      const hasTime = options.time !== undefined || options.preset !== undefined
      if (hasTime && !Object.hasOwn(data, 'occurred_at')) counts.undated++
      if (event && isAltered(event.attributes, data)) counts.altered++
    } catch (error) {
      if (isRefusal(error)) skip('refused', at, error.message)
      else failure ??= error
    }
  }
  const recordAll = async (): Promise<void> => {
    startNew = await watchNew(audit)
    const { stream, progress } = await openFile(file, { stdin, signal })
    for await (const records of recordsOf(stream)) {
      for (const given of records) {
        if (failure || taken === limit) return
        signal?.throwIfAborted()
        line = given.line
        taken++
        first ??= given
        if (typeof given.value === 'string') {
          skip('malformed', line, given.value)
          continue
        }
        const event = toEvent(given.value, options)
        const keys = keysOf?.(given, taken, event?.key) ?? []
        const at = line
        if (!event) skip('refused', at, `no record of ${options.preset!.name}`)
        else if (!(await takeTime(times, tally, { event, key: keys[0], at })))
          await pending.start(given.bytes.length, () => record(event, at, keys))
      }
      onProgress?.({ ...progress(), recorded: counts.recorded })
    }
  }
  const noteFailure = (error: unknown): void => {
    failure ??= error
  }
  await recordAll().catch(noteFailure)
  await times?.flush().catch(noteFailure)
  await pending.empty()
  addStored(counts, times)
  const notes = taken === 1 && limit > 1 && !options.preset ? notesOn(first!) : []
  if (!failure) return { ...counts, problems: [...tally.problems, ...notes] }
  const place =
    line === 0 ? file : `${file}: stopped at line ${line}, ${counts.recorded} events recorded`
  throw stopped(place, failure, signal)
}

/** Adds the events that got the times of their records. */
function addStored(counts: typeof NONE, times: OwnTimes | undefined): void {
  const { recorded, repeated } = times?.counts() ?? NONE
  counts.recorded += recorded
  counts.dated += recorded
  counts.repeated += repeated
}

function stopped(place: string, cause: unknown, signal: AbortSignal | undefined): Error {
  const why = signal?.aborted ? '' : `: ${messageOf(cause)}`
  return new Error(`${place}${why}`, { cause })
}

/** A note for a file whose only record has a list of several objects. These may be the intended records. */
function notesOn({ value, line }: JsonRecord): RecordedLines['problems'] {
  const name = Object.keys(value).find((key) => {
    const member = isObject(value) ? value[key] : undefined
    return Array.isArray(member) && member.length > 1 && member.every(isObject)
  })
  if (name === undefined) return []
  const reason = `the only record of the file has a list in ${name}, whose elements are not recorded one by one`
  return [{ line, reason: shortText(reason, 1000) }]
}

/** Records the event with the first key that no other event has. */
async function recordOnce<Event>(
  [key, ...others]: readonly string[],
  call: (key: string | undefined) => Promise<Event>,
): Promise<Event> {
  try {
    return await call(key)
  } catch (error) {
    const isTaken = error instanceof AuditLogError && error.code === 'IDEMPOTENCY_CONFLICT'
    if (!isTaken || others.length === 0) throw error
    return recordOnce(others, call)
  }
}

/** The log adds the attribute `recording` if it had to change the data. */
const isAltered = (kept: JsonObject, given: JsonObject): boolean =>
  Object.keys(kept).length !== Object.keys(given).length

const REFUSALS: ReadonlySet<string> = new Set([
  'INVALID_EVENT',
  'INVALID_LINK',
  'IDEMPOTENCY_CONFLICT',
])

/** True if the log refused this one event, as opposed to a failure of the store. */
const isRefusal = (error: unknown): error is AuditLogError =>
  error instanceof AuditLogError && REFUSALS.has(error.code)
