import fs from 'node:fs'

/*
 * A check of OCSF events against a part of the schema: classes, required attributes, enumerations, constraints,
 * profiles, types and nested objects. Unknown attributes and objects are faults.
 */

export interface OcsfFixtureAttribute {
  readonly required?: boolean
  /** The profile that adds the attribute. Null if the definition itself has the attribute. */
  readonly profile?: string | null
  readonly enum?: readonly string[]
  readonly deprecated?: boolean
}

export interface OcsfFixtureDefinition {
  readonly uid?: number
  readonly category?: number
  readonly extends?: string
  readonly atLeastOne?: readonly string[]
  readonly attributes: Readonly<Record<string, OcsfFixtureAttribute>>
}

export interface OcsfFixture {
  readonly source: string
  readonly activities: Readonly<Record<string, readonly number[]>>
  readonly types: Readonly<Record<string, { base?: string; regex?: string; maxLength?: number }>>
  readonly dictionary: Readonly<
    Record<string, { type: string; list?: boolean; enum?: readonly string[] }>
  >
  readonly classes: Readonly<Record<string, OcsfFixtureDefinition>>
  readonly objects: Readonly<Record<string, OcsfFixtureDefinition>>
}

export const ocsfFixture = JSON.parse(
  fs.readFileSync(new URL('../fixtures/ocsf-1.8.0.json', import.meta.url), 'utf8'),
) as OcsfFixture

type Definitions = Readonly<Record<string, OcsfFixtureDefinition>>

/** The definition and all that it extends, the most general first. */
function lineOf(name: string | undefined, all: Definitions): OcsfFixtureDefinition[] {
  const definition = name === undefined ? undefined : all[name]
  return definition ? [...lineOf(definition.extends, all), definition] : []
}

interface Resolved {
  readonly attributes: Readonly<Record<string, OcsfFixtureAttribute>>
  readonly atLeastOne: readonly string[]
}

function resolve(name: string, all: Definitions): Resolved {
  const line = lineOf(name, all)
  const attributes: Record<string, OcsfFixtureAttribute> = {}
  for (const one of line)
    for (const [key, own] of Object.entries(one.attributes)) {
      const inherited = attributes[key]
      const values = [...(inherited?.enum ?? []), ...(own.enum ?? [])]
      attributes[key] = { ...inherited, ...own, ...(values.length > 0 && { enum: values }) }
    }
  return { attributes, atLeastOne: line.findLast((one) => one.atLeastOne)?.atLeastOne ?? [] }
}

const classesByUid = new Map(
  Object.entries(ocsfFixture.classes).flatMap(([name, { uid }]): [number, string][] => {
    const category = lineOf(name, ocsfFixture.classes).findLast((one) => one.category !== undefined)
    const isClass = uid !== undefined || name === 'base_event'
    return isClass ? [[(category?.category ?? 0) * 1000 + (uid ?? 0), name]] : []
  }),
)

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The faults of the event; empty if it is valid. */
export function ocsfFaults(event: Fields): string[] {
  const { class_uid, category_uid, activity_id, type_uid, metadata } = event
  const name = classesByUid.get(class_uid as number)
  if (name === undefined) return [`class ${String(class_uid)} is not in the fixture`]
  const profiles = ((metadata as Fields | undefined)?.['profiles'] ?? []) as readonly string[]
  const faults = objectFaults(event, resolve(name, ocsfFixture.classes), name, profiles)
  if (category_uid !== Math.floor((class_uid as number) / 1000)) faults.push('category_uid')
  if (type_uid !== (class_uid as number) * 100 + (activity_id as number)) faults.push('type_uid')
  return faults
}

/** The classification differs by class and is checked as a whole. */
const CLASSIFICATION = new Set(['class_uid', 'category_uid', 'type_uid'])
/** Any attributes are allowed. */
const FREE = 'object'

function objectFaults(
  object: Fields,
  { attributes, atLeastOne }: Resolved,
  path: string,
  profiles: readonly string[],
): string[] {
  const faults: string[] = []
  for (const [key, { required, profile }] of Object.entries(attributes))
    if (required && !profile && !(key in object)) faults.push(`${path}.${key} is missing`)
  if (atLeastOne.length > 0 && !atLeastOne.some((key) => key in object))
    faults.push(`${path} has none of ${atLeastOne.join()}`)
  for (const [key, value] of Object.entries(object)) {
    const at = `${path}.${key}`
    const attribute = attributes[key]
    const entry = ocsfFixture.dictionary[key]
    if (!attribute || !entry) faults.push(`${at} is not an attribute`)
    else if (attribute.deprecated) faults.push(`${at} is deprecated`)
    else if (attribute.profile && !profiles.includes(attribute.profile))
      faults.push(`${at} needs the profile ${attribute.profile}`)
    else if (entry.list && !Array.isArray(value)) faults.push(`${at} is not a list`)
    else {
      const values = entry.list ? (value as unknown[]) : [value]
      const known = [...(entry.enum ?? []), ...(attribute.enum ?? [])]
      if (known.length > 0 && !CLASSIFICATION.has(key))
        faults.push(
          ...values
            .filter((one) => !known.includes(String(one)))
            .map((one) => `${at} is ${String(one)}, not one of ${known.join()}`),
        )
      faults.push(...values.flatMap((one) => valueFaults(one, entry.type, at, profiles)))
    }
  }
  return faults
}

function valueFaults(
  value: unknown,
  type: string,
  at: string,
  profiles: readonly string[],
): string[] {
  if (type === FREE) return isObject(value) ? [] : [`${at} is not an object`]
  const dataType = ocsfFixture.types[type]
  if (dataType)
    return isOfType(value, type) ? [] : [`${at} is no ${type}: ${JSON.stringify(value)}`]
  if (!(type in ocsfFixture.objects)) return [`${at}: the fixture lacks the object ${type}`]
  if (!isObject(value)) return [`${at} is not an object`]
  return objectFaults(value, resolve(type, ocsfFixture.objects), at, profiles)
}

function isOfType(value: unknown, type: string): boolean {
  const { base = type, regex, maxLength = Infinity } = ocsfFixture.types[type]!
  switch (base) {
    case 'string_t':
      return (
        typeof value === 'string' &&
        value.length <= maxLength &&
        (regex === undefined || new RegExp(regex).test(value))
      )
    case 'integer_t':
    case 'long_t':
      return Number.isSafeInteger(value)
    case 'boolean_t':
      return typeof value === 'boolean'
    case 'float_t':
      return typeof value === 'number'
    default:
      return base === 'json_t'
  }
}
