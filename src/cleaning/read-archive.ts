import type { AuditLogError } from '../errors.js'
import { DEFAULT_FILE_MODE, fileModeFault } from '../store/file-mode.js'
import type { ArchiveTarget, Lake } from './archive-target.js'
import { ARCHIVE_FORMATS, eventsEncoder } from './events-file.js'
import { checkOptions } from '../options.js'
import { ARCHIVE_DIRECTORY, type ArchiveDirectory, type EventsRule } from './rule.js'

export type Fault = (message: string) => AuditLogError

const DEFAULT_ROWS = 100_000
/** The ids of a file's events are kept in memory. */
const MAX_ROWS = 1_000_000
const DEFAULT_BYTES = 268_435_456

/** The option `archive` of a rule. Throws `INVALID_OPTION`, and `MISSING_DEPENDENCY` if the format needs a package that is missing. */
export function readArchive(
  { archive, archiveMode }: EventsRule,
  fault: Fault,
): ArchiveTarget | undefined {
  const modeFault = archiveMode === undefined ? undefined : fileModeFault(archiveMode)
  if (modeFault !== undefined) throw fault(`archiveMode ${modeFault}`)
  const isText = typeof archive === 'string'
  if (archiveMode !== undefined && !isText)
    throw fault(
      'archiveMode needs an archive in a directory that is given as a text; an object has mode',
    )
  if (archive === undefined) return undefined
  if (typeof archive === 'function') return { to: archive }
  if (isText && archive !== '') return { to: archive, mode: archiveMode }
  if (!isText && archive !== null && typeof archive === 'object')
    return { to: readLake(archive, fault) }
  throw fault(
    'archive must be the name of a directory, an object with directory and format, or a function',
  )
}

function readLake(given: ArchiveDirectory, fault: Fault): Lake {
  checkOptions(given, ARCHIVE_DIRECTORY, 'archive of a cleaning rule')
  const { directory, format, columns, mode = DEFAULT_FILE_MODE } = given
  const { maxRows = DEFAULT_ROWS, maxBytes = DEFAULT_BYTES } = given
  if (typeof directory !== 'string' || directory === '')
    throw fault('archive.directory must be the name of a directory')
  if (!ARCHIVE_FORMATS.includes(format))
    throw fault(`archive.format must be ${ARCHIVE_FORMATS.join(' or ')}`)
  if (columns !== undefined && format !== 'parquet')
    throw fault('archive.columns needs the format parquet')
  if (!Number.isSafeInteger(maxRows) || maxRows < 1 || maxRows > MAX_ROWS)
    throw fault(`archive.maxRows must be a whole number from 1 to ${MAX_ROWS}`)
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1)
    throw fault('archive.maxBytes must be a whole number of at least 1')
  const modeFault = fileModeFault(mode)
  if (modeFault !== undefined) throw fault(`archive.mode ${modeFault}`)
  if (format === 'parquet') checkParquet(columns, fault)
  return { directory, format, columns, maxRows, maxBytes, mode }
}

function checkParquet(columns: readonly string[] | undefined, fault: Fault): void {
  try {
    eventsEncoder('parquet', {}, columns)
  } catch (error) {
    const { code, message } = error as AuditLogError
    throw code === 'INVALID_OPTION' ? fault(`archive.${message}`) : error
  }
}
