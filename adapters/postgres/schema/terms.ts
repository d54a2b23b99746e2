import type { EventDraft, JsonObject, JsonValue } from '../../../src/event/event.js'
import type { Scalar } from '../../../src/filter/attributes.js'

/*
 * Terms are hashes of what an event has, so that one index serves every name that a query may give:
 * its type, its username, and of each name that leads into its attributes that it is present, and
 * each value. A term that is there proves nothing, as hashes collide; one that is not there proves
 * that the event has not what it stands for, unless the event has OVERFLOW.
 *
 * They are stored: what changes a hash makes stored events unfindable.
 */

/** The one term of an event that has too many. */
const OVERFLOW = 0
const MAX_TERMS = 2000

/** What comes between the characters of a hash, which are below it. */
const Mark = {
  attribute: 0x1_0000,
  type: 0x2_0000,
  username: 0x3_0000,
  present: 0x4_0000,
  text: 0x5_0000,
  number: 0x6_0000,
  true: 0x7_0000,
  false: 0x8_0000,
} as const

// FNV-1a (RFC 9923) over UTF-16 units in place of bytes, each mixed into the lower bits as well.
const FNV_BASIS = 0x811c_9dc5
const FNV_PRIME = 0x0100_0193

function add(hash: number, unit: number): number {
  const product = Math.imul(hash ^ unit, FNV_PRIME)
  return product ^ (product >>> 15)
}

function addText(hash: number, text: string): number {
  let sum = hash
  for (let i = 0; i < text.length; i++) sum = add(sum, text.charCodeAt(i))
  return sum
}

const ATTRIBUTE = add(FNV_BASIS, Mark.attribute)
const OWN = { type: add(FNV_BASIS, Mark.type), username: add(FNV_BASIS, Mark.username) } as const

export type OwnTermField = keyof typeof OWN

// Of a longer text both ends and the length: that tells most texts apart.
const MAX_TEXT = 128

function addValue(hash: number, text: string): number {
  if (text.length <= MAX_TEXT) return addText(hash, text)
  const ends = text.slice(0, MAX_TEXT / 2) + text.slice(-MAX_TEXT / 2)
  return addText(add(hash, text.length), ends)
}

/** By the hash of the name; numbers as JavaScript prints them, so 7 and 7.0 are one. */
function valueTerm(name: number, value: Scalar): number {
  if (typeof value === 'string') return addValue(add(name, Mark.text), value)
  if (typeof value === 'number') return addText(add(name, Mark.number), String(value))
  return add(name, value ? Mark.true : Mark.false)
}

const presenceTerm = (name: number): number => add(name, Mark.present)

/** The term of events that have the attribute. */
export const presenceHash = (name: string): number => presenceTerm(addText(ATTRIBUTE, name))

const UNDERSCORE = 0x5f

/** What a name leads to: elements of arrays go by the name of the array, as evaluate.ts has it. */
function addPlace(terms: number[], name: number, value: JsonValue): void {
  if (value === null || terms.length > MAX_TERMS) return
  if (typeof value !== 'object') terms.push(presenceTerm(name), valueTerm(name, value))
  else if (Array.isArray(value)) addElements(terms, name, value)
  else addMembers(terms, name, value)
}

/** Of these many may be the same. */
function addElements(terms: number[], name: number, values: readonly JsonValue[]): void {
  if (values.length === 0) return
  const own = [presenceTerm(name)]
  for (const value of values) addPlace(own, name, value)
  for (const term of new Set(own)) terms.push(term)
}

function addMembers(terms: number[], name: number, value: JsonObject): void {
  const keys = Object.keys(value)
  if (keys.length > 0) terms.push(presenceTerm(name))
  const prefix = add(name, UNDERSCORE)
  for (const key of keys) addPlace(terms, addText(prefix, key), value[key]!)
}

/**
 * Attributes whose values the server fills in: of these the stored terms only tell that they are
 * there.
 */
export const SERVER_ATTRIBUTES = ['suppressed_count', 'suppressed_since'] as const

/** The terms that a store keeps with an event; hardly any of them twice. */
export function termsOf({
  type,
  username,
  attributes,
}: Pick<EventDraft, 'type' | 'username' | 'attributes'>): number[] {
  const terms = [addValue(OWN.type, type)]
  if (username !== null) terms.push(addValue(OWN.username, username))
  for (const key of Object.keys(attributes))
    addPlace(terms, addText(ATTRIBUTE, key), attributes[key]!)
  return terms.length > MAX_TERMS ? [OVERFLOW] : terms
}

/*
 * What to look for: every event that is meant has one of these terms.
 */

const orOverflow = (terms: readonly number[]): number[] => [...new Set([...terms, OVERFLOW])]

/** Events whose type or username is one of the texts. */
export const ownTerms = (field: OwnTermField, texts: readonly string[]): number[] =>
  orOverflow(texts.map((text) => addValue(OWN[field], text)))

/** Events that have the attribute; an event without any of these terms has it not. */
export const presenceTerms = (name: string): number[] => orOverflow([presenceHash(name)])

/** Events that have the attribute with one of the values. */
export function valueTerms(name: string, values: readonly Scalar[]): number[] {
  const hash = addText(ATTRIBUTE, name)
  return orOverflow(values.map((value) => valueTerm(hash, value)))
}
