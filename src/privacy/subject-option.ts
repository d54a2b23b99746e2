import { AuditLogError } from '../errors.js'
import type { EventTypes } from '../event/event-types.js'
import { didYouMean, nearest } from '../event/nearest.js'
import { isPlainObject } from '../options.js'
import type { PrivacyOptions } from './options.js'
import type { Subject } from './subject-keys.js'

/** A person as the one member of an object, named by the kind: `{ customer: 'c17' }`. */
export type SubjectOption = Readonly<Record<string, string | number>>

/** A person whose id is known. */
export interface KnownSubject extends Subject {
  readonly id: string
}

/** The parts of a log that declare persons. */
export interface SubjectKinds {
  readonly types: EventTypes
  readonly privacy: PrivacyOptions | undefined
}

/** The kinds of persons that the types declare. */
export const subjectKinds = (types: EventTypes): ReadonlySet<string> =>
  new Set(
    Object.values(types).flatMap(({ personal = [] }) =>
      personal.map(({ subject }) => subject.kind),
    ),
  )

const EXAMPLE = "such as { customer: 'c17' }"

/**
 * Reads a person. Throws `INVALID_VALUE` for anything but an object with one member, a kind that no type declares, and an id that is
 * neither a number nor a text, or is blank. With the option `custom` of `privacy` all kinds are valid, because it may give any. `where` names the option in messages.
 */
export function readSubject(
  given: unknown,
  { types, privacy }: SubjectKinds,
  where: string,
): KnownSubject {
  const fault = (message: string, suggestion?: string): AuditLogError =>
    new AuditLogError('INVALID_VALUE', `${where} ${message}`, { parameter: where, suggestion })
  if (!isPlainObject(given)) throw fault(`must be an object with one member, ${EXAMPLE}`)
  const members = Object.entries(given)
  if (members.length !== 1)
    throw fault(`must have exactly one member, ${EXAMPLE}; it has ${members.length}`)
  const [kind, id] = members[0] as [string, unknown]
  const kinds = subjectKinds(types)
  if (!kinds.has(kind) && !privacy?.custom) {
    const suggestion = nearest(kind, kinds)
    const known = kinds.size === 0 ? 'none' : [...kinds].toSorted().join(', ')
    const help = suggestion === undefined ? `; they declare ${known}` : didYouMean(suggestion)
    throw fault(`has the kind ${kind}, which no event type declares as personal${help}`, suggestion)
  }
  // The message leaves out the id, because logs of the process may get it.
  const isId =
    typeof id === 'number' ? Number.isFinite(id) : typeof id === 'string' && id.trim() !== ''
  if (!isId) throw fault(`must have the id of the person as a text that is not blank, ${EXAMPLE}`)
  return { kind, id: String(id) }
}
