import { describeEvent } from '../../src/describing/describe-event.js'
import { sentenceText } from '../../src/describing/sentence-text.js'
import type { AuditEvent } from '../../src/event/event.js'
import type { EventTypes } from '../../src/event/event-types.js'

/** The sentence of an event as one line of plain text. */
export const sentenceOf = (event: AuditEvent, types: EventTypes): string =>
  sentenceText(describeEvent(event, { types }))

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes `&`, `<` and `>` for places where they are markup: between the tags of HTML, and in messages of Slack. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll(/[&<>]/g, (sign) => ENTITIES[sign]!)
