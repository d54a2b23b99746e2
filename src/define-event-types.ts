import { readTemplate } from './describing/template.js'
import { AuditLogError } from './errors.js'
import {
  type EventTypeDefinition,
  type EventTypes,
  eventTypeFault,
  isPeriod,
} from './event/event-types.js'
import { readSourcePath } from './event/source-path.js'
import { isSeverity } from './formats/event-values.js'
import { ocsfFault } from './formats/ocsf-mapping.js'

/**
 * Checks a table of event types and returns it. Its keys stay literal types, for `record`. Combine
 * tables by spreading them. Throws `INVALID_OPTION`, which names the wrong entry.
 */
export function defineEventTypes<const T extends EventTypes>(types: T): T {
  for (const [type, definition] of Object.entries<EventTypeDefinition>(types)) {
    const fault = eventTypeFault(type)
    if (fault)
      throw new AuditLogError('INVALID_OPTION', `event type ${JSON.stringify(type)} ${fault}`)
    const scope = definition.throttle?.scope ?? []
    if (definition.throttle && !isPeriod(definition.throttle.period)) {
      throw new AuditLogError(
        'INVALID_OPTION',
        `event type ${type}: the throttle's period must be a date-fns Duration such as { hours: 1 }`,
      )
    }
    if (scope.some((key) => typeof key !== 'string' || key === '')) {
      throw new AuditLogError(
        'INVALID_OPTION',
        `event type ${type}: the throttle's scope must list data keys`,
      )
    }
    checkTemplate(type, 'sentence', readTemplate, definition.sentence)
    for (const [tag, sentence] of Object.entries(definition.sentences ?? {}))
      checkTemplate(type, `sentences.${tag}`, readTemplate, sentence)
    checkTemplate(type, 'source', readSourcePath, definition.source)
    checkFormats(type, definition)
  }
  return types
}

function checkFormats(type: string, { severity, ocsf }: EventTypeDefinition): void {
  const invalid = (problem: string): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `event type ${type}: ${problem}`)
  if (severity !== undefined && !isSeverity(severity))
    throw invalid('severity must be a whole number from 1 to 24')
  const fault = ocsf === undefined ? undefined : ocsfFault(ocsf)
  if (fault !== undefined) throw invalid(`ocsf: ${fault}`)
}

function checkTemplate(
  type: string,
  name: string,
  read: (text: string) => unknown,
  text: string | undefined,
): void {
  if (text === undefined) return
  try {
    read(text)
  } catch (error) {
    const { message } = error as Error
    throw new AuditLogError('INVALID_OPTION', `event type ${type}: ${name}: ${message}`, {
      cause: error,
    })
  }
}
