import type { EventStore } from './store.js'

/** A store for work that must neither open it nor keep it open. */
export interface Background {
  /** Its calls do not count as use. */
  readonly store: EventStore
  isOpen(): boolean
  /**
   * Calls `look` from time to time while the store is open, by a timer of many stores. Without this method the
   * user has a timer of its own.
   */
  readonly onLook?: (look: () => void) => void
}

const backgrounds = new WeakMap<EventStore, Background>()

/** Says how to use the store in the background. */
export function setBackground(store: EventStore, background: Background): void {
  backgrounds.set(store, background)
}

export const backgroundOf = (store: EventStore): Background =>
  backgrounds.get(store) ?? { store, isOpen: () => true }
