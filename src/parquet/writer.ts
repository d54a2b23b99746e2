import { DESCRIBED_TYPES, type DescribedTypes } from '../describing/describe-event.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventOfLog } from '../event/event-of-log.js'
import type { Steps } from '../filter/steps.js'
import { createTimeSlices } from '../filter/time-slices.js'
import { parquetColumns } from './columns.js'
import { createFile } from './file.js'
import type { CellValue } from './library.js'
import { checkOptions, type OptionNames } from '../options.js'

/** Limits at which a row group ends. */
export interface RowGroupLimits {
  /** @default 5000 */
  readonly rows?: number | undefined
  /** Bytes of the texts and attributes of a row group, before compression. @default 8 MiB */
  readonly bytes?: number | undefined
}

const ROW_GROUP_LIMITS: OptionNames<RowGroupLimits> = { rows: true, bytes: true }

export interface ParquetOptions extends DescribedTypes {
  /** Attributes by their names in queries, such as `url_params_project_code`: a column of text for each. */
  readonly columns?: readonly string[] | undefined
  /** The key of the log of an event, for events of several logs: the column `log_key`. @default no such column */
  readonly logOf?: ((event: AuditEvent) => string) | undefined
  readonly rowGroup?: RowGroupLimits | undefined
}

const PARQUET_OPTIONS: OptionNames<ParquetOptions> = {
  ...DESCRIBED_TYPES,
  columns: true,
  logOf: true,
  rowGroup: true,
}

/** Writes events as a Parquet file. Calls must not overlap. */
export interface ParquetWriter<Item = AuditEvent> {
  /** Resolves to the bytes of the row groups that these events complete, empty if there is none. */
  add(events: readonly Item[]): Promise<Uint8Array>
  /** Resolves to the remaining bytes. Without them the file cannot be read. */
  finish(): Promise<Uint8Array>
}

const DEFAULT_ROWS = 5000
const DEFAULT_BYTES = 8_388_608

function readLimit(given: number | undefined, name: string, byDefault: number): number {
  const limit = given ?? byDefault
  if (Number.isSafeInteger(limit) && limit > 0) return limit
  throw new AuditLogError('INVALID_OPTION', `rowGroup.${name} must be a positive whole number`)
}

const isWork = (value: CellValue | Steps<CellValue>): value is Steps<CellValue> =>
  value !== null && typeof value === 'object' && !(value instanceof Uint8Array)

/** Throws `MISSING_DEPENDENCY` without the package hyparquet-writer, and `INVALID_OPTION`. */
export function parquetWriter(options: ParquetOptions = {}): ParquetWriter {
  checkOptions(options, PARQUET_OPTIONS, 'parquetWriter')
  checkOptions(options.rowGroup, ROW_GROUP_LIMITS, 'rowGroup')
  const { logOf, ...settings } = options
  const writer = writerOfItems({ ...settings, hasLogs: logOf !== undefined })
  return {
    add: (events) => writer.add(events.map((event) => ({ event, log: logOf?.(event) }))),
    finish: () => writer.finish(),
  }
}

/** Settings of a file whose events name their logs themselves. */
export interface ItemOptions extends Omit<ParquetOptions, 'logOf'> {
  readonly hasLogs?: boolean | undefined
}

/** A writer of events that name their logs themselves. Throws as {@link parquetWriter} does. */
export function writerOfItems(options: ItemOptions): ParquetWriter<EventOfLog> {
  const columns = parquetColumns(options)
  const maxRows = readLimit(options.rowGroup?.rows, 'rows', DEFAULT_ROWS)
  const maxBytes = readLimit(options.rowGroup?.bytes, 'bytes', DEFAULT_BYTES)
  const file = createFile(columns)
  const slices = createTimeSlices()
  let rows = 0
  let size = 0

  const endGroup = async (): Promise<void> => {
    rows = 0
    size = 0
    await file.endGroup(slices)
  }

  return {
    async add(events) {
      for (const item of events) {
        for (const [index, { cell }] of columns.entries()) {
          const value = cell(item)
          size += file.add(index, isWork(value) ? await slices.finish(value) : value)
        }
        rows++
        if (rows >= maxRows || size >= maxBytes) await endGroup()
        if (slices.isOver()) await slices.next()
      }
      return file.take()
    },
    async finish() {
      if (rows > 0) await endGroup()
      return file.finish()
    },
  }
}
