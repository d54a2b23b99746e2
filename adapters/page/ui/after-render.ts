/**
 * Calls `act` once what has just changed is rendered, and before the next key is handled: Preact renders in a
 * microtask, which the change has queued ahead of this one. A frame later would be too late, as keys
 * pressed meanwhile find no field with the focus.
 */
export const afterRender = (act: () => void): void => queueMicrotask(act)
