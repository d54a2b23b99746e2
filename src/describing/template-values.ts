import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { PLURAL_ONLY_KINDS } from '../event/singular.js'
import { scalarsIn, valuesAt } from './attributes.js'
import { formatOf, listText, plain, reasonOf, type Parts } from './formats.js'
import type { SentenceLanguage } from './language.js'
import { kindOf, nameOf, nounOf, subjectOf, wordsOf } from './resources.js'
import type { TemplateValues } from './template.js'

/** Context of the sentence. */
interface SentenceContext {
  readonly language: SentenceLanguage
  /** The event is live and open. */
  readonly isOpen: boolean
  /** The sentence begins with a verb. Otherwise it is a headline, without articles. */
  readonly isVerbFirst: boolean
}

/** Returns the parts that `{@word}` stands for. */
type Word = (event: AuditEvent, context: SentenceContext) => Parts

/** The kind of resource that contains a resource and is named with it. */
const OWNERS: Readonly<Record<string, string>> = { step: 'change', workflow_step: 'workflow_run' }

const DENIED = 'denied'

const segmentsOf = ({ type }: AuditEvent): string[] => type.split(':').slice(1)

const verbOf = (
  event: AuditEvent,
  { language: { verbs } }: SentenceContext,
): readonly [string, string] | undefined => {
  const action = segmentsOf(event).findLast((segment) => segment !== DENIED)
  return action !== undefined && Object.hasOwn(verbs, action) ? verbs[action] : undefined
}

function onlyName(event: AuditEvent, kind: string): Parts {
  const text = nameOf(event, kind)
  return text === undefined ? undefined : [{ kind: 'name', text }]
}

function named(event: AuditEvent, kind: string, { language }: SentenceContext): Parts {
  const name = onlyName(event, kind)
  return name && [...plain(`${nounOf(kindOf(event, kind), language)} `)!, ...name]
}

function ownerOf(event: AuditEvent, subject: string, { language }: SentenceContext): Parts {
  const kind = Object.hasOwn(OWNERS, subject) ? OWNERS[subject]! : undefined
  const name = kind === undefined ? undefined : onlyName(event, kind)
  return name && [...plain(` ${language.ofOwner(kind!, nounOf(kind!, language))} `)!, ...name]
}

/** The subject of the event: `step **Deploy** of change **nightly**`, `a step`. */
const thing: Word = (event, context) => {
  const { language } = context
  const subject = subjectOf(event)
  const kind = kindOf(event, subject)
  const name = onlyName(event, subject)
  const isPluralOnly = PLURAL_ONLY_KINDS.has(subject)
  const noun = nounOf(kind, language)
  const form = { isNamed: name !== undefined, isPluralOnly }
  const words = context.isVerbFirst ? language.objectOf(kind, noun, form) : noun
  if (!name) return plain(words)
  return [...plain(`${words} `)!, ...name, ...(ownerOf(event, subject, context) ?? [])]
}

/** True if the kind belongs to another resource than the event's subject. */
const isOther = (event: AuditEvent, kind: string): boolean =>
  kindOf(event, subjectOf(event)) !== kind

const MAX_FIELDS = 5

function changesOf({ attributes }: AuditEvent): readonly JsonValue[] {
  const { changes } = attributes
  return Array.isArray(changes) ? changes : []
}

/** `/limits/cpu` -> `limits.cpu` (RFC 6901). */
const fieldOf = (change: JsonValue): string => {
  const { path } = Object(change) as JsonObject
  if (typeof path !== 'string') return ''
  const keys = path.slice(1, 200).split('/')
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

/** The changed fields, else the fields that the request names. */
const fields: Word = (event, { language }) => {
  const changed = changesOf(event).slice(0, MAX_FIELDS).map(fieldOf)
  if (changed.length > 0) return plain(listText(changed, language))
  const { request_body: body } = event.attributes
  const isObject = body !== null && typeof body === 'object' && !Array.isArray(body)
  return isObject ? plain(listText(Object.keys(body).slice(0, MAX_FIELDS), language)) : undefined
}

const changes: Word = (event, { language }) => {
  const { length } = changesOf(event)
  const { changes_cut: cut } = event.attributes
  const count = length + (typeof cut === 'number' ? cut : 0)
  if (count === 0) return undefined
  const noun = formatOf('changes', language.fields)!([count], language)!
  return [...plain(listText([count], language))!, ...plain(' ')!, ...noun]
}

const segmentText = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The path of the request in the form of a route: `/api/steps/:id/approve`. */
const route: Word = ({ attributes }, { language }) => {
  const [path] = scalarsIn(valuesAt(attributes, 'request_path'))
  if (typeof path !== 'string') return undefined
  const { url_params: params } = attributes
  const names = new Map(
    Object.entries(Object(params) as JsonObject).map(([name, value]) => [value, name]),
  )
  const segments = path.split('/').map((segment) => {
    const name = segment === '' ? undefined : names.get(segmentText(segment))
    return name === undefined ? segment : `:${name}`
  })
  return plain(listText([segments.join('/')], language))
}

const reason: Word = ({ attributes }, { language }) => {
  const names = ['error', 'error_message', 'message']
  return names.reduce<Parts>(
    (found, name) => found ?? reasonOf(valuesAt(attributes, name), language),
    undefined,
  )
}

// The end of a log that is searched for its last percentage.
const LOG_END_LENGTH = 2000

/** The progress of an open event: a number, or the last percentage in a log. */
const progress: Word = ({ attributes }, { isOpen }) => {
  if (!isOpen) return undefined
  const [value] = scalarsIn(valuesAt(attributes, 'progress'))
  const found = String(value)
    .slice(-LOG_END_LENGTH)
    .match(/\d{1,3}(?=(?:\.\d+)? ?%)/g)
  const number = typeof value === 'number' ? value : Number(found?.at(-1) ?? NaN)
  if (!(number >= 0 && number <= 100)) return undefined
  const percent = Math.floor(number)
  return [{ kind: 'progress', text: `${percent} %`, percent }]
}

const WORDS: Readonly<Record<string, Word>> = {
  thing,
  fields,
  changes,
  reason,
  route,
  progress,
  verb: (event, context) => plain(verbOf(event, context)?.[0] ?? ''),
  past: (event, context) => plain(verbOf(event, context)?.[1] ?? ''),
  action: (event, { language }) => plain(wordsOf(segmentsOf(event).at(-1) ?? '', language)),
  // The statement for types without another rule.
  statement: (event, { language }) => {
    const words = segmentsOf(event).map((segment) => wordsOf(segment, language))
    return plain(words.slice(-2).join(' ') || wordsOf(event.type, language))
  },
}

/** Returns the values that templates can read from the event. */
export function templateValues(event: AuditEvent, context: SentenceContext): TemplateValues {
  const { attributes } = event
  return {
    attribute: (name, format) => format(valuesAt(attributes, name), context.language),
    isAttribute: (name, text) =>
      scalarsIn(valuesAt(attributes, name)).some((value) => String(value) === text),
    word: (word) =>
      Object.hasOwn(WORDS, word)
        ? WORDS[word]!(event, context)
        : isOther(event, word)
          ? named(event, word, context)
          : undefined,
    nameOf: (word) => {
      if (word === 'thing') return onlyName(event, subjectOf(event))
      return isOther(event, word) ? onlyName(event, word) : undefined
    },
  }
}
