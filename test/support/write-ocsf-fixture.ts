import fs from 'node:fs'
import path from 'node:path'
import type { OcsfFixture, OcsfFixtureAttribute, OcsfFixtureDefinition } from './ocsf-schema.js'

/*
 * Extracts the parts of the OCSF schema that the tests need, without its texts: `npx tsx
 * test/support/write-ocsf-fixture.ts <checkout of github.com/ocsf/ocsf-schema at a tag>`.
 */
const [, , checkout] = process.argv
if (checkout === undefined) throw new Error('which folder has the checkout of ocsf-schema?')

const CLASSES = new Set([
  ...['base_event', 'event_log_actvity', 'authentication', 'entity_management', 'email_activity'],
  ...['application_lifecycle', 'api_activity', 'datastore_activity', 'application_error'],
  ...['account_change', 'authorize_session', 'user_access'],
])
const OBJECTS = new Set([
  ...['metadata', 'product', 'actor', 'user', 'session', 'network_endpoint', 'http_request'],
  ...['http_response', 'url', 'api', 'request', 'response', 'resource_details', 'managed_entity'],
  ...['policy', 'databucket', 'email', 'trace', 'service', 'group'],
])
const PROFILES = ['host', 'trace']

interface Attribute {
  readonly requirement?: string
  readonly profile?: string | null
  readonly enum?: Readonly<Record<string, unknown>>
  readonly '@deprecated'?: unknown
}

interface Definition {
  readonly name: string
  readonly extends?: string
  readonly uid?: number
  readonly category?: string
  readonly constraints?: { readonly at_least_one?: readonly string[] }
  /** Attributes. The member `$include` names files of profiles. */
  readonly attributes?: Readonly<Record<string, Attribute>>
}

interface DictionaryEntry {
  readonly type: string
  readonly is_array?: boolean
  readonly enum?: Readonly<Record<string, unknown>>
}

interface DataType {
  readonly type?: string
  readonly regex?: string
  readonly max_len?: number
}

const read = (file: string): unknown =>
  JSON.parse(fs.readFileSync(path.join(checkout, file), 'utf8'))

function definitionsIn(folder: string): ReadonlyMap<string, Definition> {
  const files = fs.readdirSync(path.join(checkout!, folder), { recursive: true, encoding: 'utf8' })
  const found = files
    .filter((file) => file.endsWith('.json'))
    .map((file) => read(path.join(folder, file)) as Definition)
  return new Map(found.map((definition) => [definition.name, definition]))
}

const { attributes: dictionary, types } = read('dictionary.json') as {
  attributes: Record<string, DictionaryEntry>
  types: { attributes: Record<string, DataType> }
}
const { attributes: categories } = read('categories.json') as {
  attributes: Record<string, { uid: number }>
}
const { version } = read('version.json') as { version: string }
const events = definitionsIn('events')
const objects = definitionsIn('objects')

const withParents = (
  names: Iterable<string>,
  all: ReadonlyMap<string, Definition>,
): ReadonlySet<string> => {
  const reached = new Set(names)
  for (const name of reached) {
    const parent = all.get(name)?.extends
    if (parent !== undefined) reached.add(parent)
  }
  return reached
}
const keptObjects = withParents(OBJECTS, objects)
const keptClasses = withParents(CLASSES, events)

const numbers = (values: Readonly<Record<string, unknown>> | undefined): string[] | undefined =>
  values && Object.keys(values)

/** Attributes that a definition requires. Another definition may no longer require them. */
const required = new Set(
  [...keptClasses, ...keptObjects].flatMap((name) =>
    Object.entries((events.get(name) ?? objects.get(name))?.attributes ?? {}).flatMap(
      ([attribute, { requirement }]) => (requirement === 'required' ? [attribute] : []),
    ),
  ),
)

/** Optional objects that the tests never see are left out. */
const isKept = (name: string): boolean => {
  const type = dictionary[name]?.type ?? ''
  return required.has(name) || type in types.attributes || keptObjects.has(type)
}

function cutAttribute(attribute: Attribute, profile?: string): OcsfFixtureAttribute {
  const ofProfile = attribute.profile === null ? undefined : (attribute.profile ?? profile)
  return {
    ...(attribute.requirement !== undefined && {
      required: attribute.requirement === 'required',
    }),
    ...(attribute.profile === null && { profile: null }),
    ...(ofProfile !== undefined && { profile: ofProfile }),
    ...(attribute.enum && { enum: numbers(attribute.enum)! }),
    ...(attribute['@deprecated'] !== undefined && { deprecated: true }),
  }
}

const cutAttributes = (
  attributes: NonNullable<Definition['attributes']>,
  profile?: string,
): [string, OcsfFixtureAttribute][] =>
  Object.entries(attributes)
    .filter(([name]) => name !== '$include' && isKept(name))
    .map(([name, attribute]) => [name, cutAttribute(attribute, profile)])

function cutDefinition(definition: Definition): OcsfFixtureDefinition {
  const { attributes = {}, constraints, category, uid } = definition
  const files = (attributes['$include'] ?? []) as readonly string[]
  const included = PROFILES.filter((name) => files.includes(`profiles/${name}.json`)).flatMap(
    (name) => cutAttributes((read(`profiles/${name}.json`) as Definition).attributes!, name),
  )
  return {
    ...(uid !== undefined && { uid }),
    ...(category !== undefined && { category: categories[category]?.uid ?? 0 }),
    ...(definition.extends !== undefined && { extends: definition.extends }),
    ...(constraints?.at_least_one && { atLeastOne: constraints.at_least_one }),
    attributes: Object.fromEntries([...included, ...cutAttributes(attributes)]),
  }
}

const cut = (
  names: ReadonlySet<string>,
  all: ReadonlyMap<string, Definition>,
): Record<string, OcsfFixtureDefinition> =>
  Object.fromEntries([...names].toSorted().map((name) => [name, cutDefinition(all.get(name)!)]))

/** The activities of every class by its uid. */
function activities(): Record<string, number[]> {
  const chain = (name: string | undefined): Definition[] => {
    const one = name === undefined ? undefined : events.get(name)
    return one ? [...chain(one.extends), one] : []
  }
  const found = [...events.values()].flatMap(({ name, uid }): [number, number[]][] => {
    if (uid === undefined && name !== 'base_event') return []
    const line = chain(name)
    const category = categories[line.findLast((one) => one.category)?.category ?? '']?.uid ?? 0
    const ids = line.flatMap(({ attributes }) =>
      Object.keys(attributes?.['activity_id']?.enum ?? {}),
    )
    return [[category * 1000 + (uid ?? 0), [...new Set(ids.map(Number))].toSorted((a, b) => a - b)]]
  })
  return Object.fromEntries(found)
}

const classes = cut(keptClasses, events)
const cutObjects = cut(keptObjects, objects)
const usedNames = new Set(
  [...Object.values(classes), ...Object.values(cutObjects)].flatMap((one) =>
    Object.keys(one.attributes),
  ),
)
const fixture: OcsfFixture = {
  source: `https://github.com/ocsf/ocsf-schema, version ${version}, Apache License 2.0; reduced`,
  activities: activities(),
  types: Object.fromEntries(
    Object.entries(types.attributes).map(([name, { type, regex, max_len }]) => [
      name,
      {
        ...(type !== undefined && { base: type }),
        ...(regex !== undefined && { regex }),
        ...(max_len !== undefined && { maxLength: max_len }),
      },
    ]),
  ),
  dictionary: Object.fromEntries(
    [...usedNames].toSorted().map((name) => {
      const { type, is_array, enum: values } = dictionary[name]!
      return [
        name,
        { type, ...(is_array && { list: true }), ...(values && { enum: numbers(values)! }) },
      ]
    }),
  ),
  classes,
  objects: cutObjects,
}

// One line for each attribute.
const text = JSON.stringify(fixture, null, 1).replaceAll(
  /([{[])\n\s+([^{}[\]]*?)\s*\n\s*([}\]])/g,
  (_, open: string, inner: string, close: string) =>
    open + inner.replaceAll(/\s*\n\s*/g, ' ') + close,
)
fs.writeFileSync(new URL('../fixtures/ocsf-1.8.0.json', import.meta.url), `${text}\n`)
