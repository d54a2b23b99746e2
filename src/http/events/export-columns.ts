import { describeEvent, type DescribeOptions } from '../../describing/describe-event.js'
import { sentenceText } from '../../describing/sentence-text.js'
import type { AuditEvent, JsonValue } from '../../event/event.js'
import { eventAttributes } from '../../filter/attributes.js'
import { spend, type Steps } from '../../filter/steps.js'
import { attributesJson } from '../../event/lazy-event.js'
import type { Fieldset } from './fieldset.js'

/** What the log knows of event types. */
export type DescribedTypes = Pick<DescribeOptions, 'types' | 'customTypes'>

/** A column of an export: its heading, and its cell for an event. */
export interface Column {
  readonly name: string
  readonly cell: (event: AuditEvent) => string
  /** The same cell, for columns whose values may be many. */
  readonly cellInSteps?: (event: AuditEvent) => Steps<string>
}

/** The columns that every export has. */
const ownColumns = (described: DescribedTypes): readonly Column[] => [
  { name: 'created_at', cell: (event) => event.created_at },
  { name: 'type', cell: (event) => event.type },
  { name: 'username', cell: (event) => event.username ?? '' },
  { name: 'system', cell: (event) => String(event.system) },
  { name: 'source', cell: (event) => event.source ?? '' },
  { name: 'id', cell: (event) => event.id },
  { name: 'sentence', cell: (event) => sentenceText(describeEvent(event, described)) },
]

const CHARS_PER_UNIT = 8

/** Text as it is, other values as JSON, several as an array. */
function valuesText(values: readonly JsonValue[]): string {
  const some = values.filter((value) => value !== null)
  const [first = ''] = some
  const value = some.length > 1 ? some : first
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  spend(Math.ceil(text.length / CHARS_PER_UNIT))
  return text
}

/** The values that filters find by this name. */
function attributeColumn(name: string): Column {
  let values: JsonValue[] = []
  const collect = eventAttributes.walk(name, (value) => {
    values.push(value)
    return false
  })
  return {
    name,
    cell(event) {
      values = []
      collect(event)
      return valuesText(values)
    },
    cellInSteps: (event) => attributeInSteps(event, name),
  }
}

function* attributeInSteps(event: AuditEvent, name: string): Steps<string> {
  return valuesText(yield* eventAttributes.valuesInSteps(event, name))
}

/** One column per attribute of the fieldset; without a fieldset one column with all attributes as JSON. */
export function exportColumns(described: DescribedTypes, fields: Fieldset): readonly Column[] {
  const own = ownColumns(described)
  if (!fields) return [...own, { name: 'attributes', cell: attributesJson }]
  const ownNames = new Set(own.map(({ name }) => name))
  const others = [...fields].filter((name) => !ownNames.has(name))
  return [...own, ...others.map(attributeColumn)]
}
