import { signal } from '@preact/signals'

/** The ids of live events that are still open. */
export const openEvents = signal<ReadonlySet<string>>(new Set())

/** An event that is closed stays closed: a response that says otherwise was sent before. */
const closed = new Set<string>()

/** `isCertain`: false if something may still say that the event is open. */
export function markOpen(id: string, isOpen: boolean, isCertain = true): void {
  const ids = new Set(openEvents.value)
  const wasOpen = ids.delete(id)
  if (wasOpen && !isOpen && isCertain) closed.add(id)
  const isShown = isOpen && !closed.has(id)
  if (isShown) ids.add(id)
  if (isShown !== wasOpen) openEvents.value = ids
}
