import type { SubscriptionsAction } from './actions.js'

/** The host's access control; `Context` is the request object of the HTTP server. */
export interface SubscriptionsAccess<Context> {
  /**
   * Returns `true` if the user may do this with the subscriptions that the user made, or `'all'` for the subscriptions of all users and of
   * the code too. For any other value the response is 403. Channels have no owner: for them both values mean the same. It is
   * called before the request body is read, and for all actions when the user requests `<path>/subscriptions/me`. Errors go to the
   * host's error handling.
   *
   * A subscription sends events to where its user wants, so `visible` of the log's option `subscriptions` should limit it to what
   * the user may read.
   * @default every authenticated user may read; no user may change anything
   */
  authorize?(
    context: Context,
    action: SubscriptionsAction,
  ): boolean | 'all' | Promise<boolean | 'all'>
}
