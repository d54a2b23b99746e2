import { inspect } from 'node:util'
import { readTemplate } from './describing/template.js'
import { AuditLogError } from './errors.js'
import type { CustomTypeDefinition, CustomTypes } from './event/custom-types.js'
import { eventTypeFault } from './event/event-types.js'
import { checkOptions, type OptionNames } from './options.js'

const MAX_LABEL_LENGTH = 40

function labelFault(label: unknown): string | undefined {
  const isText = typeof label === 'string' && label.trim() !== ''
  if (label === undefined || (isText && label.length <= MAX_LABEL_LENGTH)) return undefined
  return `label must be a text of 1 to ${MAX_LABEL_LENGTH} characters`
}

function templateFault(name: string, template: unknown): string | undefined {
  if (template === undefined) return undefined
  try {
    readTemplate(template as string)
    return undefined
  } catch (error) {
    return `${name}: ${(error as Error).message}`
  }
}

const DEFINITION: OptionNames<CustomTypeDefinition> = {
  label: true,
  description: true,
  sentence: true,
  sentences: true,
}

function faultOf(type: string, definition: CustomTypeDefinition): string | undefined {
  const { label, sentence, sentences = {} } = definition
  const stray = type.slice(0, -1).includes('*') || (type.endsWith('*') && !type.endsWith(':*'))
  const faults = [
    eventTypeFault(type),
    stray ? 'may have a * only at its end, after a colon' : undefined,
    labelFault(label),
    templateFault('sentence', sentence),
    ...Object.entries(sentences).map(([tag, text]) => templateFault(`sentences.${tag}`, text)),
  ]
  return faults.find((fault) => fault !== undefined)
}

/** The option `customTypes` of an `AuditLog`. Throws `INVALID_OPTION`, which names the wrong entry. */
export function readCustomTypes(types: CustomTypes = {}): CustomTypes {
  if (types === null || typeof types !== 'object' || Array.isArray(types))
    throw new AuditLogError(
      'INVALID_OPTION',
      `customTypes must be an object; it is ${inspect(types)}`,
    )
  for (const [type, definition] of Object.entries(types)) {
    checkOptions(definition, DEFINITION, `customTypes: ${JSON.stringify(type)}`)
    const fault = faultOf(type, definition)
    if (fault !== undefined)
      throw new AuditLogError('INVALID_OPTION', `customTypes: ${JSON.stringify(type)} ${fault}`)
  }
  return types
}
