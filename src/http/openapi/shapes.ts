/** OpenAPI 3.1, "Schema Object" (JSON Schema 2020-12): building blocks of schemas. */

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const

export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const flag = { type: 'boolean' } as const
export const count = { type: 'integer', minimum: 0 } as const
export const path = {
  type: 'string',
  description: 'A path with an optional query string.',
} as const

/** An object without additional properties. */
export const object = <Properties extends object>(
  properties: Properties,
  required: readonly string[],
) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** An object without additional properties, all of whose properties are required. */
export const closedObject = <Properties extends object>(properties: Properties) =>
  object(properties, Object.keys(properties))

export const listOf = (items: object) => ({ type: 'array', items }) as const

export const links = (...names: readonly string[]) =>
  object(Object.fromEntries(names.map((name) => [name, path])), ['self'])

/** A path, or what has to be posted: the links of lists and counts, whose query may be in a body. */
const pathOrPost = {
  anyOf: [
    path,
    closedObject({
      href: path,
      meta: closedObject({
        method: { const: 'POST' },
        body: { ...text, description: 'The form to post.' },
      }),
    }),
  ],
} as const

export const queryLinks = (...names: readonly string[]) =>
  object(Object.fromEntries(names.map((name) => [name, pathOrPost])), ['self'])

/** JSON:API 1.1, "Top Level", with primary data. */
export const document = (data: object, ...linkNames: readonly string[]) =>
  closedObject({ jsonapi: ref('JsonApi'), data, links: links(...linkNames) })
