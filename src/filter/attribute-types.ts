import { AuditLogError } from '../errors.js'
import type { AttributeType, Declaration } from './attributes.js'

/**
 * The types of a list's attributes by name. `id` is a `string` unless it is declared. An attribute of the
 * type `object` holds nested data: queries reach its members as they reach the attributes of events, by
 * names joined with `_`. Any other name may be such a path itself, to give the value there a type.
 */
export type AttributeTypes = Readonly<Record<string, AttributeType | 'object'>>

const TYPES: ReadonlySet<string> = new Set<AttributeType>([
  'string',
  'uuid',
  'number',
  'boolean',
  'timestamp',
])

/** Throws `INVALID_OPTION` for an unknown type. */
export function declare(types: AttributeTypes): Declaration {
  const scalars = new Map<string, AttributeType>([['id', 'string']])
  const objects = new Set<string>()
  for (const [name, type] of Object.entries(types)) {
    if (type === 'object' && name !== 'id') objects.add(name)
    else if (TYPES.has(type)) scalars.set(name, type as AttributeType)
    else {
      const known = [...TYPES, ...(name === 'id' ? [] : ['object'])]
      throw new AuditLogError(
        'INVALID_OPTION',
        `the attribute ${name} has the type ${type}; the types are ${known.join(', ')}`,
      )
    }
  }
  return { types: scalars, isOpen: false, objects }
}
