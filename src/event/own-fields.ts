/** The event's own fields that queries can name. Attributes cannot have these names. */
export const OWN_FIELDS = ['id', 'type', 'username', 'system', 'created_at'] as const

/**
 * The name by which queries reach an event's source, and also attributes of that name. No index has the
 * sources, so stores find them by scans.
 */
export const SOURCE = 'source'

export type OwnField = (typeof OWN_FIELDS)[number]

const ownFields: ReadonlySet<string> = new Set(OWN_FIELDS)

export function isOwnField(name: string): name is OwnField {
  return ownFields.has(name)
}
