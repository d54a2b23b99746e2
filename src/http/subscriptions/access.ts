import type { CallHost } from '../host-calls.js'
import { READING_ACTIONS, type SubscriptionsAction } from './actions.js'

/** The host's access control; `Context` is the request object of the HTTP server. */
export interface SubscriptionsAccess<Context> {
  /**
   * Returns `true` if the user may do this with the subscriptions that the user made, or `'all'` if with those of all users and of
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

/** What a user may do an action with. */
export type Scope = 'own' | 'all' | 'nothing'

export async function scopeOf<Context>(
  { authorize }: Pick<SubscriptionsAccess<Context>, 'authorize'>,
  action: SubscriptionsAction,
  context: Context,
  callHost: CallHost,
): Promise<Scope> {
  if (!authorize) return READING_ACTIONS.has(action) ? 'own' : 'nothing'
  const answer: unknown = await callHost(() => authorize(context, action))
  if (answer === 'all') return 'all'
  return answer === true ? 'own' : 'nothing'
}
