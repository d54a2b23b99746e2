import { AuditLogError } from '../errors.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import { isOwnField, SOURCE } from '../event/own-fields.js'
import { PERSONAL, type PersonalRule } from '../event/personal.js'
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

/** True if the value of one name holds that of the other. */
const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}_`) || other.startsWith(`${one}_`)

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

/** The names that a type uses outside of its attributes, by the member that has them. */
function namesInUse({
  throttle,
  collapse,
  source,
}: EventTypeDefinition): ReadonlyMap<string, readonly string[]> {
  return new Map([
    ['the scope of the throttle', throttle?.scope ?? []],
    ['by of collapse', collapse?.by ?? []],
    ['source', [...(source ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)],
  ])
}

/** Checks the personal attributes of a type. Throws `INVALID_OPTION`. */
export function checkPersonalType(type: string, definition: EventTypeDefinition): void {
  const { personal, live } = definition
  if (personal === undefined) return
  const place = `event type ${type}`
  checkPersonal(personal, place)
  const fault = (message: string): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `${place}: ${message}`)
  if (live) throw fault('a type with live has no personal attributes')
  for (const [member, names] of namesInUse(definition))
    for (const name of names)
      for (const { attributes } of personal) {
        const own = attributes.find((attribute) => overlap(attribute, name))
        if (own !== undefined)
          throw fault(
            `${own} is personal, so ${member} cannot use ${name}: it would be stored readable`,
          )
      }
}
