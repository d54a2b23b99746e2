/** The longest delay of setTimeout, in milliseconds. A longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647
