import fs from 'node:fs'
import path from 'node:path'
import { CommandError } from '../terminal/exit-codes.js'

const ARCHIVE = /^[^.].*\.(?:(?:ndjson|jsonl)(?:\.gz)?|parquet)$/
// The list of files in an archive by year and month, which has no events.
const MANIFEST = 'manifest.ndjson'

/** The archive files in a folder and in all folders below it, ordered by name. Incomplete files are left out. */
export function archiveFilesIn(folder: string): readonly string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const isArchive = (name: string): boolean =>
    ARCHIVE.test(path.basename(name)) && path.basename(name) !== MANIFEST
  const files = names
    .filter(isArchive)
    .toSorted()
    .map((name) => path.join(folder, name))
    .filter((file) => fs.statSync(file).isFile())
  if (files.length > 0) return files
  throw new CommandError(
    'unreachable',
    `there are no .ndjson, .ndjson.gz or .parquet files in ${folder}`,
  )
}
