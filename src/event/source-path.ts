import { AuditLogError } from '../errors.js'
import { isUuid } from './uuid.js'
import type { JsonObject, JsonValue } from './event.js'

/** The pattern of any code but `.` and `..`, which have a meaning of their own in paths. */
export const CODE = '(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.-]+'
const WHOLE_CODE = new RegExp(`^${CODE}$`)
/** True if the text can be a segment of a source path. */
export const isCode = (text: string): boolean => WHOLE_CODE.test(text)

/** The source path of an event with these attributes, or null if it lacks one of them. */
export type SourcePath = (attributes: JsonObject) => string | null

const PLACE = /^\{([^{}/]+)\}$/

/** UUIDs are written in lower case, as in the paths of links. */
function segmentOf(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || !isCode(value)) return undefined
  const lower = value.toLowerCase()
  return isUuid(lower) ? lower : value
}

/**
 * Reads a template such as `/api/workflows/{workflow_id}`: each segment is a code, or the name of an
 * attribute that has one. Throws `INVALID_OPTION`.
 */
export function readSourcePath(template: string): SourcePath {
  const fault = (): AuditLogError =>
    new AuditLogError(
      'INVALID_OPTION',
      'the source must be a path such as /api/orders/{order_id}, with the name of at least one attribute',
    )
  if (typeof template !== 'string' || !template.startsWith('/')) throw fault()
  const parts = template
    .slice(1)
    .split('/')
    .map((text) => ({ text, attribute: PLACE.exec(text)?.[1] }))
  if (parts.some(({ text, attribute }) => attribute === undefined && !isCode(text))) throw fault()
  if (parts.every(({ attribute }) => attribute === undefined)) throw fault()
  return (attributes) => {
    const segments = parts.map(({ text, attribute }) =>
      attribute === undefined ? text : segmentOf(attributes[attribute]),
    )
    return segments.includes(undefined) ? null : `/${segments.join('/')}`
  }
}
