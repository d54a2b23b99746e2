/*
 * Records every line of a newline-delimited JSON file, plain or gzip, as a custom event:
 *
 *   npx tsx examples/import-ndjson.ts trail.ndjson.gz --store sqlite:audit.db \
 *     --type eventName --user userIdentity.userName --time @timestamp
 *
 * An event becomes visible, and gets its `created_at`, when its line is recorded; the line's own time
 * is kept as the attribute `occurred_at`, which can be filtered and sorted like any other. The file is
 * read as a stream: memory does not grow with it.
 */
import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import {
  AuditLog,
  AuditLogError,
  type EventStore,
  formatTimestamp,
  type JsonObject,
  parseTimestamp,
} from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'

export interface ImportOptions {
  /** Takes the events; stays open. */
  readonly audit: Pick<AuditLog, 'recordCustom'>
  /** Path of a file of JSON lines, plain or gzip; its content tells which. */
  readonly file: string
  /** Path of the field that holds the event type, such as `eventName` or `winlog.event_id`. */
  readonly type?: string | undefined
  /** Put before the types that come from a field. @default '' */
  readonly typePrefix?: string | undefined
  /** The type of lines that name none. @default 'import:record' */
  readonly typeLiteral?: string | undefined
  /** Path of the field with the name of the user. */
  readonly user?: string | undefined
  /** Path of the field with the time, which becomes the attribute `occurred_at`. */
  readonly time?: string | undefined
  /** Most events on their way at one time, 1 to 10000. @default 1000 */
  readonly concurrency?: number | undefined
  /** Reads no more lines than this, blank ones aside. @default all */
  readonly limit?: number | undefined
  /** Called for each piece of the file that was read. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

export interface ImportProgress {
  /** Bytes of the file that were read, compressed if it is. */
  readonly bytes: number
  /** Bytes of the whole file; 0 where that is not known, as of a pipe. */
  readonly size: number
  readonly recorded: number
}

export interface ImportSummary {
  /** Events that are in the log now. */
  readonly recorded: number
  /** Lines that are no JSON object in UTF-8. */
  readonly malformed: number
  /** Lines that the log did not take, such as one with a link attribute that names nothing. */
  readonly refused: number
  /** Recorded without `occurred_at`: the line has no time that can be read. */
  readonly undated: number
  /** Recorded with a change that their attribute `recording` tells. */
  readonly altered: number
  /** The first malformed and refused lines. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[]
}

const MAX_CONCURRENCY = 10_000
const MAX_PROBLEMS = 10
const MAX_LINE_BYTES = 16 * 1024 * 1024
// Far below the 64 MiB that a log lets wait, as numbers can take more room once they are rewritten.
const MAX_BYTES_ON_THE_WAY = 8 * 1024 * 1024
const NEWLINE = 0x0a

/**
 * Records the lines in their order; resolves once all of them are durable. Lines that cannot be
 * recorded are counted, and the rest goes on. Rejects where the file cannot be read to its end or the
 * store fails; the message says how far it came.
 */
export async function importNdjson(options: ImportOptions): Promise<ImportSummary> {
  const { audit, file, concurrency = 1000, limit = Infinity, onProgress } = options
  const problems: { line: number; reason: string }[] = []
  const counts = { recorded: 0, malformed: 0, refused: 0, undated: 0, altered: 0 }
  const onTheWay = createGate(concurrency)
  let line = 0
  let failure: unknown

  const leaveOut = (kind: 'malformed' | 'refused', at: number, reason: string): void => {
    counts[kind]++
    if (problems.length < MAX_PROBLEMS) problems.push({ line: at, reason: printable(reason) })
  }
  const record = async (payload: JsonObject, at: number): Promise<void> => {
    const { type, data, username } = toEvent(payload, options)
    try {
      const event = await audit.recordCustom(type, data, { username })
      counts.recorded++
      if (options.time !== undefined && !Object.hasOwn(data, 'occurred_at')) counts.undated++
      if (event && isAltered(event.attributes, data)) counts.altered++
    } catch (error) {
      if (isRefusal(error)) leaveOut('refused', at, error.message)
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
        if (typeof payload === 'string') leaveOut('malformed', at, payload)
        else await onTheWay.start(bytes.length, () => record(payload, at))
      }
      onProgress?.({ ...progress(), recorded: counts.recorded })
    }
  }

  try {
    await recordAll()
  } catch (error) {
    failure ??= error
  }
  await onTheWay.empty()
  if (!failure) return { ...counts, problems }
  const place = `${file}: stopped at line ${line}, ${counts.recorded} events recorded`
  throw new Error(`${place}: ${messageOf(failure)}`, { cause: failure })
}

/** The content of the file, unpacked if it begins as gzip does. */
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
  // An error of either reaches the reader of the last; the callback only keeps it from being thrown.
  const stream = pipeline(raw, createGunzip(), () => {})
  return { stream, progress }
}

/**
 * The lines of each piece, without their `\n`. (Not `node:readline`, which also ends lines at U+2028,
 * as JSON texts may hold it.) Of a line that is too long only a part too long to be taken is kept.
 */
async function* linesOf(stream: Readable): AsyncGenerator<Buffer[], void, void> {
  let begun: Buffer[] = []
  let begunBytes = 0
  const add = (part: Buffer): void => {
    if (begunBytes <= MAX_LINE_BYTES) begun.push(part)
    begunBytes += part.length
  }
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines: Buffer[] = []
    let start = 0
    for (let end; (end = chunk.indexOf(NEWLINE, start)) !== -1; start = end + 1) {
      add(chunk.subarray(start, end))
      lines.push(begun.length === 1 ? begun[0]! : Buffer.concat(begun))
      begun = []
      begunBytes = 0
    }
    if (start < chunk.length) add(chunk.subarray(start))
    yield lines
  }
  if (begun.length > 0) yield [Buffer.concat(begun)]
}

const isBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)

/** The object that the line holds, or what is wrong with it. */
function parseLine(bytes: Buffer): JsonObject | string {
  if (bytes.length > MAX_LINE_BYTES) return `longer than ${MAX_LINE_BYTES} bytes`
  if (!isUtf8(bytes)) return 'not UTF-8'
  try {
    // Some tools begin a file with a byte order mark.
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

/** Terminals act on control characters, and the text is a stranger's. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\uFFFD')

/** What stands at a path such as `a.b`: as `{ a: { b } }`, or where a key holds the dot, `{ 'a.b' }`. */
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

/** A text, or a number as text; anything else is taken as missing. */
function textAt(payload: JsonObject, path: string | undefined): string | undefined {
  const value = fieldAt(payload, path)
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What is recorded of a line. */
function toEvent(
  payload: JsonObject,
  { type, typePrefix = '', typeLiteral = 'import:record', user, time }: ImportOptions,
): { type: string; data: JsonObject; username: string | null } {
  const text = textAt(payload, type)
  return {
    type: text === undefined ? typeLiteral : typePrefix + text,
    data: withTime(payload, time),
    username: textAt(payload, user) ?? null,
  }
}

/** The payload with its time as `occurred_at`, if it has a readable one and no such key of its own. */
function withTime(payload: JsonObject, path: string | undefined): JsonObject {
  const microseconds = readTime(fieldAt(payload, path))
  if (microseconds === undefined || Object.hasOwn(payload, 'occurred_at')) return payload
  return { ...payload, occurred_at: formatTimestamp(microseconds) }
}

/** Microseconds of an ISO 8601 text, or of seconds or milliseconds since 1970. */
function readTime(value: unknown): number | undefined {
  if (typeof value === 'string') return parseTimestamp(value)
  if (typeof value !== 'number' || value < 0) return undefined
  // As seconds the year 5138, as milliseconds a day in 1973.
  if (value < 1e11) return Math.round(value * 1e6)
  return value < 1e14 ? Math.round(value * 1e3) : undefined
}

/** The log adds the attribute `recording` where it could not keep something as it was. */
const isAltered = (kept: JsonObject, given: JsonObject): boolean =>
  Object.keys(kept).length !== Object.keys(given).length

/** True where the fault is in the one event, not in the store. */
const isRefusal = (error: unknown): error is AuditLogError =>
  error instanceof AuditLogError && ['INVALID_EVENT', 'INVALID_LINK'].includes(error.code)

interface Gate {
  /** Starts the task as soon as there is room; one at a time may wait. The task must not reject. */
  start(bytes: number, task: () => Promise<void>): Promise<void>
  /** Resolves when all that was started has ended. */
  empty(): Promise<void>
}

function createGate(maxTasks: number): Gate {
  let tasks = 0
  let bytesInside = 0
  let wake = (): void => {}
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise<void>((resolve) => (wake = resolve))
  }
  const runInside = async (bytes: number, task: () => Promise<void>): Promise<void> => {
    tasks++
    bytesInside += bytes
    await task()
    tasks--
    bytesInside -= bytes
    wake()
  }
  return {
    async start(bytes, task) {
      const isRoom = (): boolean => tasks < maxTasks && bytesInside + bytes <= MAX_BYTES_ON_THE_WAY
      await until(() => tasks === 0 || isRoom())
      void runInside(bytes, task)
    },
    empty: () => until(() => tasks === 0),
  }
}

const USAGE = `Usage: npx tsx examples/import-ndjson.ts <file> --store <store> [options]

Records each line of <file>, newline-delimited JSON, plain or gzip, as a custom event.

  --store <store>        where the events go: sqlite:<file>, which is made if there is none, or
                         postgres://<user>:<password>@<host>:<port>/<database>
  --type <field>         field with the event type, such as eventName or winlog.event_id
  --type-prefix <text>   put before the types that come from the field, such as windows:
  --type-literal <text>  the type of lines without that field (default import:record)
  --user <field>         field with the name of the user
  --time <field>         field with the time, kept as the attribute occurred_at:
                         ISO 8601, or seconds or milliseconds since 1970
  --concurrency <n>      most events on their way at one time, 1 to ${MAX_CONCURRENCY} (default 1000)
  --limit <n>            read no more than n lines
  --help                 print this

Exit code: 0 all lines recorded, 1 wrong usage or stopped by an error, 2 some lines left out.`

interface Command extends Omit<ImportOptions, 'audit' | 'onProgress'> {
  readonly openStore: () => EventStore
}

/** Throws an error that says what is wrong; gives `undefined` where help is asked for. */
function readCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      store: { type: 'string' },
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
    type: values.type,
    typePrefix: values['type-prefix'],
    typeLiteral: values['type-literal'],
    user: values.user,
    time: values.time,
    concurrency: wholeNumber('--concurrency', values.concurrency, MAX_CONCURRENCY),
    limit: wholeNumber('--limit', values.limit, Number.MAX_SAFE_INTEGER),
  }
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

/** Redraws one line of the terminal, ten times a second at most. */
function progressBar(output: NodeJS.WriteStream): {
  draw(progress: ImportProgress): void
  clear(): void
} {
  const start = performance.now()
  let drawn = -Infinity
  return {
    draw({ bytes, size, recorded }) {
      if (performance.now() - drawn < 100) return
      drawn = performance.now()
      const share = size === 0 ? 0 : Math.min(bytes / size, 1)
      const bar = '#'.repeat(Math.floor(share * 30)).padEnd(30, '.')
      const percent = `${Math.floor(share * 100)}%`.padStart(4)
      const rate = recorded / secondsSince(start)
      const text = `[${bar}]${percent}  ${count(recorded, 'events')}  ${count(rate, 'events/s')}`
      output.write(`\r${text.slice(0, (output.columns || 80) - 1)}\u001B[K`)
    },
    clear() {
      output.write('\r\u001B[K')
    },
  }
}

function report(file: string, summary: ImportSummary, seconds: number): void {
  const { recorded, malformed, refused, undated, altered, problems } = summary
  for (const { line, reason } of problems) console.error(`line ${line}: ${reason}`)
  const leftOut = malformed + refused
  if (leftOut > problems.length) console.error(`… and ${leftOut - problems.length} more`)
  const parts = [
    `${count(recorded, 'events')} from ${path.basename(file)} in ${seconds.toFixed(1)} s`,
    count(recorded / seconds, 'events/s'),
  ]
  if (malformed > 0) parts.push(count(malformed, 'malformed'))
  if (refused > 0) parts.push(count(refused, 'refused'))
  if (undated > 0) parts.push(count(undated, 'without a readable time'))
  if (altered > 0) parts.push(count(altered, 'altered, as their attribute recording tells'))
  console.log(parts.join(', '))
}

async function run({ openStore, ...options }: Command): Promise<number> {
  const audit: AuditLog = new AuditLog({ store: openStore(), types: {} })
  const bar = process.stderr.isTTY ? progressBar(process.stderr) : undefined
  const start = performance.now()
  try {
    const summary = await importNdjson({ ...options, audit, onProgress: bar?.draw }).finally(
      bar?.clear,
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
    console.error(`${messageOf(error)}\n--help tells how to use this command`)
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
