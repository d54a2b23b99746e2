/** The event's own fields that queries can name. Attributes cannot have these names. */
export const OWN_FIELDS = ['id', 'type', 'username', 'system', 'created_at'] as const

/**
 * The name by which queries reach an event's source, and also attributes of that name. No index has the
 * sources, so stores find them by scans.
 */
export const SOURCE = 'source'

/**
 * The name by which queries reach all texts of an event: its type, username and source, and all texts in its
 * attributes. The id matches only as a whole. No attribute can have this name.
 */
export const ANY_TEXT = '*'

export type OwnField = (typeof OWN_FIELDS)[number]

const ownFields: ReadonlySet<string> = new Set(OWN_FIELDS)

export function isOwnField(name: string): name is OwnField {
  return ownFields.has(name)
}
