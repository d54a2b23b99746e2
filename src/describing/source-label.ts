import type { AuditEvent } from '../event/event.js'
import { nameOf, targetOf, wordsOf } from './resources.js'

/** The source of an event in words. */
export interface SourceLabel {
  /** `step`, `git remote`. */
  readonly kind: string
  /** The name of the resource, or the end of its id if the event does not have the name. */
  readonly name: string
}

/** Kind and name of the resource that an event relates to; `undefined` without one. */
export function sourceLabel(event: AuditEvent): SourceLabel | undefined {
  if (event.source === null) return undefined
  const { kind, id } = targetOf(event.source)
  const name = nameOf(event, kind)
  return { kind: wordsOf(kind), name: name ?? wordsOf(id) }
}
