import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { createGunzip } from 'node:zlib'
import { throwIfAborted } from '../errors.js'
import { countParquetRows } from '../parquet/from-parquet.js'
import { fileSafe } from './archive-files.js'
import type { Lake } from './archive-target.js'
import { filesOf, type NamedFile } from './lake-names.js'
import { writeEntry, readManifest } from './manifest.js'

const NEWLINE = 10

export async function hashFile(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) {
    throwIfAborted(signal)
    hash.update(chunk as Buffer)
  }
  return hash.digest('hex')
}

async function countLines(file: string): Promise<number> {
  let count = 0
  const input = createReadStream(file)
  const gunzip = createGunzip()
  input.on('error', (error) => gunzip.destroy(error))
  for await (const chunk of input.pipe(gunzip))
    for (const byte of chunk as Buffer) if (byte === NEWLINE) count++
  return count
}

/** The number of events; null if the file cannot be read, for example without the optional package hyparquet. */
const countEvents = (file: string): Promise<number | null> =>
  (file.endsWith('.parquet') ? countParquetRows(file) : countLines(file)).catch(() => null)

async function addEntry(lake: Lake, rule: string, { file, times }: NamedFile): Promise<void> {
  const place = path.join(lake.directory, file)
  await writeEntry(lake, {
    file,
    rule,
    count: await countEvents(place),
    first_created_at: times!.first,
    last_created_at: times!.last,
    bytes: (await stat(place)).size,
    sha256: await hashFile(place),
  })
}

/**
 * Repairs the rule's archive after processes that ended early: removes incomplete files, and adds missing files to
 * the manifest. A process that has lost its lease but still runs then cannot give its file the final name, so it
 * removes no event.
 */
export async function recoverLake(lake: Lake, rule: string): Promise<void> {
  const { directory } = lake
  const safe = fileSafe(rule)
  const listed = new Set<string>()
  for await (const entry of readManifest(directory)) listed.add(entry.file)
  for await (const found of filesOf(directory)) {
    if (found.rule !== safe) continue
    if (!found.times) await rm(path.join(directory, found.file), { force: true })
    else if (!listed.has(found.file)) await addEntry(lake, rule, found)
  }
}
