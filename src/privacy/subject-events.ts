import { concealedNames } from '../event/concealed.js'
import type { EventTypes } from '../event/event-types.js'
import { bothOf, type Grouping, oneCondition } from '../filter/ast.js'
import type { KnownSubject } from './subject-option.js'

/* Filters of the events about a person. */

/** Events with data that is sealed for this ref. */
export const sealedFor = (ref: string): Grouping => oneCondition('personal_subject', 'eq', [ref])

/** Event types that name a person in the same attribute, and their personal attributes. */
interface NamingTypes {
  readonly types: string[]
  readonly from: string
  readonly attributes: readonly string[]
}

/** The types whose declarations name persons of this kind. Types with equal declarations are one row. */
function namingTypes(types: EventTypes, kind: string): readonly NamingTypes[] {
  const rows = new Map<string, NamingTypes>()
  for (const [type, { personal = [] }] of Object.entries(types))
    for (const { subject, attributes } of personal) {
      if (subject.kind !== kind) continue
      const from = subject.from === '@username' ? 'username' : subject.from
      const key = JSON.stringify([from, attributes])
      const row = rows.get(key) ?? { types: [], from, attributes }
      row.types.push(type)
      rows.set(key, row)
    }
  return [...rows.values()]
}

function anyOf(groupings: readonly Grouping[]): Grouping | undefined {
  return groupings.length === 0 ? undefined : { combinator: 'or', conditions: [], groupings }
}

const namedIn = ({ types, from }: NamingTypes, id: string): Grouping =>
  bothOf(oneCondition('type', 'in', types), oneCondition(from, 'eq', [id]))!

/** Events of the declared types that name the person; `undefined` if no type declares the kind. */
export const namingEvents = (types: EventTypes, { kind, id }: KnownSubject): Grouping | undefined =>
  anyOf(namingTypes(types, kind).map((row) => namedIn(row, id)))

const MAX_WORDS = 5

/** The JSON Pointers that a name may stand for: `/a_b` and `/a/b` for `a_b`. Of a long name, only the first and the last. */
function pointersOf(name: string): readonly string[] {
  const [first, ...words] = name.split('_')
  if (words.length >= MAX_WORDS) return [`/${name}`, `/${name.replaceAll('_', '/')}`]
  return words.reduce<readonly string[]>(
    (pointers, word) => pointers.flatMap((one) => [`${one}_${word}`, `${one}/${word}`]),
    [`/${first}`],
  )
}

/** Events with a change at one of these pointers and without an encrypted part. Encrypted changes keep their pointers. */
const clearChanges = (pointers: readonly string[]): Grouping => ({
  combinator: 'and',
  conditions: oneCondition('personal_subject', 'null', []).conditions,
  groupings: [
    {
      combinator: 'or',
      conditions: [
        ...oneCondition('changes_path', 'in', pointers).conditions,
        ...oneCondition(
          'changes_path',
          'start_any',
          pointers.map((one) => `${one}/`),
        ).conditions,
      ],
      groupings: [],
    },
  ],
})

/** As {@link namingEvents}, only events that hold a personal attribute in clear: they were recorded before the declaration. */
export function clearEvents(types: EventTypes, { kind, id }: KnownSubject): Grouping | undefined {
  const inClear = ({ attributes }: NamingTypes): Grouping => ({
    combinator: 'or',
    conditions: [
      {
        attributes: concealedNames(attributes),
        combinator: 'or',
        predicate: 'not_null',
        values: [],
      },
    ],
    groupings: [clearChanges(attributes.flatMap(pointersOf))],
  })
  return anyOf(namingTypes(types, kind).map((row) => bothOf(namedIn(row, id), inClear(row))!))
}
