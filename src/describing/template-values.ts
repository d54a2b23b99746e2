import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { scalarsIn, valuesAt } from './attributes.js'
import { formatOf, listText, plain, reasonOf, type Parts } from './formats.js'
import { kindOf, nameOf, subjectOf, wordsOf } from './resources.js'
import type { TemplateValues } from './template.js'
import { FIELDS, percentText, someOf, VERBS } from './texts.js'

/** How the sentence is written. */
interface SentenceContext {
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

const verbOf = (event: AuditEvent): readonly [string, string] | undefined => {
  const action = segmentsOf(event).findLast((segment) => segment !== DENIED)
  return action !== undefined && Object.hasOwn(VERBS, action) ? VERBS[action] : undefined
}

function named(event: AuditEvent, kind: string): Parts {
  const name = nameOf(event, kind)
  if (name === undefined) return undefined
  const words = wordsOf(kindOf(event, kind))
  return [
    { kind: 'text', text: `${words} ` },
    { kind: 'name', text: name },
  ]
}

/** The subject of the event: `step **Deploy** of change **nightly**`, `a step`. */
const thing: Word = (event, { isVerbFirst }) => {
  const kind = subjectOf(event)
  const itself = named(event, kind)
  if (!itself) {
    const words = wordsOf(kindOf(event, kind))
    return plain(isVerbFirst ? someOf(kind, words) : words)
  }
  const owner = Object.hasOwn(OWNERS, kind) ? named(event, OWNERS[kind]!) : undefined
  return owner ? [...itself, { kind: 'text', text: ' of ' }, ...owner] : itself
}

/** Another resource of the event. */
function other(event: AuditEvent, kind: string): Parts {
  return kindOf(event, subjectOf(event)) === kind ? undefined : named(event, kind)
}

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

/** The changed fields, else those that the request names. */
const fields: Word = (event) => {
  const changed = changesOf(event).slice(0, MAX_FIELDS).map(fieldOf)
  if (changed.length > 0) return plain(listText(changed))
  const { request_body: body } = event.attributes
  const isObject = body !== null && typeof body === 'object' && !Array.isArray(body)
  return isObject ? plain(listText(Object.keys(body).slice(0, MAX_FIELDS))) : undefined
}

const changes: Word = (event) => {
  const { length } = changesOf(event)
  const { changes_cut: cut } = event.attributes
  const count = length + (typeof cut === 'number' ? cut : 0)
  if (count === 0) return undefined
  return [...plain(listText([count]))!, ...plain(' ')!, ...formatOf('changes', FIELDS)!([count])!]
}

const reason: Word = ({ attributes }) => {
  const names = ['error', 'error_message', 'message']
  return names.reduce<Parts>(
    (found, name) => found ?? reasonOf(valuesAt(attributes, name)),
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
  return [{ kind: 'progress', text: percentText(percent), percent }]
}

const WORDS: Readonly<Record<string, Word>> = {
  thing,
  fields,
  changes,
  reason,
  progress,
  verb: (event) => plain(verbOf(event)?.[0] ?? ''),
  past: (event) => plain(verbOf(event)?.[1] ?? ''),
  action: (event) => plain(wordsOf(segmentsOf(event).at(-1) ?? '')),
  // For types that no other rule describes.
  statement: (event) =>
    plain(segmentsOf(event).slice(-2).map(wordsOf).join(' ') || wordsOf(event.type)),
}

/** Returns what templates can read of the event. */
export function templateValues(event: AuditEvent, context: SentenceContext): TemplateValues {
  const { attributes } = event
  return {
    attribute: (name, format) => format(valuesAt(attributes, name)),
    isAttribute: (name, text) =>
      scalarsIn(valuesAt(attributes, name)).some((value) => String(value) === text),
    word: (word) =>
      Object.hasOwn(WORDS, word) ? WORDS[word]!(event, context) : other(event, word),
  }
}
