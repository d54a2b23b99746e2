import { signal } from '@preact/signals'

/** The ids of live events that are still open. */
export const openEvents = signal<ReadonlySet<string>>(new Set())

/** A closed event stays closed. A response that shows it as open is older. */
const closed = new Set<string>()

/** Notes if an event is open. `isCertain` is false if a later message may still show it as open. */
export function markOpen(id: string, isOpen: boolean, isCertain = true): void {
  const ids = new Set(openEvents.value)
  const wasOpen = ids.delete(id)
  if (wasOpen && !isOpen && isCertain) closed.add(id)
  const isShown = isOpen && !closed.has(id)
  if (isShown) ids.add(id)
  if (isShown !== wasOpen) openEvents.value = ids
}
