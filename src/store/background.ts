import type { EventStore } from './store.js'

/** A view of a store for background work, which does not count as use and does not keep the store open. */
export interface Background {
  /** Calls of this view do not count as use. */
  readonly store: EventStore
  isOpen(): boolean
  /**
   * Calls `look` regularly while the store is open. One timer serves many stores. Without this method, the user of
   * the view needs a timer.
   */
  readonly onLook?: (look: () => void) => void
  /** Calls `work` before the store is closed because it is not used, and waits for it. */
  readonly onRelease?: (work: () => Promise<unknown>) => void
}

const backgrounds = new WeakMap<EventStore, Background>()

/** Sets the view of the store for background work. */
export function setBackground(store: EventStore, background: Background): void {
  backgrounds.set(store, background)
}

export const backgroundOf = (store: EventStore): Background =>
  backgrounds.get(store) ?? { store, isOpen: () => true }
