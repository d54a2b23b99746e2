import type { JsonObject, JsonValue } from '../../../src/event/event.js'
import type { Scalar } from '../../../src/filter/attributes.js'

/*
 * Terms are hashes of what the attributes of an event have: for each name its presence and each of its
 * values. A row can be ruled out by its terms without parsing its JSON. If a
 * term is missing, the event lacks what the term stands for, unless the event has OVERFLOW, or the term that
 * its name has values which have no terms; a term that is there proves nothing, as hashes collide.
 *
 * Terms are stored, so a change of the hash function would make stored events unfindable.
 */

/** The only term of an event that has too many names, or whose terms are not known. */
export const OVERFLOW = 0
const MAX_TERMS = 2000
/** An event with more terms has a single one for each of its names, if there are no more names than this. */
const MAX_NAMES = 10_000

/** Hashed between texts; greater than any UTF-16 unit. */
const Mark = {
  attribute: 0x1_0000,
  /** Has the attribute, maybe with values for which there are no terms. */
  partial: 0x3_0000,
  present: 0x4_0000,
  text: 0x5_0000,
  number: 0x6_0000,
  true: 0x7_0000,
  false: 0x8_0000,
} as const

// FNV-1a (RFC 9923) over UTF-16 units instead of bytes; the shift mixes the upper bits into the lower.
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

// Longer texts are hashed by both ends and the length, which distinguishes most texts.
const MAX_TEXT = 128

function addValue(hash: number, text: string): number {
  if (text.length <= MAX_TEXT) return addText(hash, text)
  const ends = text.slice(0, MAX_TEXT / 2) + text.slice(-MAX_TEXT / 2)
  return addText(add(hash, text.length), ends)
}

/** `name` is the hash of the name. Numbers are hashed as JavaScript prints them, so 7 equals 7.0. */
function valueTerm(name: number, value: Scalar): number {
  if (typeof value === 'string') return addValue(add(name, Mark.text), value)
  if (typeof value === 'number') return addText(add(name, Mark.number), String(value))
  return add(name, value ? Mark.true : Mark.false)
}

const presenceTerm = (name: number): number => add(name, Mark.present)

/** The term for the presence of the attribute. */
export const presenceHash = (name: string): number => presenceTerm(addText(ATTRIBUTE, name))

const UNDERSCORE = 0x5f

/** Adds the terms of a value; elements of an array have the name of the array, as in evaluate.ts. */
function addValueTerms(terms: number[], name: number, value: JsonValue): void {
  if (value === null || terms.length > MAX_TERMS) return
  if (typeof value !== 'object') terms.push(presenceTerm(name), valueTerm(name, value))
  else if (Array.isArray(value)) addElements(terms, name, value)
  else addMembers(terms, name, value)
}

/** Elements often have the same terms, which are added once. */
function addElements(terms: number[], name: number, values: readonly JsonValue[]): void {
  if (values.length === 0) return
  const own = [presenceTerm(name)]
  for (const value of values) addValueTerms(own, name, value)
  for (const term of new Set(own)) terms.push(term)
}

function addMembers(terms: number[], name: number, value: JsonObject): void {
  const keys = Object.keys(value)
  if (keys.length > 0) terms.push(presenceTerm(name))
  const prefix = add(name, UNDERSCORE)
  for (const key of keys) addValueTerms(terms, addText(prefix, key), value[key]!)
}

/**
 * Attributes whose values SQL fills in; the terms contain their presence only.
 */
export const SERVER_ATTRIBUTES = ['suppressed_count', 'suppressed_since'] as const

/** The terms of the attributes. May have duplicates, but rarely does. */
export function termsOf(attributes: JsonObject): number[] {
  const terms: number[] = []
  for (const key of Object.keys(attributes))
    addValueTerms(terms, addText(ATTRIBUTE, key), attributes[key]!)
  return terms.length > MAX_TERMS ? partialTermsOf(attributes) : terms
}

const partialTerm = (name: number): number => add(name, Mark.partial)

function partialTermsOf(attributes: JsonObject): number[] {
  const terms = new Set<number>()
  const visit = (name: number, value: JsonValue): void => {
    if (value === null || terms.size > MAX_NAMES) return
    terms.add(partialTerm(name))
    if (Array.isArray(value)) for (const element of value) visit(name, element)
    else if (typeof value === 'object')
      for (const key of Object.keys(value)) visit(addText(add(name, UNDERSCORE), key), value[key]!)
  }
  for (const key of Object.keys(attributes)) visit(addText(ATTRIBUTE, key), attributes[key]!)
  return terms.size > MAX_NAMES ? [OVERFLOW] : [...terms]
}

/* Terms to look for: every matching event has at least one of them. */

/** `name` is the hash of the name. */
const orPartial = (name: number, terms: readonly number[]): number[] => [
  ...new Set([...terms, partialTerm(name), OVERFLOW]),
]

/** For events that have the attribute; an event without any of these terms lacks it. */
export const presenceTerms = (name: string): number[] =>
  orPartial(addText(ATTRIBUTE, name), [presenceHash(name)])

/** For events whose attribute has one of the values. */
export function valueTerms(name: string, values: readonly Scalar[]): number[] {
  const hash = addText(ATTRIBUTE, name)
  return orPartial(
    hash,
    values.map((value) => valueTerm(hash, value)),
  )
}
