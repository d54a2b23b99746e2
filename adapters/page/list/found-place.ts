import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import type { Span, TextsFinder } from '../data/text-finder.js'

/** The place of a found text in an event. */
export interface FoundPlace {
  /** The names of the attributes on the way to the text: `request_body.name`. */
  readonly path: string
  /** The text, or the part of it around the match. */
  readonly excerpt: string
}

const BEFORE = 16
const AFTER = 40

/** The part of a text around a span, with ellipses where it is cut. */
function excerptOf(text: string, { from, to }: Span): string {
  const start = from <= BEFORE ? 0 : from - BEFORE
  const end = Math.min(text.length, to + AFTER)
  const part = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, ' ')
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`
}

/** Yields the texts of a value with their paths. */
export function* textsOf(value: unknown, path: string): Generator<readonly [string, string]> {
  if (typeof value === 'string') yield [path, value]
  else if (value !== null && typeof value === 'object')
    for (const [key, member] of Object.entries(value as Record<string, JsonValue>))
      yield* textsOf(member, path === '' ? key : `${path}.${key}`)
}

function* textsOfEvent(event: AuditEvent): Generator<readonly [string, string]> {
  yield ['type', event.type]
  if (event.username !== null) yield ['username', event.username]
  yield* textsOf(event.attributes, '')
  if (event.source !== null) yield ['source', event.source]
  yield ['id', event.id]
}

/** The place of the first searched text that no shown text contains. */
export function foundPlace(
  event: AuditEvent,
  shown: readonly string[],
  finder: TextsFinder,
): FoundPlace | undefined {
  const seen = new Set(shown.flatMap((text) => finder.foundIn(text)))
  for (const [path, text] of textsOfEvent(event)) {
    if (finder.foundIn(text).every((index) => seen.has(index))) continue
    const spans = finder.spansIn(text)
    return { path, excerpt: excerptOf(text, spans[0]!) }
  }
  return undefined
}
