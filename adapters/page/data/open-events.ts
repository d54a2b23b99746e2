import { signal } from '@preact/signals'

/** The ids of live events that are still open. */
export const openEvents = signal<ReadonlySet<string>>(new Set())

export function markOpen(id: string, isOpen: boolean): void {
  if (openEvents.value.has(id) === isOpen) return
  const ids = new Set(openEvents.value)
  if (isOpen) ids.add(id)
  else ids.delete(id)
  openEvents.value = ids
}
