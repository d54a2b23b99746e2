import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { PERSONAL } from '../../../src/event/personal.js'

/** A note in place of the encrypted values of a person. Without `sealed` and `erased`, the values are at their places. */
export interface PersonalNote {
  /** The ref of the person's key. */
  readonly subject: string
  readonly sealed?: true
  /** Time at which the key was destroyed. */
  readonly erased?: string
}

const REF = /^[\w-]{22}$/

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))

function isNote(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { subject, sealed, erased, ...others } = value
  return (
    typeof subject === 'string' &&
    REF.test(subject) &&
    (sealed === undefined || sealed === true) &&
    (erased === undefined || isTime(erased)) &&
    Object.keys(others).length === 0
  )
}

/** The notes of an event. An attribute `personal` of another shape is data of the host, and gives none. */
export function personalNotes({ attributes }: Pick<AuditEvent, 'attributes'>): PersonalNote[] {
  const notes = Object.hasOwn(attributes, PERSONAL) ? attributes[PERSONAL] : undefined
  return Array.isArray(notes) && notes.every(isNote) ? (notes as unknown as PersonalNote[]) : []
}

/** The notes of values that are not in the event. */
export const hiddenNotes = (event: Pick<AuditEvent, 'attributes'>): readonly PersonalNote[] =>
  personalNotes(event).filter(({ sealed, erased }) => sealed || erased !== undefined)
