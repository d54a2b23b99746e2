import type { AuditEvent } from '../../event/event.js'
import { attributesJson } from '../../event/lazy-event.js'
import type { Link } from '../body-query.js'
import { jsonapi } from '../problem.js'
import type { TextParts } from '../utf8.js'
import type { Fieldset } from './fieldset.js'

const JSONAPI = JSON.stringify(jsonapi)

/** Texts that are the same in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/

/** The JSON text; in a third of the time of `JSON.stringify` for plain texts, which most are. */
const toJson = (text: string | null): string =>
  text !== null && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)

/** The attributes as JSON text. Without a fieldset they need not be parsed. */
function attributesText(event: AuditEvent, fields: Fieldset): string {
  const { type, username, system, created_at } = event
  if (fields) {
    const all = Object.entries({ type, username, system, created_at, ...event.attributes })
    return JSON.stringify(Object.fromEntries(all.filter(([name]) => fields.has(name))))
  }
  const names = `"type":${toJson(type)},"username":${toJson(username)}`
  const own = `${names},"system":${system},"created_at":"${created_at}"`
  const text = attributesJson(event)
  return text === '{}' ? `{${own}}` : `{${own},${text.slice(1)}`
}

/** How an event is rendered. */
export interface ResourceOptions {
  readonly fields?: Fieldset
  /** The ids of open live events. */
  readonly open?: ReadonlySet<string>
  /** Further members of the `meta` of an event. */
  readonly metaOf?: (event: AuditEvent) => object
}

/**
 * The Event resource of the interface as JSON text; `path` is where the endpoints are mounted. An open
 * event has `meta.live`.
 */
export function eventResource(event: AuditEvent, path: string, view?: ResourceOptions): string {
  return resourceText(event, linkStart(path), view)
}

/** The start of links to events as JSON text; ids need no escaping. */
const linkStart = (path: string): string => JSON.stringify(`${path}/`).slice(0, -1)

function resourceText(
  event: AuditEvent,
  start: string,
  { fields, open, metaOf }: ResourceOptions = {},
): string {
  const { id, source } = event
  const isRelated = source !== null && (fields?.has('source') ?? true)
  const related = isRelated
    ? `,"relationships":{"source":{"links":{"source":${toJson(source)}}}}`
    : ''
  const attributes = attributesText(event, fields)
  const live = open?.has(id) ? { live: true } : undefined
  const meta = live || metaOf ? `,"meta":${JSON.stringify({ ...live, ...metaOf?.(event) })}` : ''
  return `{"type":"event","id":"${id}","attributes":${attributes}${related},"links":{"self":${start}${id}"}${meta}}`
}

/** How a list is rendered. */
export interface ListOptions extends ResourceOptions {
  /** The `meta` of the document. */
  readonly meta?: object
}

/** The text of the document. Its parts are the events; joining them would need another copy. */
export function eventsDocument(
  events: readonly AuditEvent[],
  path: string,
  links: Readonly<Record<string, Link>>,
  view?: ListOptions,
): TextParts {
  const start = linkStart(path)
  const resourceAt = (index: number): string => resourceText(events[index]!, start, view)
  return listDocument({ length: events.length, resourceAt }, links, view?.meta)
}

/** Resources as JSON text. */
export interface Resources {
  readonly length: number
  readonly resourceAt: (index: number) => string
}

export function listDocument(
  { length, resourceAt }: Resources,
  links: Readonly<Record<string, Link>>,
  documentMeta: object | undefined,
): TextParts {
  const meta = documentMeta ? `,"meta":${JSON.stringify(documentMeta)}` : ''
  return {
    length: length + 2,
    at(index) {
      if (index === 0) return `{"jsonapi":${JSONAPI},"data":[`
      if (index > length) return `],"links":${JSON.stringify(links)}${meta}}`
      return index === 1 ? resourceAt(0) : `,${resourceAt(index - 1)}`
    },
  }
}

export function eventDocument(event: AuditEvent, path: string, view?: ResourceOptions): string {
  const data = eventResource(event, path, view)
  const links = JSON.stringify({ self: `${path}/${event.id}` })
  return `{"jsonapi":${JSONAPI},"data":${data},"links":${links}}`
}
