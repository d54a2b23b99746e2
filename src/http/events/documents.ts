import type { AuditEvent } from '../../event/event.js'
import { attributesJson } from '../../store-kit/lazy-event.js'
import { jsonapi } from '../problem.js'
import type { Fieldset } from './fieldset.js'

const JSONAPI = JSON.stringify(jsonapi)

/** The attributes as text. Where all are wanted they need not be parsed. */
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

/** How events are shown. */
export interface ResourceOptions {
  readonly fields?: Fieldset
  /** The ids of live events that are open. */
  readonly open?: ReadonlySet<string>
}

/**
 * The event as the interface's Event resource, in JSON text; `path` is where the endpoints are mounted.
 * One that is open says so in `meta`.
 */
export function eventResource(event: AuditEvent, path: string, view?: ResourceOptions): string {
  return resourceText(event, linkStart(path), view)
}

/** Links to events begin with it, as JSON text; their ids need no escape. */
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

/** The document's text in parts: of the whole in one piece a copy more would have to be made. */
export function* eventsDocument(
  events: readonly AuditEvent[],
  path: string,
  links: Readonly<Record<string, string>>,
  view?: ResourceOptions,
): Generator<string, void> {
  yield `{"jsonapi":${JSONAPI},"data":[`
  const start = linkStart(path)
  let before = ''
  for (const event of events) {
    yield `${before}${resourceText(event, start, view)}`
    before = ','
  }
  yield `],"links":${JSON.stringify(links)}}`
}

export function eventDocument(event: AuditEvent, path: string, view?: ResourceOptions): string {
  const data = eventResource(event, path, view)
  const links = JSON.stringify({ self: `${path}/${event.id}` })
  return `{"jsonapi":${JSONAPI},"data":${data},"links":${links}}`
}
