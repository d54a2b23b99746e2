import type { EventsRule } from '../../src/cleaning/rule.js'

/** The rule of the process that is killed. */
export const KILLED_RULE: EventsRule = {
  name: 'killed',
  target: 'events',
  filter: 'filter[type_eq]=due',
  maxAge: { days: 1 },
}
