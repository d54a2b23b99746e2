import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { fileSafe } from './archive-files.js'

/* The names of folders and files in an archive by month. */

interface NameParts {
  readonly rule: string
  readonly first: string
  readonly last: string
  readonly random: string
  readonly extension: string
}

export const fileName = ({ rule, first, last, random, extension }: NameParts): string =>
  `${[rule, first, last, random].map(fileSafe).join('-')}.${extension}`

/** Name of an incomplete file. Neither `*.parquet` nor `*.ndjson.gz` matches it. */
export const partialName = (rule: string, random: string): string =>
  `.${fileSafe(rule)}-${random}.partial`

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d_\d\d_\d\d\.\d{6}Z`
const COMPLETE = new RegExp(
  `^(?<rule>.*)-(?<first>${TIME})-(?<last>${TIME})-[0-9a-f]{8}\\.(?:ndjson\\.gz|parquet)$`,
)
const PARTIAL = /^\.(?<rule>.*)-[0-9a-f]{8}\.partial$/

/** A file in the folder of a month. */
export interface NamedFile {
  /** Its path in the directory, with `/` on every platform. */
  readonly file: string
  /** The rule as it is in names of files. */
  readonly rule: string
  /** `undefined` if the file is not complete. */
  readonly times?: { readonly first: string; readonly last: string }
}

const toTime = (text: string): string => text.replaceAll('_', ':')

function readName(folder: string, name: string): NamedFile | undefined {
  const file = `${folder}/${name}`
  const complete = COMPLETE.exec(name)?.groups
  if (complete) {
    const { rule, first, last } = complete as Record<'rule' | 'first' | 'last', string>
    return { file, rule, times: { first: toTime(first), last: toTime(last) } }
  }
  const partial = PARTIAL.exec(name)?.groups
  return partial && { file, rule: partial['rule']! }
}

const entriesOf = (directory: string, pattern: RegExp): Promise<readonly string[]> =>
  readdir(directory).then(
    (names) => names.filter((name) => pattern.test(name)).toSorted(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
      throw error
    },
  )

/** The files of monthly archives in the directory, complete or not. Other files are left out. */
export async function* filesOf(directory: string): AsyncGenerator<NamedFile, void, void> {
  for (const year of await entriesOf(directory, /^year=\d{4}$/)) {
    for (const month of await entriesOf(path.join(directory, year), /^month=\d\d$/)) {
      const folder = `${year}/${month}`
      for (const name of await entriesOf(path.join(directory, folder), /./)) {
        const found = readName(folder, name)
        if (found) yield found
      }
    }
  }
}
