import { defineEventTypes } from 'daybook'

/** What several processes raise. */
export const CONDITION = 'warn:test:condition'

export const throttledTypes = defineEventTypes({
  [CONDITION]: { throttle: { period: { hours: 1 } } },
})
