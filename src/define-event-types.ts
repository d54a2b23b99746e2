import { readTemplate } from './describing/template.js'
import { AuditLogError } from './errors.js'
import {
  type EventTypeDefinition,
  type EventTypes,
  eventTypeFault,
  isPeriod,
  type OcsfMapping,
  type ThrottleRule,
} from './event/event-types.js'
import { OUTCOME_VALUES, OUTCOMES } from './event/known-attributes.js'
import { readSourcePath } from './event/source-path.js'
import { isSeverity } from './formats/event-values.js'
import { ocsfFault } from './formats/ocsf-mapping.js'
import { checkOptions, type OptionNames, requireOptions } from './options.js'
import { checkPersonalType } from './privacy/declarations.js'
import { checkCollapse } from './recording/collapse-rules.js'

const DEFINITION: OptionNames<EventTypeDefinition> = {
  area: true,
  description: true,
  data: true,
  throttle: true,
  collapse: true,
  enabled: true,
  onlyWhile: true,
  live: true,
  cadence: true,
  source: true,
  sentence: true,
  sentences: true,
  ocsf: true,
  severity: true,
  reason: true,
  outcome: true,
  personal: true,
}
const THROTTLE: OptionNames<ThrottleRule> = { period: true, scope: true, periodStated: true }
const OCSF: OptionNames<OcsfMapping> = { class: true, activity: true, set: true }

/** Definitions that were found valid. Tables are checked again when a log is opened. */
const checked = new WeakSet<EventTypeDefinition>()

/**
 * Checks a table of event types and returns it. Its keys stay literal types, for `record`. Combine
 * tables by spreading them. Throws `INVALID_OPTION`, which names the wrong entry.
 */
export function defineEventTypes<const T extends EventTypes>(types: T): T {
  if (!isObject(types))
    throw new AuditLogError(
      'INVALID_OPTION',
      'types must be an object of definitions by event type, as defineEventTypes returns it',
    )
  for (const [type, definition] of Object.entries<EventTypeDefinition>(types)) {
    const fault = eventTypeFault(type)
    if (fault)
      throw new AuditLogError('INVALID_OPTION', `event type ${JSON.stringify(type)} ${fault}`)
    if (checked.has(definition)) continue
    checkDefinition(type, definition)
    checked.add(definition)
  }
  return types
}

const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

function checkDefinition(type: string, definition: EventTypeDefinition): void {
  requireOptions(definition, DEFINITION, `event type ${type}`)
  const { data, throttle, enabled, source, sentence, sentences = {} } = definition
  const invalid = invalidType(type)
  const isNames = (keys: unknown): boolean =>
    Array.isArray(keys) && keys.every((key) => typeof key === 'string' && key !== '')
  if (data !== undefined && !isNames(data) && !isSchema(data))
    throw invalid('data must list data keys, or be a Standard Schema')
  if (enabled !== undefined && typeof enabled !== 'function')
    throw invalid('enabled must be a function')
  if (definition.reason !== undefined && definition.reason !== 'required')
    throw invalid("reason must be 'required', or left out")
  if (definition.outcome !== undefined && !OUTCOMES.includes(definition.outcome))
    throw invalid(`outcome must be one of ${OUTCOME_VALUES}, or left out`)
  if (definition.outcome !== undefined && definition.live)
    throw invalid('a type with live has no outcome: it is known when the event is closed')
  if (throttle !== undefined) {
    checkOptions(throttle, THROTTLE, `event type ${type}: throttle`)
    if (!isPeriod(throttle.period))
      throw invalid("the throttle's period must be a date-fns Duration such as { hours: 1 }")
    if (throttle.scope !== undefined && !isNames(throttle.scope))
      throw invalid("the throttle's scope must list data keys")
  }
  checkTypeCollapse(type, definition)
  checkPersonalType(type, definition)
  checkTemplate(type, 'sentence', readTemplate, sentence)
  if (!isObject(sentences)) throw invalid('sentences must be templates by language')
  for (const [tag, text] of Object.entries(sentences))
    checkTemplate(type, `sentences.${tag}`, readTemplate, text)
  checkTemplate(type, 'source', readSourcePath, source)
  checkFormats(type, definition)
}

function checkTypeCollapse(type: string, { collapse, throttle, live }: EventTypeDefinition): void {
  if (collapse === undefined) return
  checkCollapse(collapse, `event type ${type}: collapse`)
  if (throttle !== undefined || live !== undefined)
    throw invalidType(type)(
      `a type with collapse has no ${throttle === undefined ? 'live' : 'throttle'}`,
    )
}

const invalidType =
  (type: string) =>
  (problem: string): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `event type ${type}: ${problem}`)

/** A Standard Schema may be a function, as in ArkType. */
const isSchema = (value: unknown): boolean =>
  (isObject(value) || typeof value === 'function') && '~standard' in value

function checkFormats(type: string, { severity, ocsf }: EventTypeDefinition): void {
  const invalid = invalidType(type)
  if (severity !== undefined && !isSeverity(severity))
    throw invalid('severity must be a whole number from 1 to 24')
  checkOptions(ocsf, OCSF, `event type ${type}: ocsf`)
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
