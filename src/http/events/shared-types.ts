/* The types that the entry points of all frameworks export. */

export type { VerifyUser } from '../basic-auth.js'
export type {
  FailureCount,
  FailureCounter,
  FailureCounterOptions,
  FailureStore,
} from '../failure-counters.js'
export type { FailureLimits } from '../login-rate-limit.js'
export type { Visible } from '../../filter/visible-filter.js'
export type { EventsRead } from './access.js'
export type { EventsAction } from './routes.js'
