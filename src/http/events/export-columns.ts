import { describeEvent, type DescribeOptions } from '../../describing/describe-event.js'
import { sentenceText } from '../../describing/sentence-text.js'
import type { AuditEvent } from '../../event/event.js'
import { attributeText, attributeTextInSteps } from '../../filter/attribute-text.js'
import type { Steps } from '../../filter/steps.js'
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

/** The values that filters find by this name. */
function attributeColumn(name: string): Column {
  const [text, textInSteps] = [attributeText(name), attributeTextInSteps(name)]
  return {
    name,
    cell: (event) => text(event) ?? '',
    *cellInSteps(event) {
      return (yield* textInSteps(event)) ?? ''
    },
  }
}

/** One column per attribute of the fieldset; without a fieldset one column with all attributes as JSON. */
export function exportColumns(described: DescribedTypes, fields: Fieldset): readonly Column[] {
  const own = ownColumns(described)
  if (!fields) return [...own, { name: 'attributes', cell: attributesJson }]
  const ownNames = new Set(own.map(({ name }) => name))
  const others = [...fields].filter((name) => !ownNames.has(name))
  return [...own, ...others.map(attributeColumn)]
}
