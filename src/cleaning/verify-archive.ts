import { stat } from 'node:fs/promises'
import path from 'node:path'
import { checkOptions } from '../options.js'
import { WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import { filesOf } from './lake-names.js'
import { hashFile } from './lake-recovery.js'
import { type ManifestEntry, readManifest } from './manifest.js'

export interface ArchiveFault {
  /** Path in the directory. */
  readonly file: string
  /**
   * `missing`: only in the manifest. `changed`: size or digest differ. `unlisted`: not in the manifest; if a run was
   * killed, the next run of the rule adds the file.
   */
  readonly fault: 'missing' | 'changed' | 'unlisted'
}

export interface ArchiveReport {
  /** Number of files that are as the manifest says. */
  readonly files: number
  /** Number of events in them, by the manifest. Events of a killed run may be in two files. */
  readonly events: number
  readonly bytes: number
  readonly faults: readonly ArchiveFault[]
}

async function faultOf(
  directory: string,
  { file, bytes, sha256 }: ManifestEntry,
  signal: AbortSignal | undefined,
): Promise<ArchiveFault['fault'] | undefined> {
  const place = path.join(directory, file)
  const found = await stat(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (!found) return 'missing'
  if (found.size !== bytes) return 'changed'
  return (await hashFile(place, signal)) === sha256 ? undefined : 'changed'
}

/**
 * Compares each file of a cleaning archive by month with its line in `manifest.ndjson`. Reads every file once. Rejects with
 * the error of the file system if the directory cannot be read, and `ABORTED`.
 */
export async function verifyArchive(
  directory: string,
  options: WaitOptions = {},
): Promise<ArchiveReport> {
  checkOptions(options, WAIT_OPTIONS, 'verifyArchive')
  const { signal } = options
  await stat(directory)
  const listed = new Map<string, ManifestEntry>()
  for await (const entry of readManifest(directory)) listed.set(entry.file, entry)
  const faults: ArchiveFault[] = []
  let files = 0
  let events = 0
  let bytes = 0
  for (const entry of listed.values()) {
    const fault = await faultOf(directory, entry, signal)
    if (fault) faults.push({ file: entry.file, fault })
    else {
      files += 1
      events += entry.count ?? 0
      bytes += entry.bytes
    }
  }
  for await (const { file, times } of filesOf(directory))
    if (times && !listed.has(file)) faults.push({ file, fault: 'unlisted' })
  return { files, events, bytes, faults }
}
