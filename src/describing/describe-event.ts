import type { AuditEvent, JsonValue } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { scalarsIn, valuesAt } from './attributes.js'
import { templateValues } from './template-values.js'
import { listText, plain } from './formats.js'
import type { Sentence, SentencePart } from './sentence.js'
import { readTemplate, type Template } from './template.js'
import { CUSTOM, FAMILIES, onBehalfOf, POSTSCRIPT } from './texts.js'
import { shortText } from './visible-text.js'

export interface DescribeOptions {
  /** The registry of event types, `audit.types`. A type may have a `sentence` of its own. */
  readonly types?: EventTypes | undefined
  /**
   * True for an open live event: the sentence then includes its progress. The event itself does not
   * say whether it is open; the changes of a tail do.
   * @default false
   */
  readonly isOpen?: boolean | undefined
}

/** The sentence without its user. */
type Rest = Omit<Sentence, 'who'>

const MAX_WHO_LENGTH = 80
const MAX_TYPE_LENGTH = 120

/**
 * Describes the event in one readable line: by the sentence of its type in the registry, else by rules
 * over its type and attributes. Works for every event, whatever its attributes contain.
 */
export function describeEvent(event: AuditEvent, options: DescribeOptions = {}): Sentence {
  const who = whoOf(event)
  return { who, ...(event.system ? systemRest(event, who, options) : customRest(event)) }
}

/** Clients give the attributes of custom events, so these do not say for whom somebody acts. */
function whoOf({ username, system, attributes }: AuditEvent): string | null {
  const user = shortText(username ?? '', MAX_WHO_LENGTH)
  if (user === '') return null
  const { on_behalf_of } = attributes
  const other = system && typeof on_behalf_of === 'string' ? on_behalf_of : ''
  return other === '' ? user : onBehalfOf(user, shortText(other, MAX_WHO_LENGTH))
}

function systemRest(event: AuditEvent, who: string | null, options: DescribeOptions): Rest {
  const { type } = event
  const { types = {}, isOpen = false } = options
  const own = Object.hasOwn(types, type) ? types[type]?.sentence : undefined
  const fitting = FAMILIES.filter(([start, end]) => type.startsWith(start) && type.endsWith(end))
  const templates = fitting.map(([, , template]) => template)
  for (const template of own === undefined ? templates : [own, ...templates]) {
    const rest = fillTemplate(template, event, who, isOpen)
    if (rest) return rest
  }
  return { what: [typePart(type)], isVerbFirst: false }
}

/** `undefined` if the template is invalid or the event lacks a value that it needs. */
function fillTemplate(
  text: string,
  event: AuditEvent,
  who: string | null,
  isOpen: boolean,
): Rest | undefined {
  const template = templateOf(text)
  if (!template) return undefined
  const { afterUser, alone } = template
  const isVerbFirst = afterUser !== undefined && (who !== null || afterUser === alone)
  const values = templateValues(event, { isOpen, isVerbFirst })
  const sentence = joinTexts((isVerbFirst ? afterUser : alone)(values) ?? [])
  if (sentence.length === 0) return undefined
  return { what: joinTexts([...sentence, ...templateOf(POSTSCRIPT)!.alone(values)!]), isVerbFirst }
}

/** Parsed templates by their text. Registries bound their number. */
const templates = new Map<string, Template | undefined>()

function templateOf(text: string): Template | undefined {
  if (!templates.has(text)) templates.set(text, readIfValid(text))
  return templates.get(text)
}

function readIfValid(text: string): Template | undefined {
  try {
    return readTemplate(text)
  } catch {
    return undefined
  }
}

/** Joins adjacent texts and trims the whole. */
function joinTexts(parts: readonly SentencePart[]): readonly SentencePart[] {
  const joined: SentencePart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { kind: 'text', text: last.text + part.text }
    else joined.push(part)
  }
  const trimmed = joined.map((part, index): SentencePart => {
    if (part.kind !== 'text') return part
    const text = index === 0 ? part.text.trimStart() : part.text
    return { kind: 'text', text: index === joined.length - 1 ? text.trimEnd() : text }
  })
  return trimmed.filter(({ text }) => text !== '')
}

const typePart = (type: string): SentencePart => ({
  kind: 'text',
  text: shortText(type, MAX_TYPE_LENGTH) || CUSTOM,
})

const MAX_SHORT_VALUE_LENGTH = 40
const MAX_SHORT_VALUES = 2
/** Names of links and other ids, which mean little to readers, and of what is known of the actor. */
const UNTELLING = /_(?:id|path)$|^(?:actor_kind|on_behalf_of|remote_address)$/

/** Users can give custom events any type, even one of the service's, so the sentence shows it as it is. */
function customRest({ type, attributes }: AuditEvent): Rest {
  const name = listText(scalarsIn(valuesAt(attributes, 'name')))
  const values = name === '' ? shortValues(attributes) : [name]
  const names = values.map((text): SentencePart => ({ kind: 'name', text }))
  const listed = names.flatMap((part) => [...plain(', ')!, part]).slice(1)
  const what = [typePart(type), ...(listed.length > 0 ? plain(': ')! : []), ...listed]
  return { what: [{ kind: 'tag', text: CUSTOM }, ...joinTexts(what)], isVerbFirst: false }
}

function shortValues(attributes: AuditEvent['attributes']): string[] {
  const values: string[] = []
  for (const key in attributes) {
    const value = attributes[key]!
    const text = !UNTELLING.test(key) && isShort(value) ? listText([value]) : ''
    if (text !== '' && values.push(text) === MAX_SHORT_VALUES) break
  }
  return values
}

const isShort = (value: JsonValue): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_SHORT_VALUE_LENGTH)
