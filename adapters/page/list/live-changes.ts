import type { AuditEvent } from '../../../src/event/event.js'
import { readEvent } from '../data/api.js'
import { type Change, applyPatch } from '../data/json-patch.js'
import { markOpen } from '../data/open-events.js'
import { withChanged } from './loaded-window.js'
import { waiting } from './live-state.js'
import { loadedWindow } from './loading.js'

/* Changes of live events. This module is loaded at the first change. */

export interface ChangeFrame {
  readonly id: string
  readonly patch: readonly Change[]
  readonly closed: boolean
}

const find = (id: string): AuditEvent | undefined =>
  loadedWindow.value.events.find((event) => event.id === id) ??
  waiting.value.events.find((event) => event.id === id)

function replace(event: AuditEvent): void {
  loadedWindow.value = withChanged(loadedWindow.value, event)
  const { events, count } = waiting.value
  const at = events.findIndex(({ id }) => id === event.id)
  if (at >= 0) waiting.value = { events: events.with(at, event), count }
}

export async function readAgain(id: string): Promise<void> {
  const before = find(id)
  try {
    const event = await readEvent(id)
    // A change that arrived during the request may be newer than the event that was read.
    if (find(id) === before) replace(event)
  } catch {
    // Keeps the last known attributes. If the event is still open, its next change shows this.
    markOpen(id, false, false)
  }
}

export function change({ id, patch, closed }: ChangeFrame): void {
  markOpen(id, !closed)
  const event = find(id)
  if (!event) return
  try {
    replace({ ...event, attributes: applyPatch(event.attributes, patch) })
  } catch {
    void readAgain(id)
  }
}
