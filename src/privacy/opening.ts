import type { AuditEvent, JsonObject } from '../event/event.js'
import { LazyEvent } from '../event/lazy-event.js'
import { PERSONAL, type SealedPart, sealedParts } from '../event/personal.js'
import type { WaitOptions } from '../store/store.js'
import { openValues, type PartOf, suffixOf } from './cipher.js'
import { type PlacedValue, withValues } from './separate.js'
import type { ErasedKey, SubjectKey, SubjectKeys } from './subject-keys.js'

/** How personal values are returned: at their places, or not at all. */
export type PersonalForm = 'open' | 'sealed'

/** Reads the sealed parts of events. */
export interface Opening {
  /**
   * The events with their personal values, or with a note about each part: `{ subject, sealed: true }`, and `{ subject, erased }` once the key is
   * destroyed. Events without sealed parts are returned as they are; if no event has any, the events themselves are returned at once. One
   * look-up for all parts. `open` rejects with `KEYS_UNAVAILABLE`.
   */
  events(
    events: readonly AuditEvent[],
    form: PersonalForm,
    options?: WaitOptions,
  ): readonly AuditEvent[] | Promise<readonly AuditEvent[]>
}

type Parts = readonly SealedPart[] | undefined

/** Most events have no parts, and need not be parsed to see that. */
const partsOf = (event: AuditEvent): Parts =>
  event instanceof LazyEvent && !event.mayHave(`"${PERSONAL}"`)
    ? undefined
    : sealedParts(event.attributes)

type KnownKeys = ReadonlyMap<string, SubjectKey | ErasedKey>

const NONE: KnownKeys = new Map()

const partOf = ({ id, type }: AuditEvent): PartOf => ({ suffix: suffixOf(id), type })

/** The event with its parts as a reader gets them. */
function shownEvent(
  event: AuditEvent,
  parts: Parts,
  form: PersonalForm,
  keys: KnownKeys,
): AuditEvent {
  if (!parts) return event
  const notes: JsonObject[] = []
  const found: (readonly PlacedValue[])[] = []
  for (const { subject, data } of parts) {
    const known = keys.get(subject)
    const values =
      form === 'open' && known && 'key' in known && openValues(known.key, partOf(event), data)
    if (values) {
      found.push(values)
      notes.push({ subject })
    } else if (known && 'erased_at' in known) notes.push({ subject, erased: known.erased_at })
    else notes.push({ subject, sealed: true })
  }
  const { id, created_at, username, system, type, source, attributes } = event
  // A part that was separated later may hold the place of an earlier one.
  const values = found.toReversed().flat()
  const shown = withValues({ ...attributes, [PERSONAL]: notes }, values)
  return { id, created_at, username, system, type, source, attributes: shown }
}

/**
 * The event in the sealed form without a look-up of its keys: a part that was erased is `sealed` too. For streams, which
 * render an event once for all readers.
 */
export const sealedAtOnce = (event: AuditEvent): AuditEvent =>
  shownEvent(event, partsOf(event), 'sealed', NONE)

/** Without keys, all parts stay sealed. */
export function createOpening(keys: SubjectKeys | undefined): Opening {
  return {
    events(events, form, options) {
      const all = events.map(partsOf)
      const refs = new Set(all.flatMap((parts = []) => parts.map(({ subject }) => subject)))
      if (refs.size === 0) return events
      const reading = keys ? keys.read([...refs], options) : Promise.resolve(NONE)
      // A reader of the sealed form gets an answer while the keys cannot be had.
      const known = form === 'open' ? reading : reading.catch(() => NONE)
      return known.then((found) => events.map((event, i) => shownEvent(event, all[i], form, found)))
    },
  }
}
