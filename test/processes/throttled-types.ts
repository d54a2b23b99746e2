import { defineEventTypes } from 'daybook'

/** The throttled type that several processes record. */
export const CONDITION = 'warn:test:condition'

export const throttledTypes = defineEventTypes({
  [CONDITION]: { throttle: { period: { hours: 1 } } },
})
