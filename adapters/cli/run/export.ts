import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ExportFormat } from '../../../src/exporting/formats.js'
import { lineTime } from '../../../src/exporting/line-time.js'
import { bothOf, type EventQuery, oneCondition } from '../../../src/filter/ast.js'
import type { Call } from '../call/command.js'
import { readQuery } from '../call/query.js'
import { usageError } from '../terminal/exit-codes.js'
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

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** Writes the events that match, and shows how far it is. */
async function writeEvents(call: Call, query: EventQuery, send: Write): Promise<void> {
  const { format, columns, service } = call.options as unknown as ExportOptions
  const { signal } = call.terminal
  const log = await call.openLog()
  const progress = showProgress(call.terminal, {
    label: 'exporting',
    unit: 'MB',
    format: megabytes,
  })
  try {
    let bytes = 0
    for await (const chunk of log.export(query, { format, columns, service, signal })) {
      await send(chunk)
      progress.update((bytes += chunk.length))
    }
  } finally {
    progress.stop()
  }
}

/** Opens the file to write; `after` is the time of the last event that it has. */
async function openLines(file: string, { format, resume, overwrite }: ExportOptions) {
  let handle: FileHandle
  try {
    handle = await open(file, resume ? 'r+' : overwrite ? 'w' : 'wx')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw usageError(`${file} exists: --resume goes on with it, --overwrite replaces it`)
    if (code !== 'ENOENT' || !resume) throw error
    handle = await open(file, 'wx')
  }
  if (!resume) return { handle, end: 0 }
  const last = await readLastLine(handle, format === 'csv')
  if (!last) {
    await handle.truncate(0)
    return { handle, end: 0 }
  }
  const isHeading = format === 'csv' && last.text.startsWith('created_at,')
  const after = isHeading ? undefined : lineTime(format, last.text)
  if (after === undefined && !isHeading) {
    await handle.close()
    throw usageError(`--resume: the last whole line of ${file} is no event in the format ${format}`)
  }
  // Half a line is written again.
  await handle.truncate(last.end)
  return { handle, after, end: last.end }
}

async function exportLines(call: Call, query: EventQuery, file: string): Promise<void> {
  const { handle, after, end } = await openLines(file, call.options as unknown as ExportOptions)
  const later =
    after === undefined
      ? query
      : { ...query, where: bothOf(query.where, oneCondition('created_at', 'gt', [after])) }
  const isCsv = call.options['format'] === 'csv'
  // A file of CSV that goes on has its heading already.
  let heading = isCsv && end > 0
  let position = end
  try {
    await writeEvents(call, later, async (chunk) => {
      let bytes = chunk
      if (heading) {
        bytes = chunk.subarray(chunk.indexOf(0x0a) + 1)
        heading = false
      }
      await handle.write(bytes, 0, bytes.length, position)
      position += bytes.length
    })
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function exportWhole(call: Call, query: EventQuery, file: string): Promise<void> {
  const { overwrite } = call.options as unknown as ExportOptions
  const exists = await stat(file).then(
    () => true,
    () => false,
  )
  if (exists && !overwrite) throw usageError(`${file} exists: --overwrite replaces it`)
  const suffix = randomBytes(4).toString('hex')
  const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.${suffix}`)
  const handle = await open(unfinished, 'wx')
  try {
    try {
      await writeEvents(call, query, async (chunk) => {
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
  if (out === undefined) return writeEvents(call, query, async (bytes) => write(stdout, bytes))
  await (format === 'parquet' ? exportWhole : exportLines)(call, query, out)
  if (manifest) await writeManifest(out, options)
}
