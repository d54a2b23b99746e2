import { AuditLogError } from '../errors.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import { isOwnField, SOURCE } from '../event/own-fields.js'
import { overlap, PERSONAL, type PersonalRule } from '../event/personal.js'
import { type OptionNames, requireOptions } from '../options.js'

const RULE: OptionNames<PersonalRule> = { subject: true, attributes: true }
const SUBJECT: OptionNames<PersonalRule['subject']> = { kind: true, from: true }

/** Attributes that stay readable, because other parts of the log need them. */
const KEPT: ReadonlySet<string> = new Set([
  SOURCE,
  PERSONAL,
  'recording',
  'changes',
  'request_path',
  'outcome',
])

const KIND = /^[a-z]\w{0,63}$/i

const isName = (name: unknown): name is string => typeof name === 'string' && name !== ''

/** Checks the declaration of personal attributes. Throws `INVALID_OPTION`, which begins with `place`. */
export function checkPersonal(rules: readonly PersonalRule[], place: string): void {
  const fault = (message: string): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `${place}: ${message}`)
  if (!Array.isArray(rules)) throw fault('personal must be a list of { subject, attributes }')
  for (const rule of rules as readonly PersonalRule[]) {
    requireOptions(rule, RULE, `${place}: personal`)
    requireOptions(rule.subject, SUBJECT, `${place}: personal: subject`)
    const { subject, attributes } = rule
    if (typeof subject.kind !== 'string' || !KIND.test(subject.kind))
      throw fault('the kind of a subject must be a word such as customer')
    if (!isName(subject.from)) throw fault("from must be the name of an attribute, or '@username'")
    if (!Array.isArray(attributes) || attributes.length === 0 || !attributes.every(isName))
      throw fault('attributes must list the names of personal attributes')
    for (const name of attributes) {
      if (isOwnField(name) || KEPT.has(name))
        throw fault(`${name} cannot be personal: it stays readable`)
      if (overlap(name, subject.from))
        throw fault(
          `${name} cannot be personal: ${subject.from} names the subject and stays readable`,
        )
    }
  }
}

/** Names of attributes whose values are stored readable, by the option that uses them. */
type NamesInUse = Readonly<Record<string, readonly string[]>>

/** Throws `INVALID_OPTION` if a personal attribute is in use. */
function checkUnused(place: string, personal: readonly PersonalRule[], inUse: NamesInUse): void {
  const attributes = personal.flatMap((rule) => rule.attributes)
  for (const [option, names] of Object.entries(inUse))
    for (const name of names) {
      const own = attributes.find((attribute) => overlap(attribute, name))
      if (own === undefined) continue
      const message = `${place}: ${own} is personal, so ${option} cannot use ${name}: it would be stored readable`
      throw new AuditLogError('INVALID_OPTION', message)
    }
}

const liveError = (place: string): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `${place}: a live event has no personal attributes`)

/** Checks the personal attributes of a type. Throws `INVALID_OPTION`. */
export function checkPersonalType(type: string, definition: EventTypeDefinition): void {
  const { personal, live, throttle, collapse, source } = definition
  if (personal === undefined) return
  const place = `event type ${type}`
  checkPersonal(personal, place)
  if (live) throw liveError(place)
  checkUnused(place, personal, {
    'the scope of the throttle': throttle?.scope ?? [],
    'by of collapse': collapse?.by ?? [],
    source: Array.from((source ?? '').matchAll(/\{(\w+)\}/g), ([, name]) => name!),
  })
}

/** The options of a call that use attributes. */
export interface CallNames {
  readonly isLive: boolean
  readonly throttle: readonly string[]
  readonly collapse: readonly string[]
}

/** Checks a call that records a type with personal attributes. Throws `INVALID_OPTION`. */
export function checkCallNames(
  type: string,
  personal: readonly PersonalRule[],
  { isLive, throttle, collapse }: CallNames,
): void {
  if (isLive) throw liveError(type)
  checkUnused(type, personal, { 'the scope of the throttle': throttle, 'by of collapse': collapse })
}
