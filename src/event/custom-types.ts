/** Definition of a type of custom events. */
export interface CustomTypeDefinition {
  /** The log that the events come from, shown before the sentence instead of `custom`. */
  readonly label?: string
  readonly description?: string
  /** The template of the sentence, in English. See `describeEvent`. */
  readonly sentence?: string
  /** Templates in other languages, by their codes: `{ de: 'las **{name}**' }`. */
  readonly sentences?: Readonly<Record<string, string>>
}

/**
 * Definitions by type. A key that ends with `:*` is for all types with this beginning, such as `aws:ec2:*`; the
 * longest beginning counts, and a key without `*` before all others.
 */
export type CustomTypes = Readonly<Record<string, CustomTypeDefinition>>

/** The definition for events of the type. */
export function customTypeOf(types: CustomTypes, type: string): CustomTypeDefinition | undefined {
  if (Object.hasOwn(types, type)) return types[type]
  for (let end = type.lastIndexOf(':'); end > 0; end = type.lastIndexOf(':', end - 1)) {
    const key = `${type.slice(0, end)}:*`
    if (Object.hasOwn(types, key)) return types[key]
  }
  return undefined
}
