import type { AuditEvent } from '../../../src/event/event.js'
import type { EventTypes } from '../../../src/event/event-types.js'
import { attributeText } from '../../../src/filter/attribute-text.js'
import type { Checkup } from '../../../src/store/checkup.js'
import type { LogConfig } from '../log/log.js'

/* Types with personal attributes. The ids of persons stay readable when a person is erased, so they must not name anybody. */

const MAX_NAMES = 3
const USERNAME = '@username'
const EMAIL = /[^\s@]@[^\s@]+\.[^\s@]/
/** Two words or more, of letters only. */
const NAME = /^\p{L}[\p{L}\p{M}'’.-]*(?:,? \p{L}[\p{L}\p{M}'’.-]*)+$/u

const namesSomebody = (id: string): boolean => EMAIL.test(id) || NAME.test(id)

/** Events of the types with personal attributes, by the attribute that has the id of the person. */
function eventsByAttribute(
  types: EventTypes,
  events: readonly AuditEvent[],
): ReadonlyMap<string, readonly AuditEvent[]> {
  const found = new Map<string, AuditEvent[]>()
  for (const event of events) {
    const { personal = [] } = (Object.hasOwn(types, event.type) && types[event.type]) || {}
    for (const from of new Set(personal.map(({ subject }) => subject.from)))
      found.set(from, [...(found.get(from) ?? []), event])
  }
  return found
}

function readableIds(types: EventTypes, events: readonly AuditEvent[]): Checkup[] {
  const checkups: Checkup[] = []
  for (const [from, some] of eventsByAttribute(types, events)) {
    const text = attributeText(from === USERNAME ? 'username' : from)
    const naming = some.filter((event) => namesSomebody(text(event) ?? ''))
    if (naming.length === 0) continue
    checkups.push({
      name: 'privacy',
      status: 'warn',
      found: `${from} looks like a name or an e-mail address in ${naming.length} of ${some.length} events, such as ${naming.at(-1)!.id}; it stays readable when the person is erased`,
      remedy: 'use an id that says nothing about the person, such as a UUID or a number',
    })
  }
  return checkups.slice(0, MAX_NAMES)
}

/** Checkups of the types of `--config` that declare personal attributes. */
export function personalTypes(
  { types = {}, privacy }: LogConfig,
  events: readonly AuditEvent[],
): Checkup[] {
  const declared = Object.keys(types).filter((type) => (types[type]!.personal ?? []).length > 0)
  if (declared.length === 0) return []
  const checkups = readableIds(types, events)
  if (privacy) return checkups
  const more = declared.length > 1 ? ` and ${declared.length - 1} more` : ''
  return [
    {
      name: 'privacy',
      status: 'warn',
      found: `personal attributes of ${declared[0]!}${more} are stored readable: there is no privacy in --config`,
      remedy: 'give the log the option privacy, with the keys of persons',
    },
    ...checkups,
  ]
}
