import type { Documents } from './documents/documents.js'
import type { Scalar, Values } from './model.js'
import type { Service } from './service.js'
import { currentValues } from './values.js'

/** Settings that environment variables of the deployment override. */
export type Overrides = Readonly<Record<string, Scalar>>

/** Reads settings as they are now. Throws if a value has the wrong type. */
export interface Settings {
  readonly overrides: Overrides
  /** Undefined or empty: the setting is off. */
  text(name: string): string
  number(name: string, fallback: number): number
  flag(name: string): boolean
  /** The stored settings with their overrides. */
  all(): Values
}

export function createSettings(documents: Documents, overrides: Overrides): Settings {
  const all = (): Values => {
    const stored = currentValues(documents, 'settings')
    return { ...stored, values: { ...stored.values, ...overrides } }
  }
  const read = (name: string): Scalar | undefined => all().values[name]

  return {
    overrides,
    all,
    text: (name) => String(read(name) ?? ''),
    number(name, fallback) {
      const value = read(name) ?? fallback
      if (typeof value !== 'number')
        throw new TypeError(`the setting ${name} must be a number; it is ${JSON.stringify(value)}`)
      return value
    },
    flag: (name) => read(name) === true,
  }
}

/** Records which stored settings the deployment overrides. Called once at the start. */
export async function noteOverrides({ note, settings }: Pick<Service, 'note' | 'settings'>) {
  const { id } = settings.all()
  for (const name of Object.keys(settings.overrides)) {
    const variable = `WORKFLOW_OVERRIDE_${name.toUpperCase()}`
    await note('warn:settings:override', { name, variable, settings_id: id })
  }
}
