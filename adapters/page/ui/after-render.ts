/**
 * Calls `act` after the pending render and before the next key press. Preact renders in a microtask that
 * the change has already queued. Waiting for a frame would lose keys pressed before the focus moves.
 */
export const afterRender = (act: () => void): void => queueMicrotask(act)
