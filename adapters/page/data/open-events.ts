import { signal } from '@preact/signals'

/** The ids of live events that are still open. */
export const openEvents = signal<ReadonlySet<string>>(new Set())

/** An event that is closed stays closed: a response that says otherwise was sent before. */
const closed = new Set<string>()

function setOpen(id: string, isOpen: boolean): void {
  if (openEvents.value.has(id) === isOpen) return
  const ids = new Set(openEvents.value)
  if (isOpen) ids.add(id)
  else ids.delete(id)
  openEvents.value = ids
}

export function markOpen(id: string, isOpen: boolean): void {
  if (!isOpen && openEvents.peek().has(id)) closed.add(id)
  setOpen(id, isOpen && !closed.has(id))
}

/** Counts the event as closed until something says that it is open. */
export const forgetOpen = (id: string): void => setOpen(id, false)
