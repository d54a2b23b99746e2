/*
 * Records each line of a newline-delimited JSON file, plain or gzip, as a custom event:
 *
 *   npx tsx examples/import-ndjson.ts trail.ndjson.gz --store sqlite:audit.db \
 *     --type eventName --user userIdentity.userName --time @timestamp
 *
 * An event becomes visible, and gets its `created_at`, when its line is recorded. The time of the line
 * becomes the attribute `occurred_at`, which can be filtered and sorted like any other. The file is read
 * as a stream, so memory use does not depend on its size.
 */
import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import { SingleBar } from 'cli-progress'
import {
  AuditLog,
  AuditLogError,
  type EventStore,
  formatTimestamp,
  type JsonObject,
  parseTimestamp,
} from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { cloudTrail, type Preset, type PresetEvent, windowsSecurity } from 'daybook/presets'
import { sqliteStore } from 'daybook/sqlite'

export interface ImportOptions {
  /** Records the events; is not closed. */
  readonly audit: Pick<AuditLog, 'recordCustom'>
  /** Path of a file of JSON lines. Gzip is detected by the content. */
  readonly file: string
  /** Reads the records of a known log instead of the fields below. A record that is none of its is refused. */
  readonly preset?: Preset | undefined
  /** Path of the field that holds the event type, such as `eventName` or `winlog.event_id`. */
  readonly type?: string | undefined
  /** Prefix of types that come from a field. @default '' */
  readonly typePrefix?: string | undefined
  /** The type of lines without the type field. @default 'import:record' */
  readonly typeLiteral?: string | undefined
  /** Path of the field with the name of the user. */
  readonly user?: string | undefined
  /** Path of the field with the time, which becomes the attribute `occurred_at`. */
  readonly time?: string | undefined
  /** Maximum number of concurrent `record` calls, 1 to 10000. @default 1000 */
  readonly concurrency?: number | undefined
  /** Maximum number of lines to read, not counting blank ones. @default all */
  readonly limit?: number | undefined
  /** Called after each chunk of the file. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

export interface ImportProgress {
  /** Bytes read from the file, before decompression. */
  readonly bytes: number
  /** Size of the file in bytes; 0 if unknown, as for a pipe. */
  readonly size: number
  readonly recorded: number
}

export interface ImportSummary {
  /** Number of recorded events. */
  readonly recorded: number
  /** Lines that are not a JSON object in UTF-8. */
  readonly malformed: number
  /** Lines that the log refused, such as one whose link attribute has no target. */
  readonly refused: number
  /** Events recorded without `occurred_at`, as the line has no valid time. */
  readonly undated: number
  /** Events that the log changed; their attribute `recording` says how. */
  readonly altered: number
  /** The first malformed and refused lines. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[]
}

const MAX_CONCURRENCY = 10_000
const MAX_PROBLEMS = 10
const MAX_LINE_BYTES = 16 * 1024 * 1024
// Far below the 64 MiB limit of the log's queue, as numbers can become longer when they are rewritten.
const MAX_PENDING_BYTES = 8 * 1024 * 1024
const NEWLINE = 0x0a

/**
 * Records the lines in order; resolves when all events are durable. Lines that cannot be recorded are
 * counted and skipped. Rejects if the file cannot be read to its end or the store fails; the message has
 * the number of the last line and of the recorded events.
 */
export async function importNdjson(options: ImportOptions): Promise<ImportSummary> {
  const { audit, file, concurrency = 1000, limit = Infinity, onProgress } = options
  const problems: { line: number; reason: string }[] = []
  const counts = { recorded: 0, malformed: 0, refused: 0, undated: 0, altered: 0 }
  const pending = createGate(concurrency)
  let line = 0
  let failure: unknown

  const skip = (kind: 'malformed' | 'refused', at: number, reason: string): void => {
    counts[kind]++
    if (problems.length < MAX_PROBLEMS) problems.push({ line: at, reason: printable(reason) })
  }
  const record = async (payload: JsonObject, at: number): Promise<void> => {
    const read = toEvent(payload, options)
    if (!read) return skip('refused', at, `no record of ${options.preset!.name}`)
    const { type, data, username } = read
    try {
      const event = await audit.recordCustom(type, data, { username })
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
    const { stream, progress } = await openFile(file)
    let taken = 0
    for await (const lines of linesOf(stream)) {
      for (const bytes of lines) {
        const at = ++line
        if (isBlank(bytes)) continue
        if (failure || taken === limit) return
        taken++
        const payload = parseLine(bytes)
        if (typeof payload === 'string') skip('malformed', at, payload)
        else await pending.start(bytes.length, () => record(payload, at))
      }
      onProgress?.({ ...progress(), recorded: counts.recorded })
    }
  }

  try {
    await recordAll()
  } catch (error) {
    failure ??= error
  }
  await pending.empty()
  if (!failure) return { ...counts, problems }
  const place = `${file}: stopped at line ${line}, ${counts.recorded} events recorded`
  throw new Error(`${place}: ${messageOf(failure)}`, { cause: failure })
}

/** Opens the file, and decompresses it if it starts with the gzip magic number. */
async function openFile(
  file: string,
): Promise<{ stream: Readable; progress: () => { bytes: number; size: number } }> {
  const raw = fs.createReadStream(file)
  await once(raw, 'readable')
  const { size } = await fs.promises.stat(file)
  const head = raw.read(2) as Buffer | null
  if (head) raw.unshift(head)
  const progress = (): { bytes: number; size: number } => ({ bytes: raw.bytesRead, size })
  if (!head?.equals(Buffer.of(0x1f, 0x8b))) return { stream: raw, progress }
  // The reader gets errors of both streams; without a callback they would be thrown as well.
  const stream = pipeline(raw, createGunzip(), () => {})
  return { stream, progress }
}

/**
 * Yields the lines of each chunk without `\n`. `node:readline` is not used, as it also splits at U+2028,
 * which JSON strings may contain. A line over the size limit is cut off, but stays over the limit.
 */
async function* linesOf(stream: Readable): AsyncGenerator<Buffer[], void, void> {
  let parts: Buffer[] = []
  let bytes = 0
  const add = (part: Buffer): void => {
    if (bytes <= MAX_LINE_BYTES) parts.push(part)
    bytes += part.length
  }
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines: Buffer[] = []
    let start = 0
    for (let end; (end = chunk.indexOf(NEWLINE, start)) !== -1; start = end + 1) {
      add(chunk.subarray(start, end))
      lines.push(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
      parts = []
      bytes = 0
    }
    if (start < chunk.length) add(chunk.subarray(start))
    yield lines
  }
  if (parts.length > 0) yield [Buffer.concat(parts)]
}

const isBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)

/** The object in the line, or the reason why it is malformed. */
function parseLine(bytes: Buffer): JsonObject | string {
  if (bytes.length > MAX_LINE_BYTES) return `longer than ${MAX_LINE_BYTES} bytes`
  if (!isUtf8(bytes)) return 'not UTF-8'
  try {
    // Some tools write a byte order mark at the start of a file.
    const value: unknown = JSON.parse(bytes.toString().replace(/^\uFEFF/, ''))
    return isObject(value) ? value : 'not a JSON object'
  } catch (error) {
    return `not JSON: ${messageOf(error)}`
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Replaces control characters: the text is untrusted and goes to a terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\uFFFD')

/** The value at a path such as `a.b`: of `{ a: { b } }`, or of `{ 'a.b' }`. */
function fieldAt(value: unknown, path: string | undefined): unknown {
  if (path === undefined || !isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot)
    const found = Object.hasOwn(value, head) ? fieldAt(value[head], path.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** A string, or a number as a string; other values count as missing. */
function textAt(payload: JsonObject, path: string | undefined): string | undefined {
  const value = fieldAt(payload, path)
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The event for a line; `undefined` if the line is no record of the preset. */
function toEvent(
  payload: JsonObject,
  { preset, type, typePrefix = '', typeLiteral = 'import:record', user, time }: ImportOptions,
): PresetEvent | undefined {
  if (preset) return preset.eventOf(payload)
  const text = textAt(payload, type)
  return {
    type: text === undefined ? typeLiteral : typePrefix + text,
    data: withTime(payload, time),
    username: textAt(payload, user) ?? null,
  }
}

/** Adds `occurred_at` if the line has a valid time and no such key. */
function withTime(payload: JsonObject, path: string | undefined): JsonObject {
  const microseconds = readTime(fieldAt(payload, path))
  if (microseconds === undefined || Object.hasOwn(payload, 'occurred_at')) return payload
  return { ...payload, occurred_at: formatTimestamp(microseconds) }
}

/** Microseconds since 1970, from an ISO 8601 string or from seconds or milliseconds. */
function readTime(value: unknown): number | undefined {
  if (typeof value === 'string') return parseTimestamp(value)
  if (typeof value !== 'number' || value < 0) return undefined
  // 1e11 is the year 5138 in seconds, and 1973 in milliseconds.
  if (value < 1e11) return Math.round(value * 1e6)
  return value < 1e14 ? Math.round(value * 1e3) : undefined
}

/** The log adds the attribute `recording` if it had to change the data. */
const isAltered = (kept: JsonObject, given: JsonObject): boolean =>
  Object.keys(kept).length !== Object.keys(given).length

/** Whether the log refused this one event, as opposed to a failure of the store. */
const isRefusal = (error: unknown): error is AuditLogError =>
  error instanceof AuditLogError && ['INVALID_EVENT', 'INVALID_LINK'].includes(error.code)

interface Gate {
  /** Starts the task when there is room. Only one call may wait at a time, and the task must not reject. */
  start(bytes: number, task: () => Promise<void>): Promise<void>
  /** Resolves when all tasks have ended. */
  empty(): Promise<void>
}

function createGate(maxTasks: number): Gate {
  let tasks = 0
  let pendingBytes = 0
  let wake = (): void => {}
  const waitUntil = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise<void>((resolve) => (wake = resolve))
  }
  const runTask = async (bytes: number, task: () => Promise<void>): Promise<void> => {
    tasks++
    pendingBytes += bytes
    await task()
    tasks--
    pendingBytes -= bytes
    wake()
  }
  return {
    async start(bytes, task) {
      const isRoom = (): boolean => tasks < maxTasks && pendingBytes + bytes <= MAX_PENDING_BYTES
      await waitUntil(() => tasks === 0 || isRoom())
      void runTask(bytes, task)
    },
    empty: () => waitUntil(() => tasks === 0),
  }
}

const PRESETS: Readonly<Record<string, Preset>> = Object.fromEntries(
  [cloudTrail, windowsSecurity].map((preset) => [preset.name, preset]),
)

const USAGE = `Usage: npx tsx examples/import-ndjson.ts <file> --store <store> [options]

Records each line of <file>, newline-delimited JSON, plain or gzip, as a custom event.

  --store <store>        the log: sqlite:<file>, which is created if it does not exist, or
                         postgres://<user>:<password>@<host>:<port>/<database>
  --preset <name>        the log that the file is from: ${Object.keys(PRESETS).join(' or ')};
                         instead of --type, --user and --time
  --type <field>         field of the event type, such as eventName or winlog.event_id
  --type-prefix <text>   prefix of types that come from the field, such as windows:
  --type-literal <text>  the type of lines without that field (default import:record)
  --user <field>         field of the user name
  --time <field>         field of the time, recorded as the attribute occurred_at:
                         ISO 8601, or seconds or milliseconds since 1970
  --concurrency <n>      maximum concurrent record calls, 1 to ${MAX_CONCURRENCY} (default 1000)
  --limit <n>            maximum number of lines to read
  --help                 print this

Exit code: 0 all lines recorded, 1 wrong usage or an error, 2 some lines skipped.`

interface Command extends Omit<ImportOptions, 'audit' | 'onProgress'> {
  readonly openStore: () => EventStore
}

/** Returns `undefined` for --help. Throws an error with a message for the user. */
function readCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      store: { type: 'string' },
      preset: { type: 'string' },
      type: { type: 'string' },
      'type-prefix': { type: 'string' },
      'type-literal': { type: 'string' },
      user: { type: 'string' },
      time: { type: 'string' },
      concurrency: { type: 'string' },
      limit: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return undefined
  const [file] = positionals
  if (file === undefined || positionals.length > 1) throw new Error('name one file to import')
  return {
    file,
    openStore: storeOpener(values.store ?? ''),
    preset: presetOf(values),
    type: values.type,
    typePrefix: values['type-prefix'],
    typeLiteral: values['type-literal'],
    user: values.user,
    time: values.time,
    concurrency: wholeNumber('--concurrency', values.concurrency, MAX_CONCURRENCY),
    limit: wholeNumber('--limit', values.limit, Number.MAX_SAFE_INTEGER),
  }
}

/** The preset of `--preset`, without options that it replaces. */
function presetOf(
  values: Readonly<Record<string, string | boolean | undefined>>,
): Preset | undefined {
  const { preset: name } = values
  if (typeof name !== 'string') return undefined
  const known = Object.keys(PRESETS)
  if (!known.includes(name)) throw new Error(`--preset must be ${known.join(' or ')}`)
  const replaced = ['type', 'type-prefix', 'type-literal', 'user', 'time']
  const both = replaced.find((option) => values[option] !== undefined)
  if (both !== undefined) throw new Error(`--preset ${name} takes no --${both}`)
  return PRESETS[name]
}

function storeOpener(location: string): () => EventStore {
  const filename = /^sqlite:(.+)$/s.exec(location)?.[1]
  if (filename !== undefined) return () => sqliteStore({ filename })
  if (/^postgres(?:ql)?:\/\/./.test(location))
    return () => postgresStore({ connectionString: location })
  throw new Error('--store must be sqlite:<file> or postgres://…')
}

function wholeNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw new Error(`${name} must be a whole number from 1 to ${max}`)
  return value
}

const count = (value: number, what: string): string =>
  `${Math.round(value).toLocaleString('en')} ${what}`

const secondsSince = (start: number): number => (performance.now() - start) / 1000

/** Shows the progress on a terminal; elsewhere nothing. */
function progressBar(): {
  update(progress: ImportProgress): void
  stop(): void
} {
  const start = performance.now()
  const bar = new SingleBar({
    format: '[{bar}] {percentage}%  {events}  {rate}',
    barsize: 30,
    barCompleteChar: '#',
    barIncompleteChar: '.',
    clearOnComplete: true,
  })
  bar.start(Infinity, 0, { events: '', rate: '' })
  return {
    update({ bytes, size, recorded }) {
      const rate = count(recorded / secondsSince(start), 'events/s')
      bar.setTotal(size || Infinity)
      bar.update(bytes, { events: count(recorded, 'events'), rate })
    },
    stop: () => bar.stop(),
  }
}

function report(file: string, summary: ImportSummary, seconds: number): void {
  const { recorded, malformed, refused, undated, altered, problems } = summary
  for (const { line, reason } of problems) console.error(`line ${line}: ${reason}`)
  const skipped = malformed + refused
  if (skipped > problems.length) console.error(`… and ${skipped - problems.length} more`)
  const parts = [
    `${count(recorded, 'events')} from ${path.basename(file)} in ${seconds.toFixed(1)} s`,
    count(recorded / seconds, 'events/s'),
  ]
  if (malformed > 0) parts.push(count(malformed, 'malformed'))
  if (refused > 0) parts.push(count(refused, 'refused'))
  if (undated > 0) parts.push(count(undated, 'without a valid time'))
  if (altered > 0) parts.push(count(altered, 'changed (see their attribute recording)'))
  console.log(parts.join(', '))
}

async function run({ openStore, ...options }: Command): Promise<number> {
  const audit: AuditLog = new AuditLog({ store: openStore(), types: {} })
  const bar = progressBar()
  const start = performance.now()
  try {
    const summary = await importNdjson({ ...options, audit, onProgress: bar.update }).finally(
      bar.stop,
    )
    report(options.file, summary, secondsSince(start))
    return summary.malformed + summary.refused > 0 ? 2 : 0
  } finally {
    await audit.close()
  }
}

async function main(args: readonly string[]): Promise<number> {
  let command: Command | undefined
  try {
    command = readCommand(args)
  } catch (error) {
    console.error(`${messageOf(error)}\n--help shows the usage`)
    return 1
  }
  if (!command) {
    console.log(USAGE)
    return 0
  }
  try {
    return await run(command)
  } catch (error) {
    console.error(messageOf(error))
    return 1
  }
}

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2))
