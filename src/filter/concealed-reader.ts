import { concealer } from '../event/concealed.js'
import type { AuditEvent } from '../event/event.js'
import type { AttributeReader } from './attributes.js'

type EventReader = AttributeReader<AuditEvent>

/** The reader of the views of events. */
const readerOf = (reader: EventReader, view: (event: AuditEvent) => AuditEvent): EventReader => ({
  types: reader.types,
  isOpen: reader.isOpen,
  walk(name, visit) {
    const walk = reader.walk(name, visit)
    return (event) => walk(view(event))
  },
  valuesInSteps: (event, name) => reader.valuesInSteps(view(event), name),
})

/** The reader of events as if they had no attributes of these names. */
export function concealedReader(reader: EventReader, names: readonly string[]): EventReader {
  const view = concealer(names)
  const { anyText } = reader
  return { ...readerOf(reader, view), ...(anyText && { anyText: readerOf(anyText, view) }) }
}
