import { AuditLogError } from '../errors.js'
import type { EventDraft, JsonObject, JsonValue } from '../event/event.js'
import { isObject } from '../event/concealed.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import { PERSONAL, type PersonalRule, sealedParts } from '../event/personal.js'
import { pathWalk } from '../filter/attributes.js'
import type { WaitOptions } from '../store/store.js'
import { sealValues } from './cipher.js'
import type { PrivacyOptions } from './options.js'
import { type CallNames, checkCallNames, checkPersonal } from './declarations.js'
import { type PlacedValue, separator } from './separate.js'
import type { Subject, SubjectKey } from './subject-keys.js'

/** The parts of an event that are sealed, and those of its type that decide about it. */
export type Sealable = Pick<EventDraft, 'suffix' | 'type' | 'system' | 'username' | 'attributes'>

interface Part {
  readonly subject: Subject
  readonly values: readonly PlacedValue[]
}

/** An event whose personal values are separated and wait for their keys. */
export interface SealingPlan {
  readonly event: Sealable
  readonly rest: JsonObject
  readonly parts: readonly Part[]
}

/** Separates and encrypts the personal values of events. */
export interface Sealing {
  /** The plan; `undefined` for an event without personal values. Throws `INVALID_DATA`, and what `custom` of the host throws. */
  plan(event: Sealable): SealingPlan | undefined
  /** Throws `INVALID_OPTION` for a live event of the type, and for options of a call that would store personal values readable. */
  checkCall(type: string, call: CallNames): void
  /** The sealed attributes, if the keys of all subjects are in memory. */
  now(plan: SealingPlan): JsonObject | undefined
  /** The sealed attributes of each plan, with one look-up for all keys. Rejects with `KEYS_UNAVAILABLE`. */
  all(plans: readonly SealingPlan[], options?: SealOptions): Promise<readonly JsonObject[]>
  /** A text that is equal for equal data, and that nobody can compute without the keys. Rejects with `KEYS_UNAVAILABLE`. */
  fingerprint(text: string, options?: WaitOptions): Promise<string>
}

export interface SealOptions extends WaitOptions {
  /** The same event becomes the same ciphertext. */
  readonly isRepeatable?: boolean
}

const USERNAME = '@username'

/** The value that identifies the subject: one text or number. */
function idOf(from: string): (event: Sealable) => string | undefined {
  if (from === USERNAME) return ({ username }) => username ?? undefined
  const found = new Set<string>()
  const walk = pathWalk(from, (value: JsonValue) => {
    if (typeof value === 'string' || typeof value === 'number') found.add(String(value))
    return false
  })
  return ({ attributes }) => {
    found.clear()
    walk(attributes)
    const [id] = found
    return found.size === 1 && id !== '' ? id : undefined
  }
}

/** How the parts of a type are separated. */
type Separation = (event: Sealable) => Omit<SealingPlan, 'event'>

/** The subjects of the same kind and id share a part. */
function readRules(rules: readonly PersonalRule[]): Separation {
  const steps = rules.map(({ subject: { kind, from }, attributes }) => {
    const id = idOf(from)
    const separate = separator(attributes)
    return { subject: (event: Sealable): Subject => ({ kind, id: id(event) }), separate }
  })
  return (event) => {
    let rest = event.attributes
    const parts: Part[] = []
    for (const { subject, separate } of steps) {
      const separated = separate(rest)
      if (separated.values.length === 0) continue
      rest = separated.rest
      parts.push({ subject: subject(event), values: separated.values })
    }
    return { rest, parts }
  }
}

/** Notes the kinds of subjects that the data does not name in the attribute `recording`. */
function withUnknown(attributes: JsonObject, parts: readonly Part[]): JsonObject {
  const kinds = parts.filter(({ subject }) => subject.id === undefined)
  const { recording = {} } = attributes
  if (kinds.length === 0 || !isObject(recording)) return attributes
  const unknown = [...new Set(kinds.map(({ subject }) => subject.kind))]
  return { ...attributes, recording: { ...recording, unknown_subjects: unknown } }
}

function sealedAttributes(
  { event, rest, parts }: SealingPlan,
  keys: readonly SubjectKey[],
  isRepeatable = false,
): JsonObject {
  const sealed = parts.map(({ values }, i) => {
    const { ref, key } = keys[i]!
    return { subject: ref, data: sealValues(key, event, values, isRepeatable) }
  })
  const earlier = (sealedParts(rest) ?? []).map((part) => ({ ...part }))
  return { ...withUnknown(rest, parts), [PERSONAL]: [...earlier, ...sealed] }
}

const takenError = (type: string): AuditLogError =>
  new AuditLogError(
    'INVALID_DATA',
    `${type}: the data has an attribute ${PERSONAL}, which holds the encrypted values of this type`,
    { pointer: `/${PERSONAL}` },
  )

export function createSealing(
  { keys, custom }: PrivacyOptions,
  definitions: ReadonlyMap<string, EventTypeDefinition>,
): Sealing {
  const known = new Map<string, Separation>()
  for (const [type, { personal }] of definitions)
    if (personal && personal.length > 0) known.set(type, readRules(personal))
  const separationOf = ({ type, system, attributes }: Sealable): Separation | undefined => {
    if (system) return known.get(type)
    const rules = custom?.(type, attributes)
    if (rules === undefined || rules === null) return undefined
    checkPersonal(rules, `privacy.custom of ${type}`)
    return rules.length > 0 ? readRules(rules) : undefined
  }
  return {
    plan(event) {
      const separated = separationOf(event)?.(event)
      if (!separated || separated.parts.length === 0) return undefined
      const { attributes } = event
      if (Object.hasOwn(attributes, PERSONAL) && !sealedParts(attributes))
        throw takenError(event.type)
      return { event, ...separated }
    },
    checkCall(type, call) {
      const personal = definitions.get(type)?.personal
      if (personal && personal.length > 0) checkCallNames(type, personal, call)
    },
    now(plan) {
      const found: SubjectKey[] = []
      for (const { subject } of plan.parts) {
        const key = keys.cached(subject)
        if (!key) return undefined
        found.push(key)
      }
      return sealedAttributes(plan, found)
    },
    async all(plans, { isRepeatable, ...options } = {}) {
      const subjects = plans.flatMap(({ parts }) => parts.map(({ subject }) => subject))
      const found = await keys.obtain(subjects, options)
      let next = 0
      return plans.map((plan) => {
        const own = found.slice(next, (next += plan.parts.length))
        return sealedAttributes(plan, own, isRepeatable)
      })
    },
    fingerprint: (text, options) => keys.fingerprint(text, options),
  }
}
