import type { AuditEvent } from '../event/event.js'
import type { SentenceLanguage } from './language.js'
import { nameOf, nounOf, targetOf, wordsOf } from './resources.js'

/** The source of an event in words. */
export interface SourceLabel {
  /** `step`, `git remote`. */
  readonly kind: string
  /** The name of the resource, or the end of its id if the event does not have the name. */
  readonly name: string
}

/** Like `sourceLabel`, in a language that the caller loads. */
export function sourceLabelIn(
  language: SentenceLanguage,
  event: AuditEvent,
): SourceLabel | undefined {
  if (event.source === null) return undefined
  const { kind, id } = targetOf(event.source)
  return { kind: nounOf(kind, language), name: nameOf(event, kind) ?? wordsOf(id, language) }
}
