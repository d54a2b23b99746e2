import type { AuditEvent } from '../../src/event/event.js'
import {
  type DeliveryContext,
  DeliveryError,
  toDeliveryError,
} from '../../src/subscriptions/channel.js'
import { sentenceOf } from './sentences.js'

export interface RenderTools {
  /** The sentence of an event as one line of plain text, as `describeEvent` makes it with the event types of the log. */
  readonly sentence: (event: AuditEvent) => string
}

/** The text of a message, for people. */
export interface RenderedText {
  /** Subject of an e-mail. @default the sentence of the first event */
  readonly subject?: string | undefined
  readonly text: string
  /** HTML of an e-mail. It is not escaped. @default none */
  readonly html?: string | undefined
}

/**
 * Makes the text of a delivery. If it throws, the events are tried one by one. If it throws for a single event, this
 * event is parked. The message of the error becomes part of an event, so it must not contain secrets.
 */
export type Render = (
  events: readonly AuditEvent[],
  tools: RenderTools,
) => RenderedText | Promise<RenderedText>

/** Rejects with the fault `rendering`. */
export async function renderText(
  render: Render,
  events: readonly AuditEvent[],
  { types }: DeliveryContext,
): Promise<RenderedText> {
  try {
    const rendered = await render(events, { sentence: (event) => sentenceOf(event, types) })
    if (typeof Object(rendered).text !== 'string') throw new TypeError('render returned no text')
    return rendered
  } catch (cause) {
    const { message } = toDeliveryError(cause)
    throw new DeliveryError('rendering', message, { permanent: true, cause })
  }
}
