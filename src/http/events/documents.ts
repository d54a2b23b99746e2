import type { AuditEvent } from '../../event/event.js'
import { attributesJson } from '../../store-kit/lazy-event.js'
import { jsonapi } from '../problem.js'
import type { Fieldset } from './fieldset.js'

const JSONAPI = JSON.stringify(jsonapi)

/** The attributes as JSON text. Without a fieldset they need not be parsed. */
function attributesText(event: AuditEvent, fields: Fieldset): string {
  const { type, username, system, created_at } = event
  if (fields) {
    const all = Object.entries({ type, username, system, created_at, ...event.attributes })
    return JSON.stringify(Object.fromEntries(all.filter(([name]) => fields.has(name))))
  }
  const names = `"type":${JSON.stringify(type)},"username":${JSON.stringify(username)}`
  const own = `${names},"system":${system},"created_at":"${created_at}"`
  const text = attributesJson(event)
  return text === '{}' ? `{${own}}` : `{${own},${text.slice(1)}`
}

/** How an event is rendered. */
export interface ResourceOptions {
  readonly fields?: Fieldset
  /** The ids of open live events. */
  readonly open?: ReadonlySet<string>
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
  { fields, open }: ResourceOptions = {},
): string {
  const { id, source } = event
  const isRelated = source !== null && (fields?.has('source') ?? true)
  const related = isRelated
    ? `,"relationships":{"source":{"links":{"source":${JSON.stringify(source)}}}}`
    : ''
  const attributes = attributesText(event, fields)
  const meta = open?.has(id) ? ',"meta":{"live":true}' : ''
  return `{"type":"event","id":"${id}","attributes":${attributes}${related},"links":{"self":${start}${id}"}${meta}}`
}

/** How a list is rendered. */
export interface ListOptions extends ResourceOptions {
  /** The `meta` of the document. */
  readonly meta?: object
}

/** The text of the document in parts; joining them would need another copy. */
export function* eventsDocument(
  events: readonly AuditEvent[],
  path: string,
  links: Readonly<Record<string, string>>,
  view?: ListOptions,
): Generator<string, void> {
  yield `{"jsonapi":${JSONAPI},"data":[`
  const start = linkStart(path)
  let separator = ''
  for (const event of events) {
    yield `${separator}${resourceText(event, start, view)}`
    separator = ','
  }
  const meta = view?.meta ? `,"meta":${JSON.stringify(view.meta)}` : ''
  yield `],"links":${JSON.stringify(links)}${meta}}`
}

export function eventDocument(event: AuditEvent, path: string, view?: ResourceOptions): string {
  const data = eventResource(event, path, view)
  const links = JSON.stringify({ self: `${path}/${event.id}` })
  return `{"jsonapi":${JSONAPI},"data":${data},"links":${links}}`
}
