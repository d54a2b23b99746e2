import type { AuditEvent } from '../event/event.js'
import { scalarsIn, valuesAt } from './attributes.js'
import { PLURAL_ONLY_KINDS, singular } from '../event/singular.js'
import type { SentenceLanguage } from './language.js'
import { remembered } from './remembered.js'
import { shortText } from './visible-text.js'

const MAX_NAME_LENGTH = 80
const MAX_KIND_LENGTH = 40

const NODES: ReadonlySet<string> = new Set(['environment', 'asset', 'agent'])
const NODE_PATH = /\/projects\/([^/]+)(?:\/environments\/([^/]+)(?:\/assets\/([^/]+))?)?$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** `git_remote` -> `git remote`. */
export function wordsOf(name: string, language: SentenceLanguage): string {
  return shortText(name.replaceAll('_', ' '), MAX_KIND_LENGTH) || language.thing
}

/** The noun of a kind of resources. */
export const nounOf = (kind: string, language: SentenceLanguage): string =>
  language.nounOf(kind) ?? wordsOf(kind, language)

/** Converts a name for display; `undefined` if nothing is left to show. */
function shown(name: string): string | undefined {
  // Many ids begin with a time, so their beginnings look alike.
  if (UUID.test(name)) return `…${name.slice(-6)}`
  return shortText(name, MAX_NAME_LENGTH) || undefined
}

/** The resource of an API path: its kind, and its id or codes. */
interface Target {
  readonly kind: string
  readonly id: string
}

export function targetOf(path: string): Target {
  const codes = NODE_PATH.exec(path)
    ?.slice(1)
    .filter((code) => code !== undefined)
  const [id = '', collection = ''] = path.split('/').toReversed()
  return { kind: singular(collection), id: codes ? codes.join('/') : id }
}

const subjectOfType = remembered((type) => singular(type.split(':')[1] ?? ''))

/** The kind of resource that the event's type names. */
export const subjectOf = ({ type }: AuditEvent): string => subjectOfType(type)

const isSame = (kind: string, other: string): boolean =>
  kind === other || (kind === 'node' && NODES.has(other)) || (other === 'node' && NODES.has(kind))

/** True if the attribute `name` names the event's resource of this kind, false if it names something else. */
function isNamedAfter(event: AuditEvent, kind: string): boolean {
  if (!event.system) return false
  const subject = subjectOf(event)
  if (isSame(kind, subject)) return true
  const isOfSubject = valuesAt(event.attributes, `${subject}_id`).length > 0
  return !isOfSubject && event.source !== null && isSame(kind, targetOf(event.source).kind)
}

// The parameters of a request name the requested resource.
const PLACES = ['', 'request_body_', 'url_params_']
const OWN_NAMES = ['name', 'code', 'request_body_name', 'request_body_code']

function firstText({ attributes }: AuditEvent, names: readonly string[]): string | undefined {
  for (const name of names) {
    const [value] = scalarsIn(valuesAt(attributes, name))
    const text = value === undefined ? undefined : shown(String(value))
    if (text !== undefined) return text
  }
  return undefined
}

/** The attributes that may hold names of a kind, best first. */
const namesOf = remembered((kind): readonly string[] =>
  PLACES.flatMap((place) => [`${place}${kind}_name`, `${place}${kind}_code`, `${place}${kind}`]),
)

function codesIn({ attributes, source }: AuditEvent, kind: string): string | undefined {
  const paths = [...scalarsIn(valuesAt(attributes, 'node_path')), source]
  if (kind === 'project') paths.unshift(...scalarsIn(valuesAt(attributes, 'project_path')))
  for (const path of paths) {
    const [, project, environment, asset] = NODE_PATH.exec(String(path)) ?? []
    if (project !== undefined && kind === 'project') return shown(project)
    const codes = [project, environment, asset].filter((code) => code !== undefined)
    if (codes.length > 0 && isSame(kind, targetOf(String(path)).kind)) return shown(codes.join('/'))
  }
  return undefined
}

/**
 * The name of the event's resource of this kind, else the end of its id; `undefined` if the event has no such
 * resource.
 */
export function nameOf(event: AuditEvent, kind: string): string | undefined {
  const own = isNamedAfter(event, kind) ? firstText(event, OWN_NAMES) : undefined
  const name = own ?? firstText(event, namesOf(kind)) ?? codesIn(event, kind)
  // The id of a kind without a singular, such as settings, identifies nothing to a reader.
  return name ?? (PLURAL_ONLY_KINDS.has(kind) ? undefined : idOf(event, kind))
}

function idOf(event: AuditEvent, kind: string): string | undefined {
  const { source } = event
  const target = source === null ? undefined : targetOf(source)
  if (target?.kind === kind) return shown(target.id)
  return firstText(
    event,
    PLACES.map((place) => `${place}${kind}_id`),
  )
}

/** `node` -> `environment`, if the event has a path that shows it. */
export function kindOf({ attributes, source }: AuditEvent, kind: string): string {
  if (kind !== 'node') return kind
  const places = [valuesAt(attributes, 'node_path'), [source], valuesAt(attributes, 'request_path')]
  for (const path of places.flat()) {
    const segments = typeof path === 'string' ? path.split('/').map(singular) : []
    const node = segments.findLast((segment) => NODES.has(segment))
    if (node !== undefined) return node
  }
  return kind
}
