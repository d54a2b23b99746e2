import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, realpathSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ExportFormat } from '../../../src/exporting/formats.js'
import { lineTime } from '../../../src/exporting/line-time.js'
import { bothOf, type EventQuery, oneCondition } from '../../../src/filter/ast.js'
import type { Call } from '../call/command.js'
import { hintAtMissing } from '../call/hints.js'
import { readQuery } from '../call/query.js'
import { usageError } from '../terminal/exit-codes.js'
import { megabytesText } from '../terminal/format.js'
import { showProgress } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'
import { countLines, readLastLine } from './last-line.js'

interface ExportOptions {
  readonly format: ExportFormat
  readonly out?: string
  readonly resume?: boolean
  readonly overwrite?: boolean
  readonly manifest?: boolean
  readonly columns?: readonly string[]
  readonly service?: string
}

/** The first columns of CSV. */
const CSV_HEADING = 'created_at,'

type Write = (bytes: Uint8Array) => Promise<void>

function checkOptions(
  { format, out, resume, overwrite, manifest }: ExportOptions,
  isTerminal: boolean,
): void {
  for (const [name, isGiven] of Object.entries({ resume, overwrite, manifest }))
    if (isGiven && out === undefined) throw usageError(`--${name} needs --out`)
  if (resume && overwrite) throw usageError('--resume and --overwrite cannot be used together')
  if (format !== 'parquet') return
  if (resume) throw usageError('--resume: a Parquet file cannot be continued; it is written anew')
  if (out === undefined && isTerminal)
    throw usageError('a terminal cannot show Parquet: give --out <file>, or use a pipe')
}

/**
 * Writes the matching events, and shows the progress. The output is opened once the log has returned the first bytes.
 * So an export that the log refuses changes no file.
 */
async function writeEvents(
  call: Call,
  query: EventQuery,
  openOutput: () => Write | Promise<Write>,
): Promise<void> {
  const { format, columns, service } = call.options as unknown as ExportOptions
  const { signal } = call.terminal
  const log = await call.openLog()
  const progress = showProgress(call.terminal, {
    label: 'exporting',
    unit: 'MB',
    format: megabytesText,
  })
  try {
    let bytes = 0
    let send: Write | undefined
    for await (const chunk of log.export(query, { format, columns, service, signal })) {
      send ??= await openOutput()
      await send(chunk)
      progress.update((bytes += chunk.length))
    }
    if (!send) await openOutput()
    await hintAtMissing(call, log, query)
  } finally {
    progress.stop()
  }
}

const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

/** The files of a log on SQLite. */
const filesOf = ({ target }: Call): readonly string[] =>
  target.kind === 'sqlite'
    ? ['', '-wal', '-shm', '-journal'].map((suffix) => `${target.filename}${suffix}`)
    : []

/** Throws a usage error if the file must not or cannot be written. */
function checkOutput(call: Call, file: string): void {
  const { format, resume, overwrite } = call.options as unknown as ExportOptions
  const folder = path.dirname(file)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isDirectory()) throw usageError(`--out ${file}: is a folder`)
  if (!isThere(folder)) throw usageError(`--out ${file}: there is no folder ${folder}`)
  if (!found) return
  const isSame = (other: string): boolean =>
    isThere(other) && realpathSync(other) === realpathSync(file)
  if (filesOf(call).some(isSame)) throw usageError(`--out ${file}: is the log itself`)
  if (resume || overwrite) return
  const goOn = format === 'parquet' ? '' : '--resume goes on with it, '
  throw usageError(`${file} exists: ${goOn}--overwrite replaces it`)
}

/** A file to continue. `after` is the time of its last event. */
interface Earlier {
  readonly handle: FileHandle
  readonly after: string | undefined
  /** The end of its last whole line, in bytes. */
  readonly end: number
}

/** True if an export in this format begins with the text. */
const isBeginning = (text: string, format: ExportFormat): boolean =>
  format === 'csv'
    ? CSV_HEADING.startsWith(text) || text.startsWith(CSV_HEADING)
    : text.startsWith('{')

async function readEarlier(
  handle: FileHandle,
  file: string,
  format: ExportFormat,
): Promise<Earlier> {
  const isCsv = format === 'csv'
  const last = await readLastLine(handle, isCsv)
  const wrong = usageError(
    `--resume: the last whole line of ${file} is no event in the format ${format}`,
  )
  if (!last) {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(CSV_HEADING.length),
      0,
      CSV_HEADING.length,
      0,
    )
    const text = buffer.toString('latin1', 0, bytesRead)
    if (bytesRead > 0 && !isBeginning(text, format)) throw wrong
    return { handle, after: undefined, end: 0 }
  }
  const isHeading = isCsv && last.text.startsWith(CSV_HEADING)
  const after = isHeading ? undefined : lineTime(format, last.text)
  if (after === undefined && !isHeading) throw wrong
  return { handle, after, end: last.end }
}

/** Opens the file of an interrupted export; `undefined` if there is none. */
async function openEarlier(file: string, format: ExportFormat): Promise<Earlier | undefined> {
  if (!isThere(file)) return undefined
  const handle = await open(file, 'r+')
  try {
    return await readEarlier(handle, file, format)
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function exportLines(call: Call, query: EventQuery, file: string): Promise<void> {
  const { format, resume, overwrite } = call.options as unknown as ExportOptions
  const earlier = resume ? await openEarlier(file, format) : undefined
  const after = earlier?.after
  const later =
    after === undefined
      ? query
      : { ...query, where: bothOf(query.where, oneCondition('created_at', 'gt', [after])) }
  let handle = earlier?.handle
  let position = earlier?.end ?? 0
  // A continued file of CSV has its heading already.
  let heading = format === 'csv' && position > 0
  try {
    await writeEvents(call, later, async () => {
      const output = (handle ??= await open(file, overwrite ? 'w' : 'wx'))
      // A partial line is written again.
      await output.truncate(position)
      return async (chunk) => {
        let bytes = chunk
        if (heading) {
          bytes = chunk.subarray(chunk.indexOf(0x0a) + 1)
          heading = false
        }
        await output.write(bytes, 0, bytes.length, position)
        position += bytes.length
      }
    })
    await handle?.sync()
  } finally {
    await handle?.close()
  }
}

async function exportWhole(call: Call, query: EventQuery, file: string): Promise<void> {
  const suffix = randomBytes(4).toString('hex')
  const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.${suffix}`)
  const handle = await open(unfinished, 'wx')
  try {
    try {
      await writeEvents(call, query, () => async (chunk) => {
        await handle.write(chunk)
      })
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** The number of events in a file. */
async function countEvents(file: string, format: ExportFormat): Promise<number> {
  if (format === 'parquet') {
    const { fromParquet } = await import('../../../src/parquet/from-parquet.js')
    let count = 0
    for await (const events of fromParquet(file)) count += events.length
    return count
  }
  const handle = await open(file)
  try {
    return await countLines(handle, format)
  } finally {
    await handle.close()
  }
}

async function writeManifest(file: string, { format }: ExportOptions): Promise<void> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
  }
  const count = await countEvents(file, format)
  const manifest = { file: path.basename(file), format, count, bytes, sha256: hash.digest('hex') }
  await writeFile(`${file}.manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`)
}

export async function run(call: Call): Promise<void> {
  const options = call.options as unknown as ExportOptions
  const { stdout } = call.terminal
  checkOptions(options, stdout.isTTY === true)
  const query = readQuery(call)
  const { out, format, manifest } = options
  if (out === undefined)
    return writeEvents(call, query, () => async (bytes) => write(stdout, bytes))
  checkOutput(call, out)
  await (format === 'parquet' ? exportWhole : exportLines)(call, query, out)
  if (manifest) await writeManifest(out, options)
}
