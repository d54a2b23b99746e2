import type { AuditEvent } from '../../event/event.js'
import type { EventOfLog } from '../../event/event-of-log.js'
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

/** How events are rendered. */
export interface ResourceOptions<Item = EventOfLog> {
  readonly fields?: Fieldset
  /** The ids of open live events. */
  readonly open?: ReadonlySet<string>
  /** Further members of the `meta` of an event. */
  readonly metaOf?: (item: Item) => object
}

/** The start of links to events as JSON text; ids need no escaping. */
const linkStart = (path: string): string => JSON.stringify(`${path}/`).slice(0, -1)

function resourceText<Item extends EventOfLog>(
  item: Item,
  start: string,
  { fields, open, metaOf }: ResourceOptions<Item> = {},
): string {
  const { event, log } = item
  const { id, source } = event
  const isRelated = source !== null && (fields?.has('source') ?? true)
  const related = isRelated
    ? `,"relationships":{"source":{"links":{"source":${toJson(source)}}}}`
    : ''
  const attributes = attributesText(event, fields)
  const live = open?.has(id) ? true : undefined
  const hasMeta = live || log !== undefined || metaOf
  const meta = hasMeta ? `,"meta":${JSON.stringify({ live, log, ...metaOf?.(item) })}` : ''
  return `{"type":"event","id":"${id}","attributes":${attributes}${related},"links":{"self":${start}${id}"}${meta}}`
}

/**
 * The Event resource of the interface as JSON text; `path` is that of the endpoints of its log. An open event has
 * `meta.live`, an event of several logs `meta.log`.
 */
export const eventResource = (item: EventOfLog, path: string, view?: ResourceOptions): string =>
  resourceText(item, linkStart(path), view)

/** How a list is rendered. */
export interface ListOptions<Item = EventOfLog> extends ResourceOptions<Item> {
  /** The `meta` of the document. */
  readonly meta?: object | undefined
}

/**
 * The text of the document. Its parts are the events; joining them would need another copy. `pathOf` returns the path of the
 * endpoints of a log.
 */
export function eventsDocument<Item extends EventOfLog>(
  items: readonly Item[],
  pathOf: (log: string | undefined) => string,
  links: Readonly<Record<string, Link>>,
  view: ListOptions<Item> = {},
): TextParts {
  const { length } = items
  const meta = view.meta ? `,"meta":${JSON.stringify(view.meta)}` : ''
  let log: string | undefined
  let start = ''
  const resourceAt = (index: number): string => {
    const item = items[index]!
    if (start === '' || item.log !== log) {
      log = item.log
      start = linkStart(pathOf(log))
    }
    return resourceText(item, start, view)
  }
  return {
    length: length + 2,
    at(index) {
      if (index === 0) return `{"jsonapi":${JSONAPI},"data":[`
      if (index > length) return `],"links":${JSON.stringify(links)}${meta}}`
      return index === 1 ? resourceAt(0) : `,${resourceAt(index - 1)}`
    },
  }
}

export function eventDocument(item: EventOfLog, path: string, view?: ResourceOptions): string {
  const data = eventResource(item, path, view)
  const links = JSON.stringify({ self: `${path}/${item.event.id}` })
  return `{"jsonapi":${JSONAPI},"data":${data},"links":${links}}`
}
