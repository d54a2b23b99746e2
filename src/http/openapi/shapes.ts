/*
 * Building blocks of OpenAPI 3.1, "Schema Object" (JSON Schema 2020-12). The last argument of each is the description. A question
 * mark at the end of a name marks a member that may be missing.
 */

/** Schemas by name; `false` allows no value. */
type Members = Readonly<Record<string, object | false>>

/** The schema of an object that has no other members. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Members
  readonly required: readonly string[]
  readonly additionalProperties: false
}

/** The schema with a description, if there is one. */
export const described = <Schema extends object>(schema: Schema, description?: string): Schema =>
  description === undefined ? schema : { ...schema, description }

const scalar =
  (schema: object) =>
  (description?: string): object =>
    described(schema, description)

export const text = scalar({ type: 'string' })
export const textOrNull = scalar({ type: ['string', 'null'] })
export const flag = scalar({ type: 'boolean' })
export const count = scalar({ type: 'integer', minimum: 0 })
export const number = scalar({ type: 'number' })
export const id = scalar({ type: 'string', format: 'uuid' })
export const time = scalar({ type: 'string', format: 'date-time' })
export const timeOrNull = scalar({ type: ['string', 'null'], format: 'date-time' })

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const

export const one = (value: unknown) => ({ const: value })

/** A JSON value that is no object and no list. */
export const value = { type: ['string', 'number', 'boolean'] } as const

export const path = text('A path with an optional query string.')

export const list = (items: object, description?: string): object =>
  described({ type: 'array', items }, description)

export const orNull = (schema: object, description?: string): object =>
  described({ anyOf: [{ type: 'null' }, schema] }, description)

/** An object whose other members are ignored. */
export function open(members: Members, description?: string) {
  const entries = Object.entries(members).map(([name, schema]) => [name.replace(/\?$/, ''), schema])
  const required = Object.keys(members).filter((name) => !name.endsWith('?'))
  const properties = Object.fromEntries(entries) as Members
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }) } as const
  return described(schema, description)
}

/** An object with any other members. */
export const extensible = (members: Members, description?: string) =>
  ({ ...open(members, description), additionalProperties: true }) as const

/** An object without other members. */
export const object = (members: Members, description?: string): ObjectSchema => ({
  required: [],
  ...open(members, description),
  additionalProperties: false,
})

/** An object with the members of both. */
export const joined = (first: ObjectSchema, second: ObjectSchema): ObjectSchema => ({
  ...first,
  properties: { ...first.properties, ...second.properties },
  required: [...first.required, ...second.required],
})

/** An object with members of these names, which all have the same schema. */
export const each = (names: readonly string[], schema: object | false): Members =>
  Object.fromEntries(names.map((name) => [name, schema]))

/** Links, of which only the one to the document itself has to be there. */
const linksTo =
  (schema: object) =>
  (...others: readonly string[]): ObjectSchema =>
    object({
      self: schema,
      ...each(
        others.map((name) => `${name}?`),
        schema,
      ),
    })

export const links = linksTo(path)

/** Links of lists and counts, whose query may be in a body: each is a path, or what has to be posted. */
export const queryLinks = linksTo({
  anyOf: [
    path,
    object({
      href: path,
      meta: object({ method: one('POST'), body: text('The form to post.') }),
    }),
  ],
})

/** JSON:API 1.1, "Top Level". */
export const document = (first: Members, itsLinks = links(), others: Members = {}): ObjectSchema =>
  object({ jsonapi: ref('JsonApi'), ...first, links: itsLinks, ...others })

/** JSON:API 1.1, "Resource Objects". */
export const resource = (type: string, members: Members): ObjectSchema =>
  object({ type: one(type), ...members })

/** The authenticated user, with a flag for each action. */
export const user = (actions: readonly string[], others: Members = {}): ObjectSchema =>
  resource('user', {
    id: text('The name of the user.'),
    attributes: object({ may: object(each(actions, flag())), ...others }),
  })
