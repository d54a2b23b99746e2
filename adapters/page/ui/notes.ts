import { signal } from '@preact/signals'

/** The text of the polite live region for screen readers. */
export const announcement = signal('')

const ANNOUNCE_EVERY = 5000
let lastAnnounced = -ANNOUNCE_EVERY
let waiting: ReturnType<typeof setTimeout> | undefined

/** Announces a text to screen readers, at most every five seconds; the latest wins. `now` is for the result of a key press. */
export function announce(text: string, now = false): void {
  clearTimeout(waiting)
  const wait = now ? 0 : Math.max(0, lastAnnounced + ANNOUNCE_EVERY - performance.now())
  waiting = setTimeout(() => {
    lastAnnounced = performance.now()
    announcement.value = text
  }, wait)
}

/** A short message at the bottom of the page, such as "Copied". */
export const note = signal<string | undefined>(undefined)

let noteEnd: ReturnType<typeof setTimeout> | undefined

export function showNote(text: string): void {
  note.value = text
  announce(text, true)
  clearTimeout(noteEnd)
  noteEnd = setTimeout(() => (note.value = undefined), 2000)
}
