import type { AuditEvent } from '../../src/event/event.js'
import type { EventTypes } from '../../src/event/event-types.js'
import { isUriReference, toCloudEvent } from '../../src/formats/cloud-event.js'
import { toOcsf } from '../../src/formats/ocsf.js'
import { toOtlp } from '../../src/formats/otlp.js'
import type { Fail } from './read-options.js'
import { sentenceOf } from './sentences.js'

export interface WebhookBody {
  readonly contentType: string
  readonly text: string
}

export interface BodyContext {
  readonly types: EventTypes
  /** The name of the recording service; for `cloudevents` a URI reference. */
  readonly service: string
  /** True for channels with batches. Their bodies always have a list, even for one event. */
  readonly isBatch: boolean
}

type WriteBody = (events: readonly AuditEvent[], context: BodyContext) => WebhookBody

const JSON_TYPE = 'application/json'

const oneOrList = (values: readonly unknown[], isBatch: boolean): string =>
  JSON.stringify(isBatch ? values : values[0])

/** The body of Standard Webhooks: type, timestamp, data. */
const standard: WriteBody = (events, { types, isBatch }) => {
  const [first] = events
  const data = events.map((event) => ({ ...event, sentence: sentenceOf(event, types) }))
  const text = JSON.stringify({
    type: isBatch ? 'events' : first!.type,
    timestamp: first!.created_at,
    data: isBatch ? data : data[0],
  })
  return { contentType: JSON_TYPE, text }
}

/** The structured and the batched content mode of CloudEvents over HTTP. */
const cloudevents: WriteBody = (events, { types, service, isBatch }) => ({
  contentType: isBatch ? 'application/cloudevents-batch+json' : 'application/cloudevents+json',
  text: oneOrList(
    events.map((event) => toCloudEvent(event, { source: service, types })),
    isBatch,
  ),
})

const ocsf: WriteBody = (events, { types, service, isBatch }) => ({
  contentType: JSON_TYPE,
  text: oneOrList(
    events.map((event) => toOcsf(event, { product: { name: service }, types })),
    isBatch,
  ),
})

const otlp: WriteBody = (events, { types, service }) => ({
  contentType: JSON_TYPE,
  text: JSON.stringify(toOtlp(events, { service, types })),
})

/** A line for each event, as in an export. */
const ndjson: WriteBody = (events) => ({
  contentType: 'application/x-ndjson',
  text: events.map((event) => `${JSON.stringify(event)}\n`).join(''),
})

const BODIES = { standard, cloudevents, ocsf, otlp, ndjson }

/** The form of the bodies of a webhook. */
export type WebhookFormat = keyof typeof BODIES

const FORMATS = Object.keys(BODIES).join(', ')
const SERVICE = 'daybook'

/** The format of bodies, and the name of the service in them: see {@link readFormat}. */
export interface FormatSettings {
  readonly format: WebhookFormat
  readonly service: string
}

/** The format, and the name of the service in it. */
export function readFormat(
  given: { readonly format?: unknown; readonly service?: unknown },
  fail: Fail,
): FormatSettings {
  const { format = 'standard', service = SERVICE } = given
  if (typeof format !== 'string' || !Object.hasOwn(BODIES, format))
    throw fail('format', `must be one of ${FORMATS}`)
  if (typeof service !== 'string' || service === '') throw fail('service', 'must be a text')
  if (format === 'cloudevents' && !isUriReference(service))
    throw fail('service', 'must be a URI reference for the format cloudevents')
  return { format: format as WebhookFormat, service }
}

export function writeBody(
  events: readonly AuditEvent[],
  context: Omit<BodyContext, 'service'>,
  { format, service }: FormatSettings,
): WebhookBody {
  return BODIES[format](events, { ...context, service })
}
