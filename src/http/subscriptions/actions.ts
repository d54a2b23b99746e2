/**
 * Actions of users. Each name is that of the recorded event without its level: `subscriptions:create` is recorded as
 * `api:subscriptions:create`. Reading is not recorded.
 */
export const SUBSCRIPTIONS_ACTIONS = [
  'subscriptions:list',
  'subscriptions:read',
  'subscriptions:create',
  'subscriptions:update',
  'subscriptions:delete',
  'subscriptions:pause',
  'subscriptions:resume',
  'subscriptions:replay',
  'subscriptions:test',
  'subscriptions:parked',
  'subscriptions:redrive',
  'subscriptions:discard',
  'subscriptions:describe',
  'notification_channels:list',
  'notification_channels:read',
  'notification_channels:create',
  'notification_channels:update',
  'notification_channels:delete',
  'notification_channels:enable',
  'notification_channels:disable',
  'notification_channels:rotate_secret',
  'notification_channels:test',
] as const

/** An action that the host can allow or deny. */
export type SubscriptionsAction = (typeof SUBSCRIPTIONS_ACTIONS)[number]

/** The actions that change nothing. Without `authorize` every user may do them. */
export const READING_ACTIONS: ReadonlySet<SubscriptionsAction> = new Set([
  'subscriptions:list',
  'subscriptions:read',
  'subscriptions:parked',
  'subscriptions:describe',
  'notification_channels:list',
  'notification_channels:read',
] as const)
