import { signal } from '@preact/signals'
import { subjectOf } from '../../../src/describing/resources.js'
import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { openManaged } from '../data/address.js'
import { ownValue } from '../data/own-property.js'

/** The event from whose panel the user opened the history or the comparison. */
export const origin = signal<string | undefined>(undefined)

/** The place of a history in the address, before the query string of its request. */
export const HISTORY_PLACE = 'history?'

const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%2F', '/')

type Scalar = string | number | boolean

const parameter = (name: string, value: Scalar): string =>
  `resource[${encoded(name)}]=${encoded(String(value))}`

const isScalar = (value: JsonValue | undefined): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value) && value !== ''

/** The members of a primary key of several columns, under the names that filters use. */
function primaryKey(key: JsonValue | undefined): string[] {
  if (key === null || typeof key !== 'object' || Array.isArray(key)) return []
  return Object.entries(key).flatMap(([name, value]) =>
    isScalar(value) ? [parameter(`primary_key_${name}`, value)] : [],
  )
}

/**
 * The query string for the history of the event's resource. It names the source of the event, else the attribute that
 * the event's type names (`order_id` of `api:orders:update`), else the primary key of a captured row. `undefined` if
 * the event names no resource.
 */
export function historyQueryOf(event: AuditEvent): string | undefined {
  const { source, attributes } = event
  if (source !== null) return `source=${encoded(source)}`
  const name = `${subjectOf(event)}_id`
  const id = ownValue(attributes, name)
  const identity = isScalar(id) ? [parameter(name, id)] : primaryKey(attributes['primary_key'])
  if (identity.length === 0) return undefined
  const { table } = attributes
  return [...(isScalar(table) ? [parameter('table', table)] : []), ...identity].join('&')
}

/** Opens the history of the event's resource in place of the event. */
export function openHistory(event: AuditEvent): void {
  const query = historyQueryOf(event)
  if (query === undefined) return
  origin.value = event.id
  openManaged(HISTORY_PLACE + query)
}
