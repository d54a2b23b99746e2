import { describeEvent, type DescribedTypes } from '../describing/describe-event.js'
import { sentenceText } from '../describing/sentence-text.js'
import { AuditLogError } from '../errors.js'
import type { EventOfLog } from '../event/event-of-log.js'
import { attributesJson } from '../event/lazy-event.js'
import { levelOf } from '../event/level.js'
import { parseTimestamp } from '../event/timestamp.js'
import { attributeText, attributeTextInSteps } from '../filter/attribute-text.js'
import { decideWithin, type Steps } from '../filter/steps.js'
import type { CellValue, ColumnSource, SchemaElement } from './library.js'

/** A column of a Parquet file. */
export interface Column extends Pick<ColumnSource, 'encoding'> {
  readonly element: SchemaElement
  /** True for texts that take most of the file. They are compressed in threads, and are never null. */
  readonly isLarge?: true
  /** The value for an event if reading it takes little work, otherwise the work. */
  readonly cell: (item: EventOfLog) => CellValue | Steps<CellValue>
}

type ElementType = Omit<SchemaElement, 'name' | 'repetition_type'>

const TEXT: ElementType = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
}
const JSON_TEXT: ElementType = { ...TEXT, logical_type: { type: 'JSON' } }
const UUID: ElementType = {
  type: 'FIXED_LEN_BYTE_ARRAY',
  type_length: 16,
  logical_type: { type: 'UUID' },
}
const TIME: ElementType = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MICROS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
}

const required = (name: string, type: ElementType): SchemaElement => ({
  name,
  ...type,
  repetition_type: 'REQUIRED',
})
const optional = (name: string, type: ElementType): SchemaElement => ({
  name,
  ...type,
  repetition_type: 'OPTIONAL',
})

const uuidBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll('-', ''), 'hex')

/** The columns that every file has. */
const ownColumns = ({ types, customTypes }: DescribedTypes): readonly Column[] => [
  {
    element: required('created_at', TIME),
    encoding: 'DELTA_BINARY_PACKED',
    // Stores and imports accept no event without a valid time.
    cell: ({ event }) => BigInt(parseTimestamp(event.created_at)!),
  },
  { element: required('id', UUID), encoding: 'PLAIN', cell: ({ event }) => uuidBytes(event.id) },
  { element: required('level', TEXT), cell: ({ event }) => levelOf(event.type) },
  { element: required('type', TEXT), cell: ({ event }) => event.type },
  { element: optional('username', TEXT), cell: ({ event }) => event.username },
  { element: optional('source', TEXT), cell: ({ event }) => event.source },
  { element: required('system', { type: 'BOOLEAN' }), cell: ({ event }) => event.system },
  {
    // Comes before all columns that read the attributes. After a read, the attributes would have to be serialized
    // again.
    element: required('attributes', JSON_TEXT),
    isLarge: true,
    cell: ({ event }) => attributesJson(event),
  },
  {
    element: required('sentence', TEXT),
    isLarge: true,
    cell: ({ event }) => sentenceText(describeEvent(event, { types, customTypes })),
  },
]

function attributeColumn(name: string): Column {
  const [text, textInSteps] = [attributeText(name), attributeTextInSteps(name)]
  return {
    element: optional(name, TEXT),
    cell: decideWithin<EventOfLog, CellValue, Steps<CellValue>>(
      ({ event }) => text(event),
      ({ event }) => textInSteps(event),
    ),
  }
}

/** The column with the key of the log. It is not named `log`, because many events have an attribute of this name. */
export const LOG_COLUMN = 'log_key'

interface ColumnSettings extends DescribedTypes {
  readonly columns?: readonly string[] | undefined
  readonly hasLogs?: boolean | undefined
}

/**
 * The columns of a file: the same for every event, and one for each of the attributes. For events of several logs,
 * the first column is the key of the log. Throws `INVALID_OPTION`.
 */
export function parquetColumns({
  columns: attributes = [],
  hasLogs,
  ...described
}: ColumnSettings): readonly Column[] {
  if (!Array.isArray(attributes) || attributes.some((name) => typeof name !== 'string' || !name))
    throw new AuditLogError('INVALID_OPTION', 'columns must be a list of names of attributes')
  const log: readonly Column[] = hasLogs
    ? [{ element: required(LOG_COLUMN, TEXT), cell: ({ log }) => log! }]
    : []
  const own: readonly Column[] = [...log, ...ownColumns(described)]
  const taken = new Set(own.map(({ element }) => element.name))
  const others = [...new Set(attributes)].filter((name) => !taken.has(name))
  return [...own, ...others.map(attributeColumn)]
}

/** The schema of a file with these columns. */
export const schemaOf = (columns: readonly Column[]): readonly SchemaElement[] => [
  { name: 'events', num_children: columns.length },
  ...columns.map(({ element }) => element),
]
