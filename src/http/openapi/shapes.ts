/*
 * Builders of OpenAPI 3.1, "Schema Object" (JSON Schema 2020-12). The last argument of most is the description. Members are
 * required, except for those whose name ends in a question mark.
 */

/** Schemas by name; `false` allows no value. */
type Members = Readonly<Record<string, object | false>>

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

/** An object whose other members are not described. */
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
export const object = (members: Members, description?: string): object => ({
  required: [],
  ...open(members, description),
  additionalProperties: false,
})

/** An object without other members, some of which may be missing. */
export const partial = (members: Members, ...required: readonly string[]): object => ({
  ...object(members),
  required,
})

/** Members of these names, which all have the same schema. */
export const each = (names: readonly string[], schema: object | false): Members =>
  Object.fromEntries(names.map((name) => [name, schema]))

/** Links, of which only `self` is required. */
const linksTo =
  (schema: object) =>
  (...others: readonly string[]): object =>
    partial(each(['self', ...others], schema), 'self')

export const links = linksTo(path)

/** Links of lists and counts, whose query may be in a body. Each is a path, or a form to post. */
export const queryLinks = linksTo({
  anyOf: [
    path,
    object({
      href: path,
      meta: object({ method: one('POST'), body: text('The form to post.') }),
    }),
  ],
})

/** JSON:API 1.1, "Top Level": `jsonapi`, the first members, the links and the other members. */
export const document = (first: Members, itsLinks = links(), others: Members = {}): object =>
  object({ jsonapi: ref('JsonApi'), ...first, links: itsLinks, ...others })

/** JSON:API 1.1, "Resource Objects". */
export const resource = (type: string, members: Members): object =>
  object({ type: one(type), ...members })

/** The authenticated user, with a flag for each action. */
export const user = (actions: readonly string[], others: Members = {}): object =>
  resource('user', {
    id: text('The name of the user.'),
    attributes: object({ may: object(each(actions, flag())), ...others }),
  })
