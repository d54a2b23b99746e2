import type { AuditEvent } from '../event/event.js'
import { sentenceText } from './sentence-text.js'
import { english } from './english.js'
import { readTemplate } from './template.js'
import { templateValues } from './template-values.js'
import { shortText } from './visible-text.js'

/** Fills a template from an event. Returns `undefined` if the event lacks a value that the template needs. */
export type TextTemplate = (event: AuditEvent, sentence: string) => string | undefined

const MAX_LENGTH = 200

/**
 * Reads a template of one line, such as the subject of an e-mail. It has the syntax of sentences without a form for users, and
 * can also name the `sentence` of the event, its `type` and its `username`. Throws a `SyntaxError`.
 */
export function readTextTemplate(template: string): TextTemplate {
  const { alone } = readTemplate(template)
  return (event, sentence) => {
    const { type, username } = event
    const attributes = { ...event.attributes, type, username, sentence }
    const values = templateValues(
      { ...event, attributes },
      {
        language: english,
        isOpen: false,
        isVerbFirst: false,
      },
    )
    const what = alone(values)
    if (!what) return undefined
    const text = sentenceText({ who: null, what, isVerbFirst: false })
    return shortText(text, MAX_LENGTH) || undefined
  }
}
