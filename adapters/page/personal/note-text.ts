import type { AuditEvent } from '../../../src/event/event.js'
import { PERSONAL } from '../../../src/event/personal.js'
import { formatIn } from '../data/format.js'
import { hiddenNotes, type PersonalNote, personalNotes } from './notes.js'
import { personalTexts } from './personal-texts.js'

/** `20 November 2026`. The date of an erasure always has its year. */
const dateText = formatIn({ day: 'numeric', month: 'long', year: 'numeric' })

/** A note in words. */
export function noteText({ sealed, erased }: PersonalNote): string {
  if (erased !== undefined) return personalTexts.erased(dateText(new Date(erased)))
  return sealed ? personalTexts.encrypted : personalTexts.shown
}

/** Different notes in words. */
export const notesText = (notes: readonly PersonalNote[]): string =>
  [...new Set(notes.map(noteText))].join(', ')

/** The reason why a change of the event has no values; `undefined` if the event has all its values. */
export function lackOf(event: AuditEvent): string | undefined {
  const notes = hiddenNotes(event)
  if (notes.length === 0) return undefined
  const isErased = notes.some(({ erased }) => erased !== undefined)
  return isErased ? personalTexts.changeErased : personalTexts.changeEncrypted
}

/** The event with words in place of its notes. */
export function withNotesInWords(event: AuditEvent): AuditEvent {
  const notes = personalNotes(event)
  if (notes.length === 0) return event
  return { ...event, attributes: { ...event.attributes, [PERSONAL]: notesText(notes) } }
}
