/* The types that the entry points of all frameworks export. */

export type { VerifyUser } from '../basic-auth.js'
export type { EventsRead } from '../events/access.js'
export type { EventsAction } from '../events/routes.js'
export type {
  FailureCount,
  FailureCounter,
  FailureCounterOptions,
  FailureStore,
} from '../failure-counters.js'
export type { FailureLimits } from '../login-rate-limit.js'
export type { AssertCoverageOptions } from '../record/coverage.js'
export type { SubscriptionsAction } from '../subscriptions/actions.js'
export type { ViewsAction } from '../views/actions.js'
export type { Concealed } from '../../filter/conceal.js'
export type { Visible } from '../../filter/visible-filter.js'
