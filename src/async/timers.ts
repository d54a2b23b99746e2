/** setTimeout takes no more milliseconds, and fires at once beyond it. */
export const MAX_TIMER_MS = 2_147_483_647
