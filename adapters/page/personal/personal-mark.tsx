import type { AuditEvent } from '../../../src/event/event.js'
import { Icon } from '../ui/icon.js'
import { hiddenNotes } from './notes.js'
import { notesText } from './note-text.js'

/** Says that values of the event are encrypted, by an icon, or erased, in words. */
export function PersonalMark({ event }: { event: AuditEvent }) {
  const notes = hiddenNotes(event)
  if (notes.length === 0) return null
  const text = notesText(notes)
  const isErased = notes.some(({ erased }) => erased !== undefined)
  return (
    <>
      {' '}
      {isErased ? (
        <small class="tag">{text}</small>
      ) : (
        <span class="personal-mark" title={text}>
          <Icon name="lock" />
          <span class="visually-hidden">{text}</span>
        </span>
      )}
    </>
  )
}
