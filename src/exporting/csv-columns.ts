import { describeEvent, type DescribedTypes } from '../describing/describe-event.js'
import { sentenceText } from '../describing/sentence-text.js'
import type { EventOfLog } from '../event/event-of-log.js'
import { attributesJson } from '../event/lazy-event.js'
import { LOG_COLUMN } from '../parquet/columns.js'
import { attributeText, attributeTextInSteps } from '../filter/attribute-text.js'
import type { Steps } from '../filter/steps.js'

/** A column of a CSV file: its heading, and its cell for an event. */
export interface CsvColumn {
  readonly name: string
  readonly cell: (item: EventOfLog) => string
  /** The same cell, for columns whose values may be many. */
  readonly cellInSteps?: (item: EventOfLog) => Steps<string>
}

/** The columns that every file has. */
const ownColumns = ({ types, customTypes }: DescribedTypes): readonly CsvColumn[] => [
  { name: 'created_at', cell: ({ event }) => event.created_at },
  { name: 'type', cell: ({ event }) => event.type },
  { name: 'username', cell: ({ event }) => event.username ?? '' },
  { name: 'system', cell: ({ event }) => String(event.system) },
  { name: 'source', cell: ({ event }) => event.source ?? '' },
  { name: 'id', cell: ({ event }) => event.id },
  {
    name: 'sentence',
    cell: ({ event }) => sentenceText(describeEvent(event, { types, customTypes })),
  },
]

/** The values that filters find by this name. */
function attributeColumn(name: string): CsvColumn {
  const [text, textInSteps] = [attributeText(name), attributeTextInSteps(name)]
  return {
    name,
    cell: ({ event }) => text(event) ?? '',
    *cellInSteps({ event }) {
      return (yield* textInSteps(event)) ?? ''
    },
  }
}

interface ColumnSettings extends DescribedTypes {
  readonly columns?: readonly string[] | undefined
  readonly hasLogs?: boolean | undefined
}

/**
 * One column for each of the attributes; if they are not given, one column with all attributes as JSON. The first column is the key of
 * the log, if the events are of several logs.
 */
export function csvColumns({
  columns: attributes,
  hasLogs,
  ...described
}: ColumnSettings): readonly CsvColumn[] {
  const log: readonly CsvColumn[] = hasLogs ? [{ name: LOG_COLUMN, cell: ({ log }) => log! }] : []
  const own = [...log, ...ownColumns(described)]
  if (!attributes)
    return [...own, { name: 'attributes', cell: ({ event }) => attributesJson(event) }]
  const ownNames = new Set(own.map(({ name }) => name))
  const others = [...new Set(attributes)].filter((name) => !ownNames.has(name))
  return [...own, ...others.map(attributeColumn)]
}
