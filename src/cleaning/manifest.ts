import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { syncDirectory, writeAll } from './archive-files.js'
import type { Lake } from './archive-target.js'

/** A line of `manifest.ndjson`: a complete file of the archive. */
export interface ManifestEntry {
  /** Path in the directory. */
  readonly file: string
  readonly rule: string
  /** Number of events. Null if the run that wrote the file was killed and the next run could not read it. */
  readonly count: number | null
  readonly first_created_at: string
  readonly last_created_at: string
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
}

const manifestOf = (directory: string): string => path.join(directory, 'manifest.ndjson')

const NEWLINE = 10

/** Resolves once the line is durable. Processes may append at the same time. */
export async function writeEntry(
  { directory, mode }: Pick<Lake, 'directory' | 'mode'>,
  entry: ManifestEntry,
): Promise<void> {
  const handle = await open(manifestOf(directory), 'a+', mode)
  try {
    const { size } = await handle.stat()
    if (size === 0) await handle.chmod(mode).catch(() => {})
    // A full disk or a loss of power may have left a partial line. It must not become part of the new line.
    const last =
      size === 0 ? NEWLINE : (await handle.read({ position: size - 1, length: 1 })).buffer[0]
    const line = `${last === NEWLINE ? '' : '\n'}${JSON.stringify(entry)}\n`
    await writeAll(handle, Buffer.from(line))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncDirectory(directory)
}

function readLine(line: string): ManifestEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<ManifestEntry> | null
    const isEntry = typeof entry?.file === 'string' && typeof entry.sha256 === 'string'
    return isEntry ? (entry as ManifestEntry) : undefined
  } catch {
    return undefined
  }
}

/** The complete lines of the manifest, none if there is no manifest. */
export async function* readManifest(directory: string): AsyncGenerator<ManifestEntry, void, void> {
  let rest = ''
  try {
    for await (const chunk of createReadStream(manifestOf(directory), 'utf8')) {
      const lines = (rest + (chunk as string)).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const entry = readLine(line)
        if (entry) yield entry
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
