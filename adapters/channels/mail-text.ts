import { shortText } from '../../src/describing/visible-text.js'
import type { TextTemplate } from '../../src/describing/text-template.js'
import type { AuditEvent } from '../../src/event/event.js'
import type { Render, RenderTools } from './render.js'
import { escapeMarkup } from './sentences.js'

const MAX_SUBJECT = 200

/** The subject in one line, because a line break would begin another header of the e-mail. */
export const oneLine = (subject: string): string => shortText(subject, MAX_SUBJECT)

/**
 * The text about the first event, made by the template. Without a template, or if the event lacks a value, it is the
 * event's sentence.
 */
export function subjectOf(
  template: TextTemplate | undefined,
  events: readonly AuditEvent[],
  { sentence }: RenderTools,
): string {
  const first = sentence(events[0]!)
  const subject = template?.(events[0]!, first) ?? oneLine(first)
  return events.length > 1 ? `${subject} (and ${events.length - 1} more)` : subject
}

/** `2026-11-22 16:09:30 UTC` */
const timeOf = ({ created_at }: AuditEvent): string =>
  `${created_at.slice(0, 10)} ${created_at.slice(11, 19)} UTC`

/** A line for each event, its time and its sentence, as text and as HTML. */
export const mailText: Render = (events, { sentence }) => {
  const lines = events.map((event) => `${timeOf(event)}  ${sentence(event)}\n`)
  const rows = events.map(
    (event) => `<tr><td>${timeOf(event)}</td><td>${escapeMarkup(sentence(event))}</td></tr>\n`,
  )
  return {
    text: lines.join(''),
    html: `<!doctype html>\n<meta charset="utf-8">\n<table cellpadding="4">\n${rows.join('')}</table>\n`,
  }
}
