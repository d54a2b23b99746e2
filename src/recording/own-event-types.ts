import type { EventTypeDefinition } from '../event/event-types.js'

const SUBSCRIPTION_KEYS = ['subscription', 'subscription_id', 'channel', 'filter'] as const
const OUTCOME_KEYS = [
  'subscription',
  'subscription_id',
  'channel',
  'attempt',
  'event_id',
  'parked_count',
] as const

/** Types of the events that the log itself records. They are part of every registry. */
export const ownEventTypes = {
  'warn:audit_log:gap': {
    area: 'Audit log',
    description:
      'events are missing: rejected, dropped, or suppressed by a throttle without a later event that carries their count',
    data: ['count', 'first_at', 'last_at', 'losses'],
  },
  'warn:audit_log:damage': {
    area: 'Audit log',
    description: 'stored data is damaged: it differs from what was written, and was set aside',
    data: ['count', 'places'],
  },
  'warn:audit_log:clock': {
    area: 'Audit log',
    description:
      'the clock jumped ahead by more than 30 days, or differed by that much from the newest event at a start',
    data: ['reason', 'clock_time', 'expected_time'],
  },
  'info:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'a rule removed old events',
    data: ['rule', 'filters', 'removed_count', 'before', 'archived_count', 'archive_file'],
  },
  'error:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'a rule failed to remove some or all old events',
    data: ['rule', 'filters', 'removed_count', 'before', 'archived_count', 'archive_file'],
  },
  'info:data_cleanup:statistics': {
    area: 'Data cleaning',
    description: "a rule refreshed the statistics of the database's query planner",
    data: ['rule', 'filters', 'removed_count', 'analyzed_tables', 'skipped_reason'],
  },
  'error:data_cleanup:statistics': {
    area: 'Data cleaning',
    description: "a rule could not refresh the statistics of the database's query planner",
    data: ['rule', 'filters', 'removed_count', 'analyzed_tables', 'skipped_reason'],
  },
  'api:event_filter:error': {
    area: 'Subscriptions',
    description: 'the filter of a subscription cannot be read, so nothing is delivered to it',
    data: OUTCOME_KEYS,
    sentence:
      '| filter of [subscription **{subscription}**|a subscription] could not be read[: {@reason}]',
  },
  'api:event_subscriber:error': {
    area: 'Subscriptions',
    description: 'a function rejected the events of a subscription; they are tried again',
    data: OUTCOME_KEYS,
    throttle: { period: { hours: 1 } },
    sentence: '| [subscription **{subscription}**|subscriber] could not be notified[: {@reason}]',
  },
  'api:notification:error': {
    area: 'Subscriptions',
    description: 'a channel did not accept the events of a subscription; they are tried again',
    data: OUTCOME_KEYS,
    throttle: { period: { hours: 1 } },
    sentence:
      '| notification[ of subscription **{subscription}**] could not be delivered[: {@reason}]',
  },
  'api:event_processor:error': {
    area: 'Subscriptions',
    description: 'an event could not be delivered for a subscription, and was set aside',
    data: OUTCOME_KEYS,
    throttle: { period: { hours: 1 } },
    sentence: '| event could not be delivered[ to subscription **{subscription}**][: {@reason}]',
  },
  'warn:subscription:gap': {
    area: 'Subscriptions',
    description: 'events were cleaned before they were delivered for a subscription',
    data: ['subscription', 'subscription_id', 'channel', 'from', 'to', 'missed_count', 'sampled'],
    sentence:
      '| {missed_count} events were cleaned before [subscription **{subscription}**|a subscription] delivered them',
  },
  'api:subscriptions:create': {
    area: 'Subscriptions',
    description: 'a subscription was created',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'created subscription **{subscription}**[ to {channel}] | subscription **{subscription}** was created',
  },
  'api:subscriptions:update': {
    area: 'Subscriptions',
    description: 'a subscription was changed',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'changed subscription **{subscription}** | subscription **{subscription}** was changed',
  },
  'api:subscriptions:delete': {
    area: 'Subscriptions',
    description: 'a subscription was removed',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'removed subscription **{subscription}** | subscription **{subscription}** was removed',
  },
  'api:subscriptions:pause': {
    area: 'Subscriptions',
    description: 'a subscription was paused',
    data: SUBSCRIPTION_KEYS,
    sentence: 'paused subscription **{subscription}** | subscription **{subscription}** was paused',
  },
  'api:subscriptions:resume': {
    area: 'Subscriptions',
    description: 'a subscription was resumed',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'resumed subscription **{subscription}** | subscription **{subscription}** was resumed',
  },
  'api:subscriptions:replay': {
    area: 'Subscriptions',
    description: 'a subscription delivers events again',
    data: [...SUBSCRIPTION_KEYS, 'from'],
    sentence:
      'replayed subscription **{subscription}**[ from {from}] | subscription **{subscription}** was replayed',
  },
  'api:subscriptions:redrive': {
    area: 'Subscriptions',
    description: 'parked events of a subscription were tried again',
    data: [...SUBSCRIPTION_KEYS, 'delivered', 'failed', 'missed'],
    sentence:
      'tried the parked events of subscription **{subscription}** again | parked events of subscription **{subscription}** were tried again',
  },
  'api:subscriptions:discard': {
    area: 'Subscriptions',
    description: 'parked events of a subscription were discarded',
    data: [...SUBSCRIPTION_KEYS, 'count'],
    sentence:
      'discarded {count} parked events of subscription **{subscription}** | {count} parked events of subscription **{subscription}** were discarded',
  },
} as const satisfies Readonly<Record<string, EventTypeDefinition>>
