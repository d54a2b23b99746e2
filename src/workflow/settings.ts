import { AuditLogError } from '../errors.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import { workflowEventTypes } from './event-types.js'
import { requireOptions } from '../options.js'

type WorkflowEventTypes = typeof workflowEventTypes

/** A setting of the host on which some types of the catalogue depend. */
export type WorkflowSetting = {
  [Type in keyof WorkflowEventTypes]: WorkflowEventTypes[Type] extends {
    readonly onlyWhile: infer Setting
  }
    ? Setting
    : never
}[keyof WorkflowEventTypes]

/**
 * The settings by name, each a value or a function that is called for every event; or one function that gets the
 * name. A missing setting is on.
 */
export type WorkflowSettings =
  | { readonly [Setting in WorkflowSetting]?: boolean | (() => boolean) }
  | ((setting: WorkflowSetting) => boolean)

const definitions = Object.entries<EventTypeDefinition>(workflowEventTypes)

const names = Object.fromEntries(
  definitions.flatMap(([, { onlyWhile }]) =>
    onlyWhile === undefined ? [] : [[onlyWhile, true as const]],
  ),
)

function fault(message: string): AuditLogError {
  return new AuditLogError('INVALID_OPTION', `workflowEventTypesFor: ${message}`)
}

/** Checks the settings, and returns a function that reads one. */
function readerOf(settings: WorkflowSettings): (setting: WorkflowSetting) => boolean {
  if (typeof settings === 'function') return settings
  requireOptions(settings, names, 'workflowEventTypesFor')
  for (const [name, value] of Object.entries(settings))
    if (value !== undefined && typeof value !== 'boolean' && typeof value !== 'function')
      throw fault(`${name} must be a boolean, or a function that returns one`)
  return (setting) => {
    const value = settings[setting] ?? true
    return typeof value === 'function' ? value() : value
  }
}

/**
 * `workflowEventTypes` with the settings of the host: while the setting of a type is false, its events are
 * not recorded. The settings are read for each event, so a change has effect at once. Throws
 * `INVALID_OPTION` for unknown settings.
 */
export function workflowEventTypesFor(settings: WorkflowSettings): WorkflowEventTypes {
  const isOn = readerOf(settings)
  const types = definitions.map(([type, definition]) => {
    const setting = definition.onlyWhile as WorkflowSetting | undefined
    return [type, setting ? { ...definition, enabled: () => isOn(setting) } : definition]
  })
  return Object.fromEntries(types) as WorkflowEventTypes
}
