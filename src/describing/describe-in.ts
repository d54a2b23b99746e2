import type { AuditEvent, JsonValue } from '../event/event.js'
import { customTypeOf, type CustomTypes } from '../event/custom-types.js'
import type { EventTypeDefinition, EventTypes } from '../event/event-types.js'
import { scalarsIn, valuesAt } from './attributes.js'
import { templateValues } from './template-values.js'
import { listText, plain } from './formats.js'
import type { SentenceLanguage } from './language.js'
import type { Sentence, SentencePart } from './sentence.js'
import { readTemplate, type Template } from './template.js'
import { shortText } from './visible-text.js'

/** The sentence without its user. */
type Rest = Omit<Sentence, 'who'>

const MAX_WHO_LENGTH = 80
const MAX_TYPE_LENGTH = 120

/** Context for describing an event. The caller loads the language. */
interface DescribeContext {
  readonly types?: EventTypes | undefined
  readonly customTypes?: CustomTypes | undefined
  readonly isOpen?: boolean | undefined
  readonly language: SentenceLanguage
}

/** Like `describeEvent`. Imports no language, so that the page loads only the language of its reader. */
export function describeIn(event: AuditEvent, context: DescribeContext): Sentence {
  const who = whoOf(event, context.language)
  const rest = event.system ? systemRest(event, who, context) : customRest(event, who, context)
  return { who, ...rest }
}

/** Clients set the attributes of custom events, so these are no evidence of an actor. */
function whoOf(
  { username, system, attributes }: AuditEvent,
  { onBehalfOf }: SentenceLanguage,
): string | null {
  const user = shortText(username ?? '', MAX_WHO_LENGTH)
  if (user === '') return null
  const { on_behalf_of } = attributes
  const other = system && typeof on_behalf_of === 'string' ? on_behalf_of : ''
  return other === '' ? user : onBehalfOf(user, shortText(other, MAX_WHO_LENGTH))
}

/** The template of the type in the language, else the one that has no language. */
function ownTemplate(
  { sentence, sentences = {} }: Pick<EventTypeDefinition, 'sentence' | 'sentences'>,
  { tag }: SentenceLanguage,
): string | undefined {
  return Object.hasOwn(sentences, tag) ? sentences[tag] : sentence
}

function systemRest(event: AuditEvent, who: string | null, context: DescribeContext): Rest {
  const { type } = event
  const { types = {}, language } = context
  const own = Object.hasOwn(types, type) ? ownTemplate(types[type]!, language) : undefined
  const { families } = language
  const fitting = families.filter(([start, end]) => type.startsWith(start) && type.endsWith(end))
  const templates = fitting.map(([, , template]) => template)
  for (const template of own === undefined ? templates : [own, ...templates]) {
    const rest = fillTemplate(template, event, who, context)
    if (rest) return rest
  }
  return { what: [typePart(type, language)], isVerbFirst: false }
}

/** `undefined` if the template is invalid or the event lacks a value that it needs. */
function fillTemplate(
  text: string,
  event: AuditEvent,
  who: string | null,
  { isOpen = false, language }: DescribeContext,
): Rest | undefined {
  const template = templateOf(text)
  if (!template) return undefined
  const { afterUser, alone } = template
  const isVerbFirst = afterUser !== undefined && (who !== null || afterUser === alone)
  const values = templateValues(event, { language, isOpen, isVerbFirst })
  const sentence = joinTexts((isVerbFirst ? afterUser : alone)(values) ?? [])
  if (sentence.length === 0) return undefined
  const postscript = templateOf(language.postscript)!.alone(values)!
  return { what: joinTexts([...sentence, ...postscript]), isVerbFirst }
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

const typePart = (type: string, { custom }: SentenceLanguage): SentencePart => ({
  kind: 'text',
  text: shortText(type, MAX_TYPE_LENGTH) || custom,
})

const MAX_SHORT_VALUE_LENGTH = 40
const MAX_SHORT_VALUES = 2
/** Names of links and other ids, which mean little to readers, and of attributes that would look like facts of a system event. */
const UNTELLING =
  /_(?:id|path)$|^(?:actor_kind|on_behalf_of|remote_address|user_agent|outcome|reason|approved_by)$/

/**
 * Users can give custom events any type, even a type of the service. So the sentence begins with a tag. It shows the
 * type unchanged unless the host has registered a template.
 */
function customRest(event: AuditEvent, who: string | null, context: DescribeContext): Rest {
  const { customTypes = {}, language } = context
  const definition = customTypeOf(customTypes, event.type)
  const template = definition && ownTemplate(definition, language)
  const own = template === undefined ? undefined : fillTemplate(template, event, who, context)
  const { what, isVerbFirst } = own ?? typeRest(event, language)
  return {
    what: [{ kind: 'tag', text: definition?.label ?? language.custom }, ...what],
    isVerbFirst,
  }
}

/** The type as it is, and the name or the first short values. */
function typeRest({ type, attributes }: AuditEvent, language: SentenceLanguage): Rest {
  const name = listText(scalarsIn(valuesAt(attributes, 'name')), language)
  const values = name === '' ? shortValues(attributes, language) : [name]
  const names = values.map((text): SentencePart => ({ kind: 'name', text }))
  const listed = names.flatMap((part) => [...plain(', ')!, part]).slice(1)
  const what = [typePart(type, language), ...(listed.length > 0 ? plain(': ')! : []), ...listed]
  return { what: joinTexts(what), isVerbFirst: false }
}

function shortValues(attributes: AuditEvent['attributes'], language: SentenceLanguage): string[] {
  const values: string[] = []
  for (const key in attributes) {
    const value = attributes[key]!
    const text = !UNTELLING.test(key) && isShort(value) ? listText([value], language) : ''
    if (text !== '' && values.push(text) === MAX_SHORT_VALUES) break
  }
  return values
}

const isShort = (value: JsonValue): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_SHORT_VALUE_LENGTH)
