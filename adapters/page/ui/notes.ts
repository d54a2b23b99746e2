import { signal } from '@preact/signals'
import { texts } from './texts.js'

/** What screen readers are told, politely. */
export const announcement = signal('')

const ANNOUNCE_EVERY = 5000
let lastAnnounced = -ANNOUNCE_EVERY
let waiting: ReturnType<typeof setTimeout> | undefined

/** Tells a screen reader, at most every five seconds; the latest text wins. `now` is for what a key was pressed for. */
export function announce(text: string, now = false): void {
  clearTimeout(waiting)
  const wait = now ? 0 : Math.max(0, lastAnnounced + ANNOUNCE_EVERY - performance.now())
  waiting = setTimeout(() => {
    lastAnnounced = performance.now()
    announcement.value = text
  }, wait)
}

/** A short note at the foot of the page, such as "Copied". */
export const note = signal<string | undefined>(undefined)

let noteEnd: ReturnType<typeof setTimeout> | undefined

export function showNote(text: string): void {
  note.value = text
  announce(text, true)
  clearTimeout(noteEnd)
  noteEnd = setTimeout(() => (note.value = undefined), 2000)
}

/** The clipboard is closed to pages that came over plain http from another machine. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    showNote(texts.common.copied)
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'sr'
    document.body.append(field)
    field.select()
    const isCopied = document.execCommand('copy')
    field.remove()
    showNote(isCopied ? texts.common.copied : texts.common.notCopied)
  }
}
